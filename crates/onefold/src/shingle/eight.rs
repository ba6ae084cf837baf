//! Eight shingles at a time: hashed, added up and put in order, where the machine has instructions for it.

/// Places that [`Eight::sort_nearly_sorted`] needs in both of its buffers behind the values.
pub(super) const MARGIN: usize = 16;

/// Works on eight shingles at a time, with what this machine has for it; where it has nothing, all is left to the caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Eight {
    #[cfg(target_arch = "x86_64")]
    avx512: bool,
}

impl Default for Eight {
    fn default() -> Self {
        Eight {
            #[cfg(target_arch = "x86_64")]
            avx512: is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("popcnt"),
        }
    }
}

impl Eight {
    /// One that leaves all to its caller, as where there are no such instructions.
    #[cfg(test)]
    pub(super) fn idle() -> Self {
        Eight {
            #[cfg(target_arch = "x86_64")]
            avx512: false,
        }
    }

    /// Writes the hashes of runs of `words` consecutive tokens into the first slots; says into how many.
    #[inline]
    pub(super) fn shingles(self, tokens: &[u64], words: usize, slots: &mut [u64]) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.avx512 && (1..=avx512::MOST_WORDS).contains(&words) {
            #[expect(unsafe_code, reason = "instructions that this machine has")]
            // SAFETY: that all of them are there was asked of the machine; nothing else is asked of the caller.
            return unsafe { avx512::shingles(tokens, words, slots) };
        }
        let _ = (tokens, words, slots);
        0
    }

    /// The sum of the mixed values, but for the last ones, which it gives back.
    #[inline]
    pub(super) fn sum_of_mixed(self, values: &[u64]) -> (u64, &[u64]) {
        #[cfg(target_arch = "x86_64")]
        if self.avx512 {
            #[expect(unsafe_code, reason = "instructions that this machine has")]
            // SAFETY: that all of them are there was asked of the machine; nothing else is asked of the caller.
            return unsafe { avx512::sum_of_mixed(values) };
        }
        (0, values)
    }

    /// Writes the distinct ones of the first `count` values, which are near their places, in order to the front of `sorted`; says
    /// how many they are. Gives up where too many are far from their places; the values are as they were then.
    #[inline]
    pub(super) fn sort_nearly_sorted(self, values: &mut [u64], count: usize, sorted: &mut [u64]) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if self.avx512 {
            #[expect(unsafe_code, reason = "instructions that this machine has")]
            // SAFETY: that all of them are there was asked of the machine; nothing else is asked of the caller.
            return unsafe { avx512::sort_nearly_sorted(values, count, sorted) };
        }
        let _ = (values, count, sorted);
        None
    }
}

