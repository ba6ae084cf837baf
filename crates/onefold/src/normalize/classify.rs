//! Sixty-four bytes at a time: which are letters, digits and so on, as bit masks, and the same bytes in lower case.

/// Bytes that are classified together.
pub(super) const BLOCK: usize = 64;

/// A bit for each byte of a block, the first in the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    pub(super) letters: u64,
    pub(super) digits: u64,
    pub(super) underscores: u64,
    /// Joins two letters: `:` `.` `'`.
    pub(super) between_letters: u64,
    /// Joins two digits: `,` `;` `.` `'`.
    pub(super) between_digits: u64,
    pub(super) non_ascii: u64,
}

#[cfg(target_arch = "x86_64")]
impl Masks {
    /// Adds those of a part that begins at a byte of the block.
    #[inline(always)]
    fn add(&mut self, part: Masks, at: usize) {
        self.letters |= part.letters << at;
        self.digits |= part.digits << at;
        self.underscores |= part.underscores << at;
        self.between_letters |= part.between_letters << at;
        self.between_digits |= part.between_digits << at;
        self.non_ascii |= part.non_ascii << at;
    }
}

/// Classifies blocks, with what this machine has for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Classifier {
    #[cfg(target_arch = "x86_64")]
    avx2: bool,
    #[cfg(target_arch = "x86_64")]
    avx512: bool,
}

impl Default for Classifier {
    fn default() -> Self {
        Classifier {
            #[cfg(target_arch = "x86_64")]
            avx2: is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            avx512: is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw"),
        }
    }
}

impl Classifier {
    /// Classifies all blocks, writes each in lower case and hands its masks on.
    pub(super) fn each<'a>(
        self,
        blocks: impl Iterator<Item = (&'a [u8; BLOCK], &'a mut [u8; BLOCK])>,
        mut take: impl FnMut(Masks),
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.avx512 {
            #[expect(unsafe_code, reason = "instructions that this machine has")]
            // SAFETY: that they are there was asked of the machine; nothing else is asked of the caller.
            return unsafe { avx512::classify_each(blocks, take) };
        }
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[expect(unsafe_code, reason = "instructions that this machine has")]
            // SAFETY: that AVX2 is there was asked of the machine; nothing else is asked of the caller.
            return unsafe { avx2::classify_each(blocks, take) };
        }
        blocks.for_each(|(block, lowered)| take(classify(block, lowered)));
    }
}

/// Kinds of bytes, a bit for each; a byte is of a kind if both of its halves may be.
#[cfg(target_arch = "x86_64")]
mod kinds {
    pub(super) const LETTER_BELOW_P: u8 = 1;
    pub(super) const LETTER_FROM_P: u8 = 2;
    pub(super) const DIGIT: u8 = 4;
    pub(super) const COLON: u8 = 8;
    pub(super) const DOT_OR_APOSTROPHE: u8 = 16;
    pub(super) const COMMA: u8 = 32;
    pub(super) const SEMICOLON: u8 = 64;
    pub(super) const UNDERSCORE: u8 = 128;

    /// The kinds by the high half of a byte.
    pub(super) const HIGH: [u8; 16] = {
        let mut kinds = [0; 16];
        kinds[2] = DOT_OR_APOSTROPHE | COMMA;
        kinds[3] = DIGIT | COLON | SEMICOLON;
        (kinds[4], kinds[6]) = (LETTER_BELOW_P, LETTER_BELOW_P);
        (kinds[5], kinds[7]) = (LETTER_FROM_P | UNDERSCORE, LETTER_FROM_P);
        kinds
    };

    /// The kinds by the low half of a byte.
    pub(super) const LOW: [u8; 16] = {
        let mut kinds = [LETTER_BELOW_P; 16];
        kinds[0] = 0;
        let mut at = 0;
        while at <= 10 {
            kinds[at] |= LETTER_FROM_P;
            if at < 10 {
                kinds[at] |= DIGIT;
            }
            at += 1;
        }
        kinds[b':' as usize & 15] |= COLON;
        kinds[b'.' as usize & 15] |= DOT_OR_APOSTROPHE;
        kinds[b'\'' as usize & 15] |= DOT_OR_APOSTROPHE;
        kinds[b',' as usize & 15] |= COMMA;
        kinds[b';' as usize & 15] |= SEMICOLON;
        kinds[b'_' as usize & 15] |= UNDERSCORE;
        kinds
    };
}

