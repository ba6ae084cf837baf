//! Words as small numbers, so that tables can be indexed by them.
//!
//! In: the word hashes of two documents. Out: the same sequences with a dense number for each distinct word. Invariant: two
//! numbers are equal iff the hashes are; the first document's words are numbered before the rest. Cost: one lookup a word.
//! Drops nothing.

use std::collections::HashMap;

/// Two documents over one dense alphabet.
pub struct Interned {
    /// The first document.
    pub first: Vec<u32>,
    /// The second document.
    pub second: Vec<u32>,
    /// Words below this number occur in the first document, the others only in the second.
    pub first_distinct: u32,
    /// Words in either document.
    pub distinct: u32,
}

/// Numbers the words of two documents in the order of their first appearance, which does not depend on the map's seed.
pub fn intern(first: &[u64], second: &[u64]) -> Interned {
    let mut numbers: HashMap<u64, u32> = HashMap::with_capacity(first.len());
    let mut number = |word: &u64| {
        let next = numbers.len() as u32;
        *numbers.entry(*word).or_insert(next)
    };
    let first: Vec<u32> = first.iter().map(&mut number).collect();
    let first_distinct = first.iter().max().map_or(0, |&highest| highest + 1);
    let second: Vec<u32> = second.iter().map(&mut number).collect();
    Interned { first, second, first_distinct, distinct: numbers.len() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_as_they_appear() {
        let found = intern(&[9, 7, 9], &[5, 7, 3, 5]);
        assert_eq!((found.first, found.second), (vec![0, 1, 0], vec![2, 1, 3, 2]));
        assert_eq!((found.first_distinct, found.distinct), (2, 4));
        assert_eq!(intern(&[], &[4]).first_distinct, 0);
    }
}
