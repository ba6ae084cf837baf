//! Common passages: the runs of words that two documents share, the longest first.
//!
//! In: the word hashes of two documents and the fewest words of a passage. Out: passages that overlap in neither document.
//! Invariant: each is the longest common run of the words that longer passages left over, so it is maximal and the first one
//! is the longest of all; in the end no run of that many words is left. Cost: n log² n for sorting suffixes, then a bounded
//! number of lookups a word. Drops: where text repeats itself so often that the bounds are met, the rest of the
//! repetitions; what is returned is common and maximal even then.

use super::intern::intern;
use super::suffixes::{Descent, Suffixes};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// A run of words that stands in both documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Its first word in the first document.
    pub first: usize,
    /// Its first word in the second document.
    pub second: usize,
    /// Its words.
    pub length: usize,
}

/// Places in the second document that one lookup weighs in each direction. Real text rarely has more than two.
const WEIGHED: usize = 24;
/// Lookups a word of the first document may cause on average.
const LOOKUPS: usize = 8;

/// The common passages of at least `shortest` words, by falling length, then by position.
pub fn passages(first: &[u64], second: &[u64], shortest: usize) -> Vec<Passage> {
    let mut found = Finder::new(first, second, shortest.max(1)).run();
    found.sort_unstable_by_key(|passage| (Reverse(passage.length), passage.first, passage.second));
    found
}

/// The words of one document that a passage has.
struct Taken {
    /// Where passages start.
    starts: BTreeSet<usize>,
    words: Vec<bool>,
}

impl Taken {
    fn new(words: usize) -> Self {
        Taken { starts: BTreeSet::new(), words: vec![false; words] }
    }

    fn take(&mut self, start: usize, end: usize) {
        self.starts.insert(start);
        self.words[start..end].fill(true);
    }

    /// Words from `at` to the next passage or the end.
    fn free(&self, at: usize) -> usize {
        if self.words[at] {
            return 0;
        }
        self.starts.range(at..).next().copied().unwrap_or(self.words.len()) - at
    }
}

struct Finder<'a> {
    first: &'a [u64],
    second: &'a [u64],
    shortest: usize,
    suffixes: Suffixes,
    /// Living: the places of the second document where a passage may begin. One walk each way; the second sees the order
    /// reversed.
    walks: [Descent; 2],
    taken: [Taken; 2],
}

impl<'a> Finder<'a> {
    fn new(first: &'a [u64], second: &'a [u64], shortest: usize) -> Self {
        let words = intern(first, second);
        let mut text = words.first;
        // A word that stands once keeps common beginnings inside the documents.
        text.push(words.distinct);
        text.extend(words.second);
        let suffixes = Suffixes::new(&text);
        let entries = text.len();
        let begins = |place: usize| suffixes.order[place] as usize > first.len();
        // Entry 0 of a walk is its end, so places are shifted by one.
        let down: Vec<u32> = std::iter::once(0).chain(suffixes.common.iter().copied()).collect();
        let up: Vec<u32> = [0, 0].into_iter().chain(suffixes.common[1..].iter().rev().copied()).collect();
        let walks = [Descent::new(down, |entry| begins(entry - 1)), Descent::new(up, |entry| begins(entries - entry))];
        Finder { first, second, shortest, walks, taken: [Taken::new(first.len()), Taken::new(second.len())], suffixes }
    }

    /// Takes the longest run again and again. The queue holds upper bounds, so a run as long as its bound is the longest.
    fn run(mut self) -> Vec<Passage> {
        let mut found = Vec::new();
        let mut queue: BinaryHeap<(usize, Reverse<usize>)> = (0..self.first.len()).filter_map(|at| self.bound(at)).collect();
        let mut lookups = LOOKUPS * self.first.len();
        while let Some((bound, Reverse(at))) = queue.pop() {
            let Some(best) = self.longest_at(at) else { continue };
            if best.length == bound {
                found.push(self.take(best));
            } else if lookups > 0 {
                queue.push((best.length, Reverse(at)));
            }
            lookups = lookups.saturating_sub(1);
        }
        found
    }

    /// The longest run from `at` while nothing is taken yet.
    fn bound(&mut self, at: usize) -> Option<(usize, Reverse<usize>)> {
        let length = (0..2).map(|way| self.step(way, self.entry(way, at)).1).max()?;
        (length >= self.shortest).then_some((length, Reverse(at)))
    }

    /// The longest free run that begins at word `at` of the first document, the earliest in the second among the weighed.
    fn longest_at(&mut self, at: usize) -> Option<Passage> {
        let free = self.taken[0].free(at);
        let mut best = Passage { first: at, second: usize::MAX, length: self.shortest.saturating_sub(1) };
        for way in 0..2 {
            let (mut entry, mut common) = (self.entry(way, at), free);
            for _ in 0..WEIGHED {
                let (next, length) = self.step(way, entry);
                common = common.min(length);
                if common < best.length.max(self.shortest) {
                    break;
                }
                entry = next;
                let second = self.place(way, entry);
                let length = common.min(self.taken[1].free(second));
                if (length, Reverse(second)) > (best.length, Reverse(best.second)) {
                    best = Passage { first: at, second, length };
                }
            }
        }
        (best.length >= self.shortest).then_some(best)
    }