/// Sixty-four bytes at a time.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::kinds::*;
    use super::{BLOCK, Masks};
    use crate::wide::{load, store, table};

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn classify_each<'a>(
        blocks: impl Iterator<Item = (&'a [u8; BLOCK], &'a mut [u8; BLOCK])>,
        mut take: impl FnMut(Masks),
    ) {
        for (block, lowered) in blocks {
            take(classify(block, lowered));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn classify(block: &[u8; BLOCK], lowered: &mut [u8; BLOCK]) -> Masks {
        let bytes = load(block);
        let half = _mm512_set1_epi8(15);
        let low = _mm512_shuffle_epi8(table(LOW), _mm512_and_si512(bytes, half));
        let high = _mm512_shuffle_epi8(table(HIGH), _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), half));
        let kinds = _mm512_and_si512(low, high);
        let any_of = |wanted: u8| _mm512_test_epi8_mask(kinds, _mm512_set1_epi8(wanted as i8));
        let letters = any_of(LETTER_BELOW_P | LETTER_FROM_P);
        // Letters of either case have the bit of small ones from now on.
        let small = _mm512_maskz_set1_epi8(letters, 0x20);
        *lowered = store(_mm512_or_si512(bytes, small));
        Masks {
            letters,
            digits: any_of(DIGIT),
            underscores: any_of(UNDERSCORE),
            between_letters: any_of(COLON | DOT_OR_APOSTROPHE),
            between_digits: any_of(COMMA | SEMICOLON | DOT_OR_APOSTROPHE),
            non_ascii: _mm512_movepi8_mask(bytes),
        }
    }
}

