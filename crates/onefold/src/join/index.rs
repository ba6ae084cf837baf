//! The index of join keys: postings of keys that at least two sets share.

use std::ops::Range;

use super::sets::SetIndex;
use super::shared::Shared;
use crate::error::{Error, Result};

/// A shared key of a set: where the set stands in the key's posting, and where the key stands among the set's keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Occurrence {
    at: u32,
    place: u32,
}

/// Postings longer than this are searched, shorter ones walked through.
const SHORT_POSTING: usize = 64;
/// In a place: the posting is long.
const LONG: u32 = 1 << 31;
/// In the postings: a set is the first of its posting. Walking needs nothing else to know where it ends.
const FIRST: u32 = 1 << 31;

impl Occurrence {
    /// Where the key stands among the set's keys.
    pub(super) fn place(self) -> u32 {
        self.place & !LONG
    }

    /// Whether the posting is too long to be walked through.
    pub(super) fn is_long(self) -> bool {
        self.place & LONG != 0
    }
}

/// Postings by key, and the shared keys by set.
#[derive(Debug)]
pub(super) struct Index {
    postings: Vec<u32>,
    posting_starts: Vec<u32>,
    occurrences: Vec<Occurrence>,
    occurrence_starts: Vec<usize>,
}

impl Index {
    /// Bytes of an index of so many sets and shared keys.
    pub(super) fn bytes(count: usize, shared: u64) -> u64 {
        shared * (size_of::<Occurrence>() + 2 * size_of::<u32>()) as u64 + 2 * (count * size_of::<usize>()) as u64
    }

    /// The index of those of `count` sets that are wanted.
    pub(super) fn build(count: usize, shared: &Shared, wanted: impl Fn(SetIndex) -> bool + Copy) -> Result<Index> {
        let mut occurrence_starts = vec![0usize; count + 1];
        let mut postings = 0usize;
        shared.each_posting(wanted, |posting| {
            posting.iter().for_each(|entry| occurrence_starts[entry.set as usize + 1] += 1);
            postings += 1;
        })?;
        for set in 0..count {
            occurrence_starts[set + 1] += occurrence_starts[set];
        }
        let len = occurrence_starts[count];
        if count >= FIRST as usize || len > u32::MAX as usize {
            return Err(Error::TooLarge { what: "keys that documents share", limit: u32::MAX.into() });
        }
        let mut index = Index {
            postings: Vec::with_capacity(len),
            posting_starts: Vec::with_capacity(postings + 1),
            occurrences: vec![Occurrence::default(); len],
            occurrence_starts,
        };
        let mut next = index.occurrence_starts.clone();
        shared.each_posting(wanted, |posting| {
            let long = if posting.len() > SHORT_POSTING { LONG } else { 0 };
            index.posting_starts.push(index.postings.len() as u32);
            for (nth, entry) in posting.iter().enumerate() {
                let slot = &mut next[entry.set as usize];
                index.occurrences[*slot] = Occurrence { at: index.postings.len() as u32, place: entry.place | long };
                *slot += 1;
                index.postings.push(entry.set | if nth == 0 { FIRST } else { 0 });
            }
        })?;
        index.posting_starts.push(index.postings.len() as u32);
        Ok(index)
    }

