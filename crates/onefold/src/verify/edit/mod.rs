//! Word edit distance (W13): the fewest words to insert, delete or replace that turn one document into the other.
//!
//! In: the word hashes of two documents. Out: the exact distance, or nothing where it is above a limit. Invariant: equals the
//! textbook table; symmetric; at most the longer length. Cost: equal ends are trimmed; a distance d up to 1/64 of the length
//! costs O(n + d²) on diagonals, a greater one n·d/128 word operations in a band that doubles. Drops nothing.

mod blocks;
mod diagonals;

use super::intern::{Interned, intern};

/// Diagonals cost d², the band n·d/128 steps of about the same price: they meet between n/64 and n/128.
const SHARE_ON_DIAGONALS: usize = 64;
/// Tiny documents stay on diagonals, which need no interning.
const FEWEST_ON_DIAGONALS: u32 = 16;
/// A band that proved too narrow is widened so many times.
const WIDENING: u32 = 2;

/// What a distance is divided by; W13 leaves it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalizer {
    /// The length of the longer document: 0 to 1.
    #[default]
    Longer,
    /// The mean of both lengths: above 1 for documents of very different lengths.
    Mean,
}

impl Normalizer {
    /// The distance between documents of these many words as a share; 0 for two empty ones.
    pub fn share(self, distance: u32, first: usize, second: usize) -> f64 {
        let size = match self {
            Normalizer::Longer => first.max(second) as f64,
            Normalizer::Mean => (first + second) as f64 / 2.0,
        };
        if size == 0.0 { 0.0 } else { f64::from(distance) / size }
    }
}

/// The word edit distance of two documents.
pub fn edit_distance(first: &[u64], second: &[u64]) -> u32 {
    let longer = first.len().max(second.len()) as u32;
    // No distance exceeds the longer length.
    edit_distance_at_most(first, second, longer).unwrap_or(longer)
}

/// The word edit distance of two documents, if it is at most `limit`.
pub fn edit_distance_at_most(first: &[u64], second: &[u64], limit: u32) -> Option<u32> {
    let (first, second) = trim(first, second);
    let (shorter, longer) = if first.len() <= second.len() { (first, second) } else { (second, first) };
    let limit = limit.min(longer.len() as u32);
    if (longer.len() - shorter.len()) as u32 > limit {
        return None;
    }
    if shorter.is_empty() {
        return Some(longer.len() as u32);
    }
    let deepest = ((longer.len() / SHARE_ON_DIAGONALS) as u32).max(FEWEST_ON_DIAGONALS).min(limit);
    match diagonals::distance(shorter, longer, deepest) {
        diagonals::Outcome::Distance(distance) => Some(distance),
        diagonals::Outcome::Above(reached) if reached >= limit => None,
        diagonals::Outcome::Above(reached) => widen(&intern(shorter, longer), reached, limit),
    }
}

/// Tries ever wider bands, from one that could hold the distance.
fn widen(words: &Interned, excluded: u32, limit: u32) -> Option<u32> {
    let least = unmatched(words).max(excluded + 1);
    if least > limit {
        return None;
    }
    let mut width = least.saturating_mul(WIDENING);
    // A band just short of the limit would nearly double the cost if it failed.
    while width < limit / WIDENING {
        if let Some(distance) = blocks::distance_at_most(words, width) {
            return Some(distance);
        }
        width = width.saturating_mul(WIDENING);
    }
    blocks::distance_at_most(words, limit)
}

/// Words of the longer document without a partner in the shorter: the distance is never below.
fn unmatched(words: &Interned) -> u32 {
    let mut counts = vec![0u32; words.distinct as usize];
    for &word in &words.first {
        counts[word as usize] += 1;
    }
    let mut matched = 0;
    for &word in &words.second {
        let left = &mut counts[word as usize];
        matched += u32::from(*left > 0);
        *left = left.saturating_sub(1);
    }
    words.second.len() as u32 - matched
}

