//! The fast path: UAX #29 words of ASCII text, from bit masks.

use std::ops::Range;

use super::Tokens;
use super::classify::{BLOCK, Classifier, Masks};
use crate::shingle::hash::SLACK;

/// A text in lower case (of ASCII), with a bit for each byte that belongs to a word.
///
/// Bytes that are not ASCII are no part of any word here; the text around them goes another way.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// The text, zeros up to a whole block, and room for the hash.
    lowered: Vec<u8>,
    words: Vec<u64>,
    non_ascii: Vec<u64>,
    classifier: Classifier,
}

impl Scanned {
    /// Bytes of its buffers.
    pub(super) fn memory(&self) -> usize {
        self.lowered.capacity() + (self.words.capacity() + self.non_ascii.capacity()) * size_of::<u64>()
    }

    /// Replaces the text.
    pub(super) fn scan(&mut self, text: &[u8]) {
        let blocks = text.len().div_ceil(BLOCK);
        self.words.clear();
        self.words.reserve(blocks + 1);
        self.non_ascii.clear();
        self.non_ascii.reserve(blocks);
        let wanted = blocks * BLOCK + SLACK;
        super::grow(&mut self.lowered, wanted);
        let (whole, rest) = text.as_chunks::<BLOCK>();
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&last);
        // A word may go on in the next block, so each block is settled when the next is known.
        let (mut before, mut here) = (Masks::default(), Masks::default());
        self.classifier.each(whole.iter().chain(last).zip(self.lowered.as_chunks_mut::<BLOCK>().0), |next| {
            self.words.push(in_words(before, here, next));
            self.non_ascii.push(next.non_ascii);
            (before, here) = (here, next);
        });
        self.words.push(in_words(before, here, Masks::default()));
    }

    /// The first byte from `at` on that is not ASCII.
    pub(super) fn next_non_ascii(&self, at: usize) -> Option<usize> {
        let first = at / BLOCK;
        let rest = self.non_ascii.get(first)? & u64::MAX << (at % BLOCK);
        let later = || (first + 1..).zip(self.non_ascii.get(first + 1..)?).find(|(_, bits)| **bits != 0);
        let (block, bits) = if rest != 0 { (first, &rest) } else { later()? };
        Some(block * BLOCK + bits.trailing_zeros() as usize)
    }

    /// Adds the tokens of a part that begins and ends between words.
    pub(super) fn tokenize(&self, part: Range<usize>, tokens: &mut Tokens) {
        if part.is_empty() {
            return;
        }
        let (first, last) = (part.start / BLOCK, (part.end - 1) / BLOCK);
        let mut open = part.start;
        let mut carry = 0;
        for block in first..=last {
            // The first of `words` stands for the block before the text.
            let mut bits = self.words[block + 1];
            if block == first {
                bits &= u64::MAX << (part.start % BLOCK);
            }
            if block == last {
                bits &= u64::MAX >> (BLOCK - 1 - (part.end - 1) % BLOCK);
            }
            let shifted = bits << 1 | carry;
            let (mut starts, mut ends) = (bits & !shifted, !bits & shifted);
            let next_start = |starts: &mut u64| {
                let start = block * BLOCK + starts.trailing_zeros() as usize;
                *starts &= starts.wrapping_sub(1);
                start
            };
            if carry == 0 {
                open = next_start(&mut starts);
            }
            // The first token may have begun in an earlier block.
            let mut writer = tokens.writer((block + 1) * BLOCK - open.min(block * BLOCK));
            while ends != 0 {
                let end = block * BLOCK + ends.trailing_zeros() as usize;
                ends &= ends - 1;
                if self.is_token(open, end) {
                    writer.push(&self.lowered, open, end - open);
                }
                open = next_start(&mut starts);
            }
            let end = writer.end;
            tokens.back_to(end);
            carry = bits >> (BLOCK - 1);
        }
        if carry != 0 && self.is_token(open, part.end) {
            tokens.push(&self.lowered, open, part.end - open);
        }
    }

    /// Underscores alone are none.
    #[inline(always)]
    fn is_token(&self, start: usize, end: usize) -> bool {
        self.lowered[start] != b'_' || self.lowered[start..end].iter().any(|&byte| byte != b'_')
    }
}

/// Rules WB5 to WB13b as far as they concern ASCII: the bytes of words in the block `here`.
#[inline]
fn in_words(before: Masks, here: Masks, after: Masks) -> u64 {
    let joined = |between: u64, before: u64, here: u64, after: u64| {
        between & (here << 1 | before >> (BLOCK - 1)) & (here >> 1 | after << (BLOCK - 1))
    };
    let letters = joined(here.between_letters, before.letters, here.letters, after.letters);
    let digits = joined(here.between_digits, before.digits, here.digits, after.digits);
    here.letters | here.digits | here.underscores | letters | digits
}
