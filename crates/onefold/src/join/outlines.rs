//! Outlines of sets: about a bit for each shingle, from which it is often plain that two sets are far apart.
//!
//! Each shingle turns over one bit, so two outlines differ in at most as many bits as there are shingles that only one of the sets has. Sets
//! that differ in more than they may need not be looked at. With as many bits as shingles most pairs are seen through that resemble each other
//! by less than 0.74, where 0.8 is asked for.

use super::sets::SetIndex;

const WORD: usize = u64::BITS as usize;

/// Words of the outline of a set of so many shingles: of two sets that could be near each other neither has more than twice those of the other.
fn words_of(size: u32) -> usize {
    ((size as usize - size as usize / 4).next_power_of_two() / WORD).max(1)
}

/// Appends the outline of a set.
pub(super) fn draw(set: &[u64], outlines: &mut Vec<u64>) {
    let start = outlines.len();
    let words = words_of(set.len() as u32);
    outlines.resize(start + words, 0);
    let outline = &mut outlines[start..];
    for &shingle in set {
        // As many words as a power of two.
        outline[(shingle as usize / WORD) & (words - 1)] ^= 1 << (shingle as usize % WORD);
    }
}

/// In how many bits two outlines differ; the longer one is folded.
fn difference(a: &[u64], b: &[u64]) -> u32 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let folded = |at: usize| long.iter().skip(at).step_by(short.len()).fold(0, |sum, word| sum ^ word);
    if short.len() == long.len() {
        return short.iter().zip(long).map(|(a, b)| (a ^ b).count_ones()).sum();
    }
    short.iter().enumerate().map(|(at, word)| (word ^ folded(at)).count_ones()).sum()
}

/// The outlines of some sets.
#[derive(Debug, Default)]
pub(super) struct Outlines {
    /// By arena.
    words: Vec<Vec<u64>>,
    /// By set: its arena, where its outline begins, and how many words it has; none where it has no outline.
    places: Vec<(u32, u32, u32)>,
}

impl Outlines {
    /// Of no set yet.
    pub(super) fn new(sets: usize, arenas: usize) -> Outlines {
        Outlines { words: vec![Vec::new(); arenas], places: vec![(0, 0, 0); sets] }
    }

    /// Takes the outlines of sets of an arena.
    pub(super) fn add(&mut self, arena: usize, words: Vec<u64>) {
        self.words[arena] = words;
    }

    /// Says where in its arena's words the outline of a set of some size begins.
    pub(super) fn place(&mut self, set: SetIndex, arena: u32, start: u32, size: u32) {
        self.places[set as usize] = (arena, start, words_of(size) as u32);
    }

    fn of(&self, set: SetIndex) -> &[u64] {
        let (arena, start, words) = self.places[set as usize];
        self.words[arena as usize].get(start as usize..(start + words) as usize).unwrap_or(&[])
    }

    /// Whether two sets differ, for certain, in more than `most` shingles.
    pub(super) fn differ_by_more(&self, a: SetIndex, b: SetIndex, most: u64) -> bool {
        let (a, b) = (self.of(a), self.of(b));
        !a.is_empty() && !b.is_empty() && u64::from(difference(a, b)) > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::hash::mix;
    use proptest::prelude::*;

    fn outline(set: &[u64]) -> Vec<u64> {
        let mut outlines = vec![7];
        draw(set, &mut outlines);
        outlines[1..].to_vec()
    }

    proptest! {
        #[test]
        fn outlines_differ_by_no_more_than_the_sets(
            a in prop::collection::btree_set(0u64..3000, 1..900),
            b in prop::collection::btree_set(0u64..3000, 1..900),
        ) {
            let different = a.symmetric_difference(&b).count() as u32;
            let [a, b] = [a, b].map(|set| outline(&set.into_iter().map(mix).collect::<Vec<u64>>()));
            prop_assert!(difference(&a, &b) <= different);
            prop_assert_eq!(difference(&a, &b), difference(&b, &a));
            prop_assert_eq!(difference(&a, &a), 0);
        }
    }

    #[test]
    fn sets_that_are_far_apart_are_seen_to_be() {
        for size in [40, 100, 1000, 1100, 5000] {
            let set = |first: u64, size: u64| (first..first + size).map(mix).collect::<Vec<u64>>();
            // A third of all they have is common; a ninth may differ on each side where 0.8 is asked for.
            let (mut outlines, mut words) = (Outlines::new(3, 1), Vec::new());
            for (number, set) in [set(0, size), set(size / 2, size), set(0, size - size / 20)].iter().enumerate() {
                outlines.place(number as SetIndex, 0, words.len() as u32, set.len() as u32);
                draw(set, &mut words);
            }
            assert!(!outlines.differ_by_more(0, 1, 0), "nothing is known yet");
            outlines.add(0, words);
            assert!(outlines.differ_by_more(0, 1, size * 2 / 9), "{size}");
            assert!(!outlines.differ_by_more(0, 2, size * 2 / 9), "{size}");
        }
    }
}