/// Loads and stores are plain copies, so only the calls from outside are unsafe.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::super::hash::{MIX_FACTORS, MIX_SHIFTS, MULTIPLIER, SHINGLE_BITS};
    use super::super::sort::{PATIENCE, insert};
    use crate::wide::{LANES, load_numbers as load, store_numbers as store};

    /// A sum of products takes a multiplication a word; for longer shingles the sum that slides is cheaper.
    pub(super) const MOST_WORDS: usize = 8;

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn shingles(tokens: &[u64], words: usize, slots: &mut [u64]) -> usize {
        let blocks = slots.as_chunks_mut().0;
        for (at, block) in blocks.iter_mut().enumerate() {
            let sum = sum_of_words(&tokens[at * LANES..], words);
            *block = store(_mm512_srli_epi64::<{ u64::BITS - SHINGLE_BITS }>(mix(sum)));
        }
        blocks.len() * LANES
    }

    /// The polynomials of the first eight runs of words.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn sum_of_words(tokens: &[u64], words: usize) -> __m512i {
        let mut at_each_place = tokens.array_windows().take(words);
        let Some(first) = at_each_place.next() else { return _mm512_setzero_si512() };
        let mut sum = load(first);
        for next in at_each_place {
            sum = _mm512_add_epi64(times(sum, MULTIPLIER), load(next));
        }
        sum
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn times(values: __m512i, factor: u64) -> __m512i {
        _mm512_mullo_epi64(values, _mm512_set1_epi64(factor as i64))
    }

    /// [`mix`](super::super::hash::mix) of each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn mix(x: __m512i) -> __m512i {
        let x = _mm512_xor_si512(x, _mm512_srli_epi64::<{ MIX_SHIFTS[0] }>(x));
        let x = times(x, MIX_FACTORS[0]);
        let x = _mm512_xor_si512(x, _mm512_srli_epi64::<{ MIX_SHIFTS[1] }>(x));
        let x = times(x, MIX_FACTORS[1]);
        _mm512_xor_si512(x, _mm512_srli_epi64::<{ MIX_SHIFTS[2] }>(x))
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn sum_of_mixed(values: &[u64]) -> (u64, &[u64]) {
        let (blocks, rest) = values.as_chunks();
        let mut sum = _mm512_setzero_si512();
        for block in blocks {
            sum = _mm512_add_epi64(sum, mix(load(block)));
        }
        (_mm512_reduce_add_epi64(sum) as u64, rest)
    }

    /// How often neighbours are put in order: any so many values that stand together come out sorted.
    const ROUNDS: usize = 4;
    /// Below all values, since they are compared with a sign: stands before the first.
    const START: i64 = -1;
    /// Above all values, which have [`SHINGLE_BITS`]: stands behind the last.
    const END: i64 = i64::MAX;

    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) fn sort_nearly_sorted(values: &mut [u64], count: usize, sorted: &mut [u64]) -> Option<usize> {
        // Each round but the first holds one value back, and all must come out.
        let padded = (count + ROUNDS - 1).next_multiple_of(LANES);
        values[count..padded].fill(END as u64);
        let mut patience = PATIENCE * count;
        let mut distinct = 0;
        let (mut held, mut before) = ([_mm512_set1_epi64(START); ROUNDS - 1], _mm512_set1_epi64(START));
        for block in values[..padded].as_chunks().0 {
            let block = pass(load(block), &mut held);
            let neighbours = _mm512_alignr_epi64::<7>(block, before);
            before = block;
            if _mm512_cmplt_epi64_mask(block, neighbours) == 0 {
                let kept = _mm512_cmpgt_epi64_mask(block, neighbours);
                // A whole block at a time: what is too much is written over.
                sorted[distinct..distinct + LANES].copy_from_slice(&store(_mm512_maskz_compress_epi64(kept, block)));
                distinct += kept.count_ones() as usize;
                continue;
            }
            patience = patience.checked_sub(insert_each(store(block), sorted, &mut distinct))?;
            before = _mm512_set1_epi64(sorted[distinct - 1] as i64);
        }
        Some(distinct - usize::from(sorted[distinct - 1] == END as u64))
    }

    /// Puts a block in order with the values held back from those before; what comes out is nearly always sorted.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn pass(block: __m512i, held: &mut [__m512i; ROUNDS - 1]) -> __m512i {
        let mut block = order_pairs(block);
        for held in held {
            // One place further, so that other neighbours make pairs.
            (block, *held) = (order_pairs(_mm512_alignr_epi64::<7>(block, *held)), block);
        }
        block
    }

    /// Exchanges the first and second value, the third and fourth and so on where they are not in order.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn order_pairs(values: __m512i) -> __m512i {
        const SECOND: __mmask8 = 0b1010_1010;
        let others = _mm512_permutex_epi64::<0b10_11_00_01>(values);
        let smaller = _mm512_cmplt_epi64_mask(values, others);
        _mm512_mask_blend_epi64(smaller ^ SECOND, others, values)
    }

    /// Inserts the values of a block; says how many moves that took.
    #[cold]
    fn insert_each(block: [u64; LANES], sorted: &mut [u64], distinct: &mut usize) -> usize {
        let values = block.into_iter().filter(|&value| value != START as u64);
        values.map(|value| insert(value, sorted, distinct)).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::hash::{self, mix};
    use super::*;

    /// Values of few or many kinds, some of which crowd a bucket.
    fn values() -> impl Strategy<Value = Vec<u64>> {
        let value = |kinds: u64, crowd: u32| (0..kinds, 0..2u32).prop_map(move |(n, far)| mix(n) >> (3 + far * crowd));
        (1..2_000u64, 0..50u32).prop_flat_map(move |(kinds, crowd)| prop::collection::vec(value(kinds, crowd), 0..700))
    }

    proptest! {
        #[test]
        fn shingles_are_those_of_the_plain_way(tokens in prop::collection::vec(any::<u64>(), 0..60), words in 1..12usize) {
            let mut plain = Vec::new();
            hash::shingles(&tokens, words, |shingle| plain.push(shingle));
            let mut slots = vec![0; plain.len()];
            hash::write_shingles(&tokens, words, &mut slots);
            prop_assert_eq!(slots, plain);
        }

        #[test]
        fn sums_are_those_of_the_plain_way(values in values()) {
            let (sum, rest) = Eight::default().sum_of_mixed(&values);
            let add = |sum: u64, &value: &u64| sum.wrapping_add(mix(value));
            prop_assert_eq!(rest.iter().fold(sum, add), values.iter().fold(0, add));
        }

        /// Whatever the order was, unless it gives up, and then nothing is lost.
        #[test]
        fn values_come_out_sorted_and_distinct(mut values in values(), by_bits in 0..62u32) {
            // In order by some leading bits, as after the scatter: by none, by a few, by all.
            values.sort_by_key(|value| value >> by_bits);
            let (count, mut plain) = (values.len(), values.clone());
            plain.sort_unstable();
            plain.dedup();
            let (mut near, mut sorted) = (values.clone(), vec![9; count + MARGIN]);
            near.resize(count + MARGIN, 9);
            match Eight::default().sort_nearly_sorted(&mut near, count, &mut sorted) {
                Some(distinct) => prop_assert_eq!(&sorted[..distinct], &plain),
                None => prop_assert_eq!(&near[..count], &values),
            }
        }
    }
}