/// Thirty-two bytes at a time. Loads and stores are plain copies, so only the call from outside is unsafe.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::kinds::*;
    use super::{BLOCK, Masks};

    #[target_feature(enable = "avx2")]
    pub(super) fn classify_each<'a>(
        blocks: impl Iterator<Item = (&'a [u8; BLOCK], &'a mut [u8; BLOCK])>,
        mut take: impl FnMut(Masks),
    ) {
        for (block, lowered) in blocks {
            let mut masks = Masks::default();
            for (lane, (bytes, lower)) in block.as_chunks::<32>().0.iter().zip(lowered.as_chunks_mut::<32>().0).enumerate() {
                masks.add(classify(bytes, lower), 32 * lane);
            }
            take(masks);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8; 32]) -> __m256i {
        let [a, b, c, d] = bytemuck::cast::<[u8; 32], [i64; 4]>(*bytes);
        _mm256_set_epi64x(d, c, b, a)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store(value: __m256i, bytes: &mut [u8; 32]) {
        let part = |half: __m128i| [_mm_cvtsi128_si64(half), _mm_extract_epi64::<1>(half)];
        let ([a, b], [c, d]) = (part(_mm256_castsi256_si128(value)), part(_mm256_extracti128_si256::<1>(value)));
        *bytes = bytemuck::cast([a, b, c, d]);
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn table(kinds: [u8; 16]) -> __m256i {
        let [low, high] = bytemuck::cast::<[u8; 16], [i64; 2]>(kinds);
        _mm256_set_epi64x(high, low, high, low)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(found: __m256i) -> u64 {
        u64::from(_mm256_movemask_epi8(found) as u32)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn classify(block: &[u8; 32], lowered: &mut [u8; 32]) -> Masks {
        let bytes = load(block);
        let half = _mm256_set1_epi8(15);
        let low = _mm256_shuffle_epi8(table(LOW), _mm256_and_si256(bytes, half));
        let high = _mm256_shuffle_epi8(table(HIGH), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half));
        let kinds = _mm256_and_si256(low, high);
        // No kinds but the last, which is alone in its byte, make it negative.
        let any_of =
            |wanted: u8| _mm256_cmpgt_epi8(_mm256_and_si256(kinds, _mm256_set1_epi8(wanted as i8)), _mm256_setzero_si256());
        let letters = any_of(LETTER_BELOW_P | LETTER_FROM_P);
        store(_mm256_or_si256(bytes, _mm256_and_si256(letters, _mm256_set1_epi8(0x20))), lowered);
        Masks {
            letters: mask(letters),
            digits: mask(any_of(DIGIT)),
            underscores: mask(kinds),
            between_letters: mask(any_of(COLON | DOT_OR_APOSTROPHE)),
            between_digits: mask(any_of(COMMA | SEMICOLON | DOT_OR_APOSTROPHE)),
            non_ascii: mask(bytes),
        }
    }
}

/// Classifies a block and writes it in lower case.
#[cfg(target_arch = "x86_64")]
#[inline]
fn classify(block: &[u8; BLOCK], lowered: &mut [u8; BLOCK]) -> Masks {
    let mut masks = Masks::default();
    for (lane, (bytes, lower)) in block.as_chunks::<16>().0.iter().zip(lowered.as_chunks_mut::<16>().0).enumerate() {
        #[expect(unsafe_code, reason = "instructions that every x86-64 has")]
        // SAFETY: SSE2 is part of the x86-64 architecture; nothing else is asked of the caller.
        let part = unsafe { sse2::classify(bytes, lower) };
        masks.add(part, 16 * lane);
    }
    masks
}

/// Sixteen bytes at a time. Loads and stores are plain copies, so only the call from outside is unsafe.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    use super::Masks;

    #[inline]
    #[target_feature(enable = "sse2")]
    fn load(bytes: &[u8; 16]) -> __m128i {
        let all = u128::from_le_bytes(*bytes);
        _mm_set_epi64x((all >> 64) as i64, all as i64)
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn store(value: __m128i, bytes: &mut [u8; 16]) {
        let (low, high) = (_mm_cvtsi128_si64(value), _mm_cvtsi128_si64(_mm_unpackhi_epi64(value, value)));
        bytes[..8].copy_from_slice(&low.to_le_bytes());
        bytes[8..].copy_from_slice(&high.to_le_bytes());
    }

    /// Bytes between two ASCII characters; others are negative, hence below both.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn within(bytes: __m128i, first: u8, last: u8) -> __m128i {
        let from = _mm_cmpgt_epi8(bytes, _mm_set1_epi8(first as i8 - 1));
        _mm_and_si128(from, _mm_cmplt_epi8(bytes, _mm_set1_epi8(last as i8 + 1)))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn equal(bytes: __m128i, to: u8) -> __m128i {
        _mm_cmpeq_epi8(bytes, _mm_set1_epi8(to as i8))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn mask(found: __m128i) -> u64 {
        u64::from(_mm_movemask_epi8(found) as u16)
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn classify(block: &[u8; 16], lowered: &mut [u8; 16]) -> Masks {
        let bytes = load(block);
        // The bit that small letters have makes letters of nothing else.
        let small = _mm_set1_epi8(0x20);
        let letters = within(_mm_or_si128(bytes, small), b'a', b'z');
        let lower = _mm_or_si128(bytes, _mm_and_si128(letters, small));
        store(lower, lowered);
        let either = _mm_or_si128(equal(bytes, b'.'), equal(bytes, b'\''));
        let digits_only = _mm_or_si128(equal(bytes, b','), equal(bytes, b';'));
        Masks {
            letters: mask(letters),
            digits: mask(within(bytes, b'0', b'9')),
            underscores: mask(equal(bytes, b'_')),
            between_letters: mask(_mm_or_si128(either, equal(bytes, b':'))),
            between_digits: mask(_mm_or_si128(either, digits_only)),
            non_ascii: mask(bytes),
        }
    }
}

/// The same, byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn classify_plainly(block: &[u8; BLOCK], lowered: &mut [u8; BLOCK]) -> Masks {
    let mut masks = Masks::default();
    for (at, &byte) in block.iter().enumerate() {
        let bit = |found: bool| u64::from(found) << at;
        masks.letters |= bit(byte.is_ascii_alphabetic());
        masks.digits |= bit(byte.is_ascii_digit());
        masks.underscores |= bit(byte == b'_');
        masks.between_letters |= bit(matches!(byte, b':' | b'.' | b'\''));
        masks.between_digits |= bit(matches!(byte, b',' | b';' | b'.' | b'\''));
        masks.non_ascii |= bit(!byte.is_ascii());
    }
    *lowered = block.map(|byte| byte.to_ascii_lowercase());
    masks
}

#[cfg(not(target_arch = "x86_64"))]
use classify_plainly as classify;

#[cfg(test)]
mod tests {
    use super::*;

    /// This machine's, and those of machines that have less.
    fn classifiers() -> Vec<Classifier> {
        #[cfg(target_arch = "x86_64")]
        let lesser = [Classifier { avx512: false, ..Classifier::default() }, Classifier { avx512: false, avx2: false }];
        #[cfg(not(target_arch = "x86_64"))]
        let lesser = [];
        [Classifier::default()].into_iter().chain(lesser).collect()
    }

    #[test]
    fn every_byte_at_every_place_is_classified_as_the_plain_way_does() {
        for first in 0..=255u8 {
            let block: [u8; BLOCK] = std::array::from_fn(|at| first.wrapping_add((at as u8).wrapping_mul(37)));
            let (mut lowered, mut lowered_plainly) = ([0; BLOCK], [0; BLOCK]);
            let expected = classify_plainly(&block, &mut lowered_plainly);
            assert_eq!(classify(&block, &mut lowered), expected);
            assert_eq!(lowered, lowered_plainly);
            for classifier in classifiers() {
                let (mut lowered, mut found) = ([0; BLOCK], Vec::new());
                classifier.each([(&block, &mut lowered)].into_iter(), |masks| found.push(masks));
                assert_eq!((found, lowered), (vec![expected], lowered_plainly), "{classifier:?}");
            }
        }
    }
}
