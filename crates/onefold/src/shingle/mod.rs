//! Stage 4: tokens → the set of hashed w-word shingles.
//!
//! In: the tokens of a document. Out: its distinct shingles, sorted by hash. Invariant: a set, never a multiset; fewer than w
//! tokens give the empty set, which is never hashed and never compared. Cost: linear; two multiplications a shingle and a
//! bucket sort. Drops nothing; short documents are flagged by the caller.

pub mod hash;
mod sort;

use crate::normalize::Tokens;

/// Turns tokens into shingle sets, with buffers kept from document to document.
#[derive(Debug, Default)]
pub struct Shingler {
    buckets: sort::Buckets,
    set: Vec<u64>,
}

impl Shingler {
    /// Bytes of its buffers.
    pub(crate) fn memory(&self) -> usize {
        self.buckets.memory() + self.set.capacity() * size_of::<u64>()
    }

    /// The sorted distinct shingles of `words` words each.
    pub fn shingle(&mut self, tokens: &Tokens, words: u32) -> &[u64] {
        let mut set = std::mem::take(&mut self.set);
        set.clear();
        self.shingle_into(tokens, words, &mut set);
        self.set = set;
        &self.set
    }

    /// Appends the same to `target`.
    pub fn shingle_into(&mut self, tokens: &Tokens, words: u32, target: &mut Vec<u64>) {
        let (tokens, words) = (tokens.hashes(), words as usize);
        let mut filling = self.buckets.fill((tokens.len() + 1).saturating_sub(words));
        hash::shingles(tokens, words, |shingle| filling.push(shingle));
        self.buckets.drain_into(target);
    }
}

/// A hash of a whole set, the same for equal sets.
pub fn set_hash(shingles: &[u64]) -> u64 {
    let sum = shingles.iter().fold(0u64, |sum, &s| sum.wrapping_add(hash::mix(s)));
    hash::mix(sum ^ shingles.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::Tokenizer;

    fn count(text: &str, words: u32) -> usize {
        let mut tokens = Tokens::default();
        Tokenizer::default().tokenize(text, &mut tokens);
        Shingler::default().shingle(&tokens, words).len()
    }

    /// Y8 and Y9 of the literature.
    #[test]
    fn published_examples() {
        assert_eq!(count("a rose is a rose is a rose", 4), 3);
        assert_eq!(count("The ones we don't know we don't know", 3), 5);
        assert_eq!(count("four words are here", 5), 0);
    }
}
