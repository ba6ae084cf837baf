//! Stage 4: tokens → the set of hashed chunks, by default the shingles of w words.
//!
//! In: the tokens of a document, and its text where lines matter. Out: its distinct chunks, sorted by hash. Invariant: a set, never a
//! multiset; a text too short for one chunk gives the empty set, which is never hashed and never compared. Cost: linear; two
//! multiplications a shingle and a bucket sort by default. Drops nothing; short documents are flagged by the caller.

mod chunks;
mod collisions;
mod eight;
mod family;
pub mod hash;
mod origin;
pub mod rabin;
mod sort;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use collisions::Collisions;
pub use family::Hash;
pub use origin::text_of_shingle;

use crate::normalize::{CommonWords, Filtering, TextRules, Tokens, Words};
use family::Hasher;
use hash::SHINGLE_BITS;

/// What documents are compared by: how text becomes words, words become chunks and chunks become hashes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// How text is cut into words.
    pub text: TextRules,
    /// Which of them are left out or replaced.
    pub filtering: Filtering,
    /// What a chunk is made of.
    pub unit: Unit,
    /// How many of these.
    pub size: u32,
    /// How it is hashed.
    pub hash: Hash,
}

impl Recipe {
    /// What a chunk is, in words: "5 words".
    pub fn chunk(&self) -> String {
        let size = self.size;
        let of = |one: &str, many: &str| format!("{size} {}", if size == 1 { one } else { many });
        match self.unit {
            Unit::Words => of("word", "words"),
            Unit::Chars => of("character from a word's beginning", "characters from a word's beginning"),
            Unit::Bytes => of("byte", "bytes"),
            Unit::Lines => of("line", "lines"),
            Unit::Spots => format!("a frequent word and the {} after it", of("word", "words")),
        }
    }

    /// The default, for shingles of so many words.
    pub fn of_words(size: u32) -> Recipe {
        Recipe { text: TextRules::Words, filtering: Filtering::NONE, unit: Unit::Words, size, hash: Hash::Fast }
    }
}

/// What a chunk is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Consecutive words.
    Words,
    /// Consecutive characters, from the beginning of each word (N5).
    Chars,
    /// Consecutive bytes, from each byte (M1).
    Bytes,
    /// Consecutive lines that are not empty (M8).
    Lines,
    /// A frequent short word and the words after it that are none (M21); all of its occurrences count.
    Spots,
}

/// Turns tokens into sets, with buffers kept from document to document.
#[derive(Default)]
pub struct Shingler {
    buckets: sort::Buckets,
    hasher: Hasher,
    hashes: Vec<u64>,
    lines: Lines,
    /// Where hashes have few bits, and it is to be known what comes of that.
    pub(crate) collisions: Option<Collisions>,
}

/// What it takes to look at a text line by line.
#[derive(Default)]
struct Lines {
    words: Words,
    tokens: Tokens,
}

impl Shingler {
    /// For a recipe.
    pub fn new(recipe: Recipe) -> Shingler {
        let lines = Lines { words: Words::new(recipe.text, recipe.filtering), tokens: Tokens::default() };
        Shingler { hasher: recipe.hash.hasher(), lines, ..Shingler::default() }
    }

    /// Leaves out, also, what too many documents have.
    pub(crate) fn without(mut self, common: Option<&Arc<CommonWords>>) -> Shingler {
        self.lines.words = std::mem::take(&mut self.lines.words).without(common);
        self
    }

    /// Counts chunks that look the same, if the hash has few bits.
    pub(crate) fn watching(mut self, hash: Hash) -> Shingler {
        self.collisions = (hash.bits() < SHINGLE_BITS).then(|| Collisions::new(hash.bits()));
        self
    }

    /// Bytes of its buffers.
    pub(crate) fn memory(&self) -> usize {
        self.buckets.memory() + self.hashes.capacity() * size_of::<u64>() + self.lines.tokens.memory()
    }

    /// Appends the sorted distinct chunks of a document, as the recipe says.
    pub fn shingle_into(&mut self, text: &str, tokens: &Tokens, recipe: Recipe, target: &mut Vec<u64>) {
        if recipe.unit == Unit::Words && recipe.hash == Hash::Fast {
            return self.shingle_words(tokens, recipe.size, target);
        }
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        chunk(text, tokens, recipe, &mut self.lines, &self.hasher, &mut hashes);
        if let Some(collisions) = &mut self.collisions {
            let mut witnesses = Vec::with_capacity(hashes.len());
            chunk(text, tokens, recipe, &mut self.lines, &Hasher::Fast, &mut witnesses);
            collisions.add(hashes.iter().copied().zip(witnesses));
        }
        self.buckets.fill(hashes.len()).copy_from_slice(&hashes);
        self.buckets.drain_into(target);
        self.hashes = hashes;
    }

    /// Appends the hash of each chunk, in the order of the text.
    fn hash_chunks(&mut self, text: &str, tokens: &Tokens, recipe: Recipe, hashes: &mut Vec<u64>) {
        match (recipe.unit, recipe.hash) {
            (Unit::Words, Hash::Fast) => hash::shingles(tokens.hashes(), recipe.size as usize, |shingle| hashes.push(shingle)),
            _ => chunk(text, tokens, recipe, &mut self.lines, &self.hasher, hashes),
        }
    }

    fn shingle_words(&mut self, tokens: &Tokens, words: u32, target: &mut Vec<u64>) {
        let (tokens, words) = (tokens.hashes(), words as usize);
        let slots = self.buckets.fill((tokens.len() + 1).saturating_sub(words));
        hash::write_shingles(tokens, words, slots);
        self.buckets.drain_into(target);
    }
}

