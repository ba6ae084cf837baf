//! Shingles told apart by bits of a table, eight at a time where the machine has instructions for it.

/// Places that there must be in both buffers behind what is written.
pub(super) const MARGIN: usize = 8;

/// Writes those whose bits are not set to the front of `unset`, and the others to that of `set`; says how many are not set. There are as many
/// bits as a power of two, and a shingle's is told by its last ones.
#[inline]
pub(super) fn split(shingles: &[u64], bits: &[u64], unset: &mut [u64], set: &mut [u64]) -> usize {
    let (mut next, rest) = split_blocks(shingles, bits, unset, set);
    let mut next_set = shingles.len() - rest.len() - next;
    // Which one it is can't be foretold, so nothing branches on it.
    for &shingle in rest {
        let place = (shingle / u64::from(u64::BITS)) as usize & (bits.len() - 1);
        let is_set = (bits[place] >> (shingle % u64::from(u64::BITS)) & 1) as usize;
        unset[next] = shingle;
        set[next_set] = shingle;
        next += 1 - is_set;
        next_set += is_set;
    }
    next
}

/// The same for all but the last ones, which are given back.
#[inline]
fn split_blocks<'s>(shingles: &'s [u64], bits: &[u64], unset: &mut [u64], set: &mut [u64]) -> (usize, &'s [u64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("popcnt") && bits.len().is_power_of_two() {
        #[expect(unsafe_code, reason = "instructions that this machine has")]
        // SAFETY: that all of them are there was asked of the machine, and that there are as many bits as a power of two of the bits.
        return unsafe { avx512::split_blocks(shingles, bits, unset, set) };
    }
    let _ = (bits, unset, set);
    (0, shingles)
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use crate::wide::{LANES, load_numbers as load, store_numbers as store};

    /// # Safety
    ///
    /// The machine has the instructions, and `bits` as many words as a power of two.
    #[expect(unsafe_code, reason = "words are looked up without a look at their places")]
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) unsafe fn split_blocks<'s>(
        shingles: &'s [u64],
        bits: &[u64],
        unset: &mut [u64],
        set: &mut [u64],
    ) -> (usize, &'s [u64]) {
        let last_word = _mm512_set1_epi64(bits.len() as i64 - 1);
        let last_bit = _mm512_set1_epi64(i64::from(u64::BITS) - 1);
        let (blocks, rest) = shingles.as_chunks();
        let (mut next, mut next_set) = (0, 0);
        for block in blocks {
            let block = load(block);
            let places = _mm512_and_si512(_mm512_srli_epi64::<{ u64::BITS.ilog2() }>(block), last_word);
            // SAFETY: no place is behind the last word.
            let words = unsafe { _mm512_i64gather_epi64::<{ size_of::<u64>() as i32 }>(places, bits.as_ptr().cast()) };
            let shifted = _mm512_srlv_epi64(words, _mm512_and_si512(block, last_bit));
            let is_set = _mm512_test_epi64_mask(shifted, _mm512_set1_epi64(1));
            // A whole block at a time: what is too much is written over.
            unset[next..next + LANES].copy_from_slice(&store(_mm512_maskz_compress_epi64(!is_set, block)));
            set[next_set..next_set + LANES].copy_from_slice(&store(_mm512_maskz_compress_epi64(is_set, block)));
            next += is_set.count_zeros() as usize;
            next_set += is_set.count_ones() as usize;
        }
        (next, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::hash::mix;

    #[test]
    fn every_shingle_goes_where_its_bit_says_and_none_is_lost() {
        for words in [1, 4, 64] {
            let bits: Vec<u64> = (0..words).map(|word| mix(word) & mix(word + 1000)).collect();
            let is_set = |shingle: &u64| bits[(shingle / 64 % words) as usize] >> (shingle % 64) & 1 == 1;
            for count in [0, 1, 7, 8, 9, 16, 100, 1003] {
                let shingles: Vec<u64> = (0..count).map(|n| mix(n + 5000) >> 3).collect();
                let (mut unset, mut set) = (vec![9; shingles.len() + MARGIN], vec![9; shingles.len() + MARGIN]);
                let rare = split(&shingles, &bits, &mut unset, &mut set);
                let (expected_set, expected): (Vec<u64>, Vec<u64>) = shingles.iter().partition(|shingle| is_set(shingle));
                assert_eq!((&unset[..rare], &set[..shingles.len() - rare]), (&*expected, &*expected_set));
            }
        }
    }
}
