//! The index of join keys: postings of keys that at least two sets share.

use std::ops::Range;

use super::sets::SetIndex;
use super::shared::{Entry, Shared};
use crate::error::{Error, Result};
use crate::exec::Exec;

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
    /// Where long postings begin and end.
    long: Vec<(u32, u32)>,
    occurrences: Vec<Occurrence>,
    /// By set: where its occurrences begin, and where they end.
    ranges: Vec<(u32, u32)>,
}

impl Index {
    /// Bytes of an index of so many sets and shared keys.
    pub(super) fn bytes(count: usize, shared: u64) -> u64 {
        shared * (size_of::<Occurrence>() + size_of::<u32>()) as u64 + (count * size_of::<(u32, u32)>()) as u64
    }

    /// The index of the sets that are wanted.
    pub(super) fn build(shared: &Shared, exec: &Exec<'_>, wanted: impl Fn(SetIndex) -> bool + Sync) -> Result<Index> {
        // Room for every shared key of a wanted set; some are shared only with sets that are not.
        let mut len = 0u64;
        let range = |(set, &keys): (usize, &u32)| {
            let start = len;
            len += if wanted(set as SetIndex) { u64::from(keys) } else { 0 };
            (start as u32, start as u32)
        };
        let ranges: Vec<(u32, u32)> = shared.keys_of_sets().iter().enumerate().map(range).collect();
        if ranges.len() >= FIRST as usize || len > u32::MAX.into() {
            return Err(Error::TooLarge { what: "keys that documents share", limit: u32::MAX.into() });
        }
        let (postings, occurrences) = (Vec::with_capacity(len as usize), vec![Occurrence::default(); len as usize]);
        let mut index = Index { postings, long: Vec::new(), occurrences, ranges };
        shared.each_posting(exec, wanted, |posting| index.add(posting))?;
        Ok(index)
    }

    fn add(&mut self, posting: &[Entry]) {
        let is_long = posting.len() > SHORT_POSTING;
        if is_long {
            let start = self.postings.len() as u32;
            self.long.push((start, start + posting.len() as u32));
        }
        for (nth, entry) in posting.iter().enumerate() {
            let (_, end) = &mut self.ranges[entry.set as usize];
            let place = entry.place | if is_long { LONG } else { 0 };
            self.occurrences[*end as usize] = Occurrence { at: self.postings.len() as u32, place };
            *end += 1;
            self.postings.push(entry.set | if nth == 0 { FIRST } else { 0 });
        }
    }

    /// A set from the middle of each of the `count` longest postings.
    pub(super) fn crowded_sets(&self, count: usize) -> Vec<SetIndex> {
        let mut postings = self.long.clone();
        postings.sort_by_key(|(start, end)| std::cmp::Reverse(end - start));
        let middle = |&(start, end): &(u32, u32)| self.set_at((start as usize + end as usize) / 2);
        let mut sets: Vec<SetIndex> = postings.iter().take(count).map(middle).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// All sets.
    pub(super) fn sets(&self) -> Range<SetIndex> {
        0..self.ranges.len() as SetIndex
    }

    /// The keys of a set that others share.
    pub(super) fn occurrences(&self, set: SetIndex) -> &[Occurrence] {
        let (start, end) = self.ranges[set as usize];
        &self.occurrences[start as usize..end as usize]
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

    /// Places of the sets of a long posting whose numbers are in `range`, for [`Index::set_at`].
    pub(super) fn places_in(&self, occurrence: Occurrence, range: &Range<SetIndex>) -> Range<usize> {
        let posting = self.long.partition_point(|(start, _)| *start <= occurrence.at);
        let (start, end) = self.long[posting - 1];
        let first_from = |set: SetIndex| {
            let sets = &self.postings[start as usize..end as usize];
            start as usize + sets.partition_point(|entry| entry & !FIRST < set)
        };
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
    use super::super::shared::KeysOf;
    use super::*;

    struct Keys<'a>(&'a [Vec<u64>]);

    impl KeysOf for Keys<'_> {
        type Buffers = ();

        fn count(&self, set: SetIndex) -> u64 {
            self.0[set as usize].len() as u64
        }

        fn each(&self, sets: Range<SetIndex>, (): &mut (), mut look: impl FnMut(SetIndex, &[u64])) -> Result<()> {
            sets.for_each(|set| look(set, &self.0[set as usize]));
            Ok(())
        }

        fn is_held(&self) -> bool {
            true
        }
    }

    #[test]
    fn postings_hold_exactly_the_shared_keys() {
        let mut keys: Vec<Vec<u64>> = vec![vec![1, 2, 300], vec![2, 7], vec![300, 2, 9], vec![], vec![10]];
        // A posting that is searched instead of walked through.
        keys.extend(vec![vec![77]; SHORT_POSTING + 1]);
        let shared = Shared::build(keys.len(), &Keys(&keys), &Exec::default()).unwrap();
        let index = Index::build(&shared, &Exec::default(), |set| set != 6).unwrap();
        let shared = |set: SetIndex| {
            let posting = |&o: &Occurrence| {
                let mut sets: Vec<SetIndex> = index.before(o).chain([set]).chain(index.after(o)).collect();
                sets.sort_unstable();
                if o.is_long() {
                    let places = index.places_in(o, &(0..SetIndex::MAX >> 1));
                    assert_eq!(places.map(|place| index.set_at(place)).collect::<Vec<_>>(), sets);
                }
                (o.place(), sets)
            };
            let mut found: Vec<_> = index.occurrences(set).iter().map(posting).collect();
            found.sort();
            found
        };
        assert_eq!(shared(0), [(1, vec![0, 1, 2]), (2, vec![0, 2])]);
        assert_eq!(shared(1), [(0, vec![0, 1, 2])]);
        assert_eq!(shared(2), [(0, vec![0, 2]), (1, vec![0, 1, 2])]);
        assert!(shared(3).is_empty() && shared(4).is_empty() && shared(6).is_empty());
        let crowd: Vec<SetIndex> = [5].into_iter().chain(7..keys.len() as SetIndex).collect();
        assert_eq!(shared(9), [(0, crowd)]);
    }
}