/// Appends the hashes of a document's chunks, in the order of the text.
fn chunk(text: &str, tokens: &Tokens, recipe: Recipe, lines: &mut Lines, hasher: &Hasher, hashes: &mut Vec<u64>) {
    let size = recipe.size as usize;
    match recipe.unit {
        Unit::Words => chunks::words(tokens, size, hasher, hashes),
        Unit::Chars => chunks::chars(tokens, size, hasher, hashes),
        Unit::Bytes => chunks::bytes(tokens, size, hasher, hashes),
        Unit::Lines => chunks::lines(text, size, lines, hasher, hashes),
        Unit::Spots => chunks::spots(tokens, size, hasher, hashes),
    }
}

/// The set of a text.
pub fn set_of(text: &str, recipe: Recipe) -> Vec<u64> {
    let (mut tokens, mut set) = (Tokens::default(), Vec::new());
    let mut words = Words::new(recipe.text, recipe.filtering);
    words.cut(text, &mut tokens);
    Shingler::new(recipe).shingle_into(text, words.filter(&tokens), recipe, &mut set);
    set
}

/// The first eight bytes of a digest, the highest first.
pub(crate) fn first_bytes(digest: &[u8]) -> u64 {
    digest.iter().take(8).fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// A hash of a whole set, the same for equal sets.
pub fn set_hash(shingles: &[u64]) -> u64 {
    let (sum, rest) = eight::Eight::default().sum_of_mixed(shingles);
    let sum = rest.iter().fold(sum, |sum, &s| sum.wrapping_add(hash::mix(s)));
    hash::mix(sum ^ shingles.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str, recipe: Recipe) -> usize {
        set_of(text, recipe).len()
    }

    /// Y8 and Y9 of the literature, under every family.
    #[test]
    fn published_examples() {
        for hash in [Hash::Fast, Hash::Rabin32, Hash::Rabin40, Hash::Rabin64, Hash::Md5, Hash::Sha1] {
            let words = |size| Recipe { size, hash, ..Recipe::of_words(4) };
            assert_eq!(count("a rose is a rose is a rose", words(4)), 3);
            assert_eq!(count("The ones we don't know we don't know", words(3)), 5);
            assert_eq!(count("four words are here", words(5)), 0);
        }
    }

    #[test]
    fn rules_of_the_works() {
        let plain = |text: &str| set_of(text, Recipe { text: TextRules::Plain, size: 1, ..Recipe::of_words(4) });
        assert_eq!(plain("Don't  STOP,\tnow"), plain("don't stop, now"), "Y1, Y2: case and space are gone");
        assert_ne!(plain("stop, now"), plain("stop now"), "punctuation is not");
        let letters = |text: &str| set_of(text, Recipe { text: TextRules::Letters, size: 1, ..Recipe::of_words(4) });
        assert_eq!(letters("Stop, now! (please)"), letters("stop now please"), "N3");
    }

    /// N5: from the beginning of each word, and cut wherever it ends.
    #[test]
    fn characters_from_word_starts() {
        let chars = |size| Recipe { unit: Unit::Chars, size, ..Recipe::of_words(4) };
        assert_eq!(count("abc def ghi", chars(7)), 2, "'abc def' and 'def ghi'");
        assert_eq!(count("abc def ghi", chars(11)), 1);
        assert_eq!(count("abc def ghi", chars(12)), 0);
        assert_eq!(count("äbc déf ghi", chars(7)), 2, "characters, not bytes");
        assert_eq!(set_of("xx abc defg", chars(5))[..], set_of("xx abc defh", chars(5))[..], "'abc d' is cut inside a word");
    }

    /// M1: every window of bytes, by sliding where the family can.
    #[test]
    fn bytes_from_everywhere() {
        for hash in [Hash::Fast, Hash::Rabin32, Hash::Rabin64, Hash::Md5] {
            let bytes = |size| Recipe { unit: Unit::Bytes, size, hash, ..Recipe::of_words(4) };
            assert_eq!(count("abcabcabd", bytes(3)), 4, "abc bca cab abd");
            assert_eq!(count("ab", bytes(3)), 0);
            assert_eq!(set_of("abc", bytes(3)), set_of("ABC", bytes(3)));
            let by_chars = Recipe { unit: Unit::Chars, ..bytes(3) };
            assert_eq!(set_of("abc", bytes(3)), set_of("abc", by_chars), "the same hash of the same text");
        }
    }

    #[test]
    fn lines_are_chunks() {
        let lines = |size| Recipe { unit: Unit::Lines, size, ..Recipe::of_words(4) };
        assert_eq!(count("one\n\ntwo\n one \n  TWO\nthree", lines(2)), 3, "one two, two one, two three");
        assert_eq!(count("one\ntwo", lines(3)), 0);
        assert_eq!(set_of("a b\nc", lines(2)), set_of("A, b!\n\n\nC", lines(2)));
        assert_ne!(set_of("a b\nc", lines(2)), set_of("a\nb c", lines(2)), "where lines end matters (M8)");
    }

    /// M21: after a stop word the next words that are none.
    #[test]
    fn spots_stand_at_frequent_words() {
        let spots = |size| Recipe { unit: Unit::Spots, size, ..Recipe::of_words(4) };
        let text = "At a rally to kick off a weeklong campaign for the South Carolina primary";
        assert_eq!(count(text, spots(1)), 1, "the:south");
        assert_eq!(count("the cat is the dog is the cat", spots(1)), 5, "the:cat twice, the:dog, is:dog, is:cat");
        assert_eq!(set_of("the quick cat", spots(1)), set_of("the quick dog", spots(1)));
        assert!(set_of("nothing here", spots(1)).is_empty());
    }
}