    /// A set from the middle of each of the `count` longest postings.
    pub(super) fn crowded_sets(&self, count: usize) -> Vec<SetIndex> {
        let mut postings: Vec<&[u32]> = self.posting_starts.windows(2).collect();
        postings.sort_by_key(|posting| std::cmp::Reverse(posting[1] - posting[0]));
        let middle = |posting: &&[u32]| self.postings[(posting[0] as usize + posting[1] as usize) / 2] & !FIRST;
        let mut sets: Vec<SetIndex> = postings.iter().take(count).map(middle).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// The keys of a set that others share.
    pub(super) fn occurrences(&self, set: SetIndex) -> &[Occurrence] {
        &self.occurrences[self.occurrence_starts[set as usize]..self.occurrence_starts[set as usize + 1]]
    }

    /// Touches the postings of some keys, all at once: one after the other, each would be waited for.
    pub(super) fn warm(&self, occurrences: &[Occurrence]) {
        let touched = occurrences.iter().fold(0, |sum, occurrence| sum ^ self.postings[occurrence.at as usize]);
        std::hint::black_box(touched);
    }

    /// The sets before this one in the posting, the nearest first.
    pub(super) fn before(&self, occurrence: Occurrence) -> impl Iterator<Item = SetIndex> {
        let mut rest = &self.postings[..=occurrence.at as usize];
        std::iter::from_fn(move || {
            let (&entry, before) = rest.split_last()?;
            if entry & FIRST != 0 {
                return None;
            }
            rest = before;
            before.last().map(|entry| entry & !FIRST)
        })
    }

    /// The sets after this one in the posting, the nearest first.
    pub(super) fn after(&self, occurrence: Occurrence) -> impl Iterator<Item = SetIndex> {
        let rest = &self.postings[occurrence.at as usize + 1..];
        rest.iter().take_while(|&&entry| entry & FIRST == 0).copied()
    }

    /// Places of the posting's sets whose numbers are in `range`, for [`Index::set_at`].
    pub(super) fn places_in(&self, occurrence: Occurrence, range: &Range<SetIndex>) -> Range<usize> {
        let posting = self.posting_starts.partition_point(|&start| start <= occurrence.at);
        let (start, end) = (self.posting_starts[posting - 1] as usize, self.posting_starts[posting] as usize);
        let first_from = |set: SetIndex| start + self.postings[start..end].partition_point(|entry| entry & !FIRST < set);
        first_from(range.start)..first_from(range.end)
    }

    /// The set at a place of the postings.
    pub(super) fn set_at(&self, place: usize) -> SetIndex {
        self.postings[place] & !FIRST
    }

    /// First of `places` whose set is not `wanted`, where wanted ones come first.
    pub(super) fn partition_places(&self, places: &Range<usize>, wanted: impl Fn(SetIndex) -> bool) -> usize {
        places.start + self.postings[places.clone()].partition_point(|entry| wanted(entry & !FIRST))
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared::{Entry, KeysOf};
    use super::*;
    use crate::exec::Exec;

    struct Keys<'a>(&'a [Vec<u64>]);

    impl KeysOf for Keys<'_> {
        type Buffers = ();

        fn count(&self, set: SetIndex) -> u64 {
            self.0[set as usize].len() as u64
        }

        fn append(&self, sets: Range<SetIndex>, (): &mut (), entries: &mut Vec<Entry>) -> Result<()> {
            for set in sets {
                entries.extend(self.0[set as usize].iter().zip(0..).map(|(&key, place)| Entry { key, set, place }));
            }
            Ok(())
        }
    }

    #[test]
    fn postings_hold_exactly_the_shared_keys() {
        let keys: Vec<Vec<u64>> = vec![vec![1, 2, 300], vec![2, 7], vec![300, 2, 9], vec![], vec![10]];
        let shared = Shared::build(keys.len(), &Keys(&keys), &Exec::default()).unwrap();
        let index = Index::build(keys.len(), &shared, |_| true).unwrap();
        let shared = |set: SetIndex| {
            let posting = |&o: &Occurrence| {
                let mut sets: Vec<SetIndex> = index.before(o).chain([set]).chain(index.after(o)).collect();
                sets.sort_unstable();
                let places = index.places_in(o, &(0..SetIndex::MAX >> 1));
                assert_eq!(places.map(|place| index.set_at(place)).collect::<Vec<_>>(), sets);
                (o.place(), sets)
            };
            let mut found: Vec<_> = index.occurrences(set).iter().map(posting).collect();
            found.sort();
            found
        };
        assert_eq!(shared(0), [(1, vec![0, 1, 2]), (2, vec![0, 2])]);
        assert_eq!(shared(1), [(0, vec![0, 1, 2])]);
        assert_eq!(shared(2), [(0, vec![0, 2]), (1, vec![0, 1, 2])]);
        assert!(shared(3).is_empty() && shared(4).is_empty());
    }
}
