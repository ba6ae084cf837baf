//! The index of join keys: postings of keys that at least two sets share, and where sets stand in them.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::postings::Postings;
use super::sets::SetIndex;
use super::tasks::{pieces, sums};

/// Postings by key, and the shared keys by set.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) postings: Arc<Postings>,
    /// Where sets stand in the postings of their keys, set by set.
    occurrences: Vec<u32>,
    /// By set: where its occurrences begin, and where they end.
    ranges: Vec<(u32, u32)>,
}

impl Index {
    /// Bytes of an index of so many sets, beside its postings, in which so many keys are looked up; also what it takes to make it.
    pub(super) fn bytes(count: usize, looked_up: u64) -> u64 {
        looked_up * size_of::<u32>() as u64 + (count * (size_of::<(u32, u32)>() + size_of::<u64>())) as u64
    }

    /// For those who look for partners of the sets that are `looking`; `keys` tells how many keys each of all `count` sets looks up at most.
    pub(super) fn new(
        postings: Arc<Postings>,
        count: usize,
        keys: impl Fn(SetIndex) -> u32,
        looking: impl Fn(SetIndex) -> bool + Sync,
    ) -> Index {
        let before = sums((0..count as SetIndex).map(|set| if looking(set) { keys(set).into() } else { 0 }));
        let mut ranges: Vec<(u32, u32)> = before[..count].iter().map(|&start| (start as u32, start as u32)).collect();
        let total = before[count];
        let mut occurrences = vec![0; total as usize];
        // Each thread looks for the occurrences of some sets in all postings.
        let part = total.div_ceil(rayon::current_num_threads() as u64).max(1);
        let mut parts = Vec::new();
        let (mut ranges_left, mut occurrences_left) = (ranges.as_mut_slice(), occurrences.as_mut_slice());
        for sets in pieces(&before, part, 0..count as SetIndex) {
            let (some_ranges, other_ranges) = ranges_left.split_at_mut(sets.len());
            let keys = before[sets.end as usize] - before[sets.start as usize];
            let (some, others) = occurrences_left.split_at_mut(keys as usize);
            (ranges_left, occurrences_left) = (other_ranges, others);
            if keys > 0 {
                parts.push((sets, some_ranges, some));
            }
        }
        parts.into_par_iter().for_each(|(sets, ranges, occurrences)| {
            let first = before[sets.start as usize] as u32;
            postings.each_looking(
                |set| sets.contains(&set) & looking(set),
                |set, at| {
                    let (_, end) = &mut ranges[(set - sets.start) as usize];
                    occurrences[(*end - first) as usize] = at;
                    *end += 1;
                },
            );
        });
        Index { postings, occurrences, ranges }
    }

    /// All sets.
    pub(super) fn sets(&self) -> Range<SetIndex> {
        0..self.ranges.len() as SetIndex
    }

    /// Where a set stands in the postings of the keys that it looks up.
    pub(super) fn occurrences(&self, set: SetIndex) -> &[u32] {
        let (start, end) = self.ranges[set as usize];
        &self.occurrences[start as usize..end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::postings::SHORT;
    use super::super::shared::Shared;
    use super::super::shared::tests::Keys;
    use super::*;
    use crate::exec::Exec;

    #[test]
    fn postings_hold_exactly_the_shared_keys() {
        let mut keys: Vec<Vec<u64>> = vec![vec![1, 2, 300], vec![2, 7], vec![300, 2, 9], vec![], vec![10]];
        // A posting that is searched instead of walked through.
        keys.extend(vec![vec![77]; SHORT + 1]);
        let shared = Shared::build(keys.len(), &Keys(&keys), &Exec::default()).unwrap();
        let index = shared.index(&Exec::default(), |_| true, |set| set != 6).unwrap();
        let shared = |set: SetIndex| {
            let posting = |&at: &u32| {
                let postings = &index.postings;
                let sets: Vec<SetIndex> = postings.before(at).chain([set]).chain(postings.after(at)).collect();
                let place = postings.is_long(at).then(|| postings.of_long(at, &(0..0)).0);
                (place, sets.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>())
            };
            let mut found: Vec<_> = index.occurrences(set).iter().map(posting).collect();
            found.sort();
            found
        };
        assert_eq!(shared(0), [(None, vec![0, 1, 2]), (None, vec![0, 2])]);
        assert_eq!(shared(1), [(None, vec![0, 1, 2])]);
        assert_eq!(shared(2), [(None, vec![0, 1, 2]), (None, vec![0, 2])]);
        assert!(shared(3).is_empty() && shared(4).is_empty() && shared(6).is_empty(), "nobody looks for partners of 6");
        assert_eq!(shared(9), [(Some(0), (5..keys.len() as SetIndex).collect())]);
    }
}