    /// Takes a run, with the free words before it that both documents share.
    fn take(&mut self, run: Passage) -> Passage {
        let before = self.first[..run.first].iter().rev().zip(self.second[..run.second].iter().rev());
        let free = self.taken[0].words[..run.first].iter().rev().zip(self.taken[1].words[..run.second].iter().rev());
        // Only where bounds were met: the queue offers a longer run before its own end.
        let more = before.zip(free).take_while(|((a, b), (taken_a, taken_b))| a == b && !**taken_a && !**taken_b).count();
        let passage = Passage { first: run.first - more, second: run.second - more, length: run.length + more };
        self.taken[0].take(passage.first, passage.first + passage.length);
        self.taken[1].take(passage.second, passage.second + passage.length);
        // Nothing long enough can begin shortly before it any more.
        for dead in (passage.second + 1).saturating_sub(self.shortest)..passage.second + passage.length {
            for way in 0..2 {
                let entry = self.entry(way, self.first.len() + 1 + dead);
                self.walks[way].kill(entry);
            }
        }
        passage
    }

    fn step(&mut self, way: usize, entry: usize) -> (usize, usize) {
        let (next, length) = self.walks[way].below(entry);
        (next, length as usize)
    }

    /// The entry in a walk of the suffix that begins at `at` of the joined text.
    fn entry(&self, way: usize, at: usize) -> usize {
        let rank = self.suffixes.rank[at] as usize;
        if way == 0 { rank + 1 } else { self.suffixes.order.len() - rank }
    }

    /// Where the suffix of a living entry begins in the second document.
    fn place(&self, way: usize, entry: usize) -> usize {
        let rank = if way == 0 { entry - 1 } else { self.suffixes.order.len() - entry };
        self.suffixes.order[rank] as usize - self.first.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The longest common run of words not taken, by trying every pair of places.
    fn longest_left(first: &[u64], second: &[u64], taken: &[Vec<bool>; 2]) -> usize {
        let run = |i: usize, j: usize| {
            let free = |k: &usize| !taken[0][i + k] && !taken[1][j + k] && first[i + k] == second[j + k];
            (0..(first.len() - i).min(second.len() - j)).take_while(free).count()
        };
        (0..first.len()).flat_map(|i| (0..second.len()).map(move |j| run(i, j))).max().unwrap_or(0)
    }

    fn check(first: &[u64], second: &[u64], shortest: usize) -> Result<(), TestCaseError> {
        let mut taken = [vec![false; first.len()], vec![false; second.len()]];
        let mut previous = usize::MAX;
        for Passage { first: i, second: j, length } in passages(first, second, shortest) {
            prop_assert_eq!(&first[i..i + length], &second[j..j + length]);
            prop_assert!(length >= shortest && length <= previous);
            // Longest of what was left: free, maximal, and the first one longest of all.
            prop_assert_eq!(longest_left(first, second, &taken), length);
            for (taken, start) in taken.iter_mut().zip([i, j]) {
                prop_assert!(taken[start..start + length].iter().all(|&word| !word));
                taken[start..start + length].fill(true);
            }
            previous = length;
        }
        prop_assert!(longest_left(first, second, &taken) < shortest);
        Ok(())
    }

    proptest! {
        #[test]
        fn each_is_the_longest_that_is_left(first in prop::collection::vec(0u64..3, 0..40), second in prop::collection::vec(0u64..3, 0..40), shortest in 1usize..6) {
            check(&first, &second, shortest)?;
        }

        #[test]
        fn moved_blocks_are_found(first in prop::collection::vec(0u64..20, 0..60), cut in any::<prop::sample::Index>(), shortest in 1usize..9) {
            let mut second = first.clone();
            second.rotate_left(cut.index(first.len() + 1).min(first.len()));
            check(&first, &second, shortest)?;
        }
    }

    #[test]
    fn repeated_passages_pair_up_in_order() {
        let text = |separators: [u64; 3]| separators.into_iter().flat_map(|s| [s].into_iter().chain(0..10)).collect::<Vec<u64>>();
        let found = passages(&text([20, 21, 22]), &text([30, 31, 32]), 5);
        assert_eq!(found, [1, 12, 23].map(|at| Passage { first: at, second: at, length: 10 }));
    }

    #[test]
    fn nothing_in_common_is_nothing() {
        assert!(passages(&[], &[], 0).is_empty());
        assert!(passages(&[1, 2], &[], 1).is_empty());
        assert!(passages(&[1, 2, 3], &[4, 5, 6], 1).is_empty());
        assert!(passages(&[1, 2, 3], &[1, 2, 4], 3).is_empty());
    }
}