/// Without the words that both begin and both end with: an optimal alignment always pairs those.
fn trim<'a>(first: &'a [u64], second: &'a [u64]) -> (&'a [u64], &'a [u64]) {
    let start = first.iter().zip(second).take_while(|(a, b)| a == b).count();
    let (first, second) = (&first[start..], &second[start..]);
    let end = first.iter().rev().zip(second.iter().rev()).take_while(|(a, b)| a == b).count();
    (&first[..first.len() - end], &second[..second.len() - end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: the whole table.
    fn table(first: &[u64], second: &[u64]) -> u32 {
        let mut row: Vec<u32> = (0..=second.len() as u32).collect();
        for (i, a) in first.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = i as u32 + 1;
            for (j, b) in second.iter().enumerate() {
                let replaced = diagonal + u32::from(a != b);
                diagonal = row[j + 1];
                row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
            }
        }
        row[second.len()]
    }

    fn words(text: &str) -> Vec<u64> {
        text.bytes().map(u64::from).collect()
    }

    /// Documents long enough for several blocks and bands, with `edits` words changed in the second.
    fn edited(length: usize, alphabet: u64) -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
        let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..3, 0..alphabet), 0..length);
        (prop::collection::vec(0..alphabet, 1..length), edits).prop_map(|(first, edits)| {
            let mut second = first.clone();
            for (at, kind, word) in edits {
                let at = at.index(second.len() + 1);
                match kind {
                    0 => second.insert(at, word),
                    1 if at < second.len() => second[at] = word,
                    _ if at < second.len() => drop(second.remove(at)),
                    _ => {}
                }
            }
            (first, second)
        })
    }

    fn check(first: &[u64], second: &[u64], limit: u32) -> Result<(), TestCaseError> {
        let expected = table(first, second);
        let within = |limit| (expected <= limit).then_some(expected);
        prop_assert_eq!(edit_distance(first, second), expected);
        prop_assert_eq!(edit_distance(second, first), expected);
        for limit in [limit, expected, expected.saturating_sub(1), 0, u32::MAX] {
            prop_assert_eq!(edit_distance_at_most(first, second, limit), within(limit));
        }
        if first.is_empty() || second.is_empty() {
            return Ok(());
        }
        let (shorter, longer) = if first.len() <= second.len() { (first, second) } else { (second, first) };
        let words = intern(shorter, longer);
        prop_assert!(unmatched(&words) <= expected);
        for limit in [limit, expected, expected.saturating_sub(1), longer.len() as u32] {
            prop_assert_eq!(blocks::distance_at_most(&words, limit), within(limit));
        }
        match diagonals::distance(shorter, longer, limit) {
            diagonals::Outcome::Distance(found) => prop_assert_eq!(found, expected),
            diagonals::Outcome::Above(reached) => prop_assert!(reached < expected && reached <= limit),
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn equals_the_table(first in prop::collection::vec(0u64..4, 0..40), second in prop::collection::vec(0u64..4, 0..40), limit in 0u32..40) {
            check(&first, &second, limit)?;
        }

        #[test]
        fn unrelated_documents_equal_the_table(first in prop::collection::vec(0u64..60, 0..500), second in prop::collection::vec(0u64..60, 0..500), limit in 0u32..500) {
            check(&first, &second, limit)?;
        }

        #[test]
        fn edited_documents_equal_the_table((first, second) in (2u64..200).prop_flat_map(|alphabet| edited(600, alphabet)), limit in 0u32..300) {
            check(&first, &second, limit)?;
        }
    }

    #[test]
    fn known_distances() {
        for (first, second, distance) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("intention", "execution", 5), ("abab", "baba", 2)]
        {
            assert_eq!(edit_distance(&words(first), &words(second)), distance, "{first} {second}");
        }
        assert_eq!(edit_distance_at_most(&words("kitten"), &words("sitting"), 2), None);
    }

    #[test]
    fn periodic_documents_do_not_stall() {
        let (first, second): (Vec<u64>, Vec<u64>) = ((0..20_000).map(|i| i % 2).collect(), (0..20_000).map(|i| i % 3).collect());
        assert_eq!(edit_distance(&first, &second), edit_distance(&second, &first));
    }

    #[test]
    fn shares_follow_the_normalizer() {
        assert_eq!(Normalizer::default().share(3, 10, 6), 0.3);
        assert_eq!(Normalizer::Mean.share(4, 10, 6), 0.5);
        assert_eq!(Normalizer::Mean.share(0, 0, 0), 0.0);
    }
}
