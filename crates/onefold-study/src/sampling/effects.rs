//! What other settings make of the same answer: the length of shingles (Y7), the bits of hashes (Y12), a collection cut into pieces (Y17).
//!
//! In: the true pairs of a collection, and the sets that another setting gives. Out: an [`Effect`] each, measured by these pairs. Invariant: pairs
//! of documents are compared, not of sets, so settings that tell more or fewer documents apart are measured alike. Cost: a join each; all pairs in
//! memory, so that low thresholds are left out where there are more than [`MOST_PAIRS`].

use onefold::{Error, Exec, HashSets, Threshold, sample_bound, sample_value};
use serde::Serialize;

use super::shelf::Shelf;
use super::trials::{Truth, close_pairs, reached};
use crate::bakeoff::MOST_PAIRS;

/// One in so many hashes is looked at to count distinct ones.
const DISTINCT_SAMPLE: u64 = 64;

/// Another setting beside the one that says what is true.
#[derive(Clone, Debug, Serialize)]
pub struct Effect {
    /// What it is.
    pub name: String,
    /// Shingles of all documents.
    pub shingles: u64,
    /// About how many different ones, from one in 64.
    pub distinct: u64,
    /// By threshold: pairs, and how many of them are pairs of the base setting.
    pub pairs: Vec<Agreement>,
}

/// Pairs of two settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Agreement {
    /// Of the base setting.
    pub truth: u64,
    /// Of the other one.
    pub found: u64,
    /// Of both.
    pub right: u64,
}

impl Agreement {
    /// The share of its pairs that are true.
    pub fn precision(&self) -> Option<f64> {
        (self.found > 0).then(|| self.right as f64 / self.found as f64)
    }

    /// The share of true pairs that it has.
    pub fn recall(&self) -> Option<f64> {
        (self.truth > 0).then(|| self.right as f64 / self.truth as f64)
    }
}

/// Pairs of documents, each once and in order, with the number of thresholds that they reach.
#[derive(Clone, Debug, Default)]
pub struct DocumentPairs(Vec<(u32, u32, u8)>);

impl DocumentPairs {
    /// The first of rising thresholds from which on there are not too many pairs of documents; nothing where there always are.
    pub fn lowest(truth: &Truth, thresholds: &[Threshold]) -> Option<usize> {
        let members = members(truth);
        let count = |set: u32| members[set as usize].len() as u64;
        let mut pairs = vec![0; thresholds.len() + 1];
        pairs[thresholds.len()] = (0..members.len() as u32).map(|set| count(set) * count(set).saturating_sub(1) / 2).sum();
        for pair in &truth.pairs {
            pairs[reached(thresholds, pair.overlap, truth.union(pair))] += count(pair.first) * count(pair.second);
        }
        from_the_top(pairs).iter().position(|&pairs| pairs <= MOST_PAIRS as u64)
    }

    /// All pairs of documents whose sets are equal, or reach the first threshold.
    pub fn new(truth: &Truth, thresholds: &[Threshold]) -> DocumentPairs {
        let members = members(truth);
        let mut pairs = Vec::new();
        for documents in &members {
            for (at, &a) in documents.iter().enumerate() {
                pairs.extend(documents[at + 1..].iter().map(|&b| (a, b, thresholds.len() as u8)));
            }
        }
        for pair in &truth.pairs {
            let reached = reached(thresholds, pair.overlap, truth.union(pair)) as u8;
            for &a in members[pair.first as usize].iter().filter(|_| reached > 0) {
                pairs.extend(members[pair.second as usize].iter().map(|&b| (a.min(b), a.max(b), reached)));
            }
        }
        pairs.sort_unstable();
        DocumentPairs(pairs)
    }

    /// How two settings agree at each of so many thresholds.
    fn agreement(&self, other: &DocumentPairs, thresholds: usize) -> Vec<Agreement> {
        let mut rest = other.0.iter().peekable();
        let mut both = vec![0u64; thresholds + 1];
        for &(a, b, ours) in &self.0 {
            while rest.next_if(|(x, y, _)| (*x, *y) < (a, b)).is_some() {}
            if let Some((_, _, theirs)) = rest.next_if(|(x, y, _)| (*x, *y) == (a, b)) {
                both[usize::from(ours.min(*theirs))] += 1;
            }
        }
        let (truth, found) = (self.by_threshold(thresholds), other.by_threshold(thresholds));
        let right = from_the_top(both);
        (0..thresholds).map(|at| Agreement { truth: truth[at], found: found[at], right: right[at] }).collect()
    }

    fn by_threshold(&self, thresholds: usize) -> Vec<u64> {
        let mut counts = vec![0; thresholds + 1];
        self.0.iter().for_each(|(.., reached)| counts[usize::from(*reached)] += 1);
        from_the_top(counts)
    }

    /// What is left of them where a collection is cut into pieces and each is looked at alone (Y17).
    pub fn in_pieces(&self, thresholds: usize, piece: impl Fn(u32) -> u32) -> Vec<Agreement> {
        let kept = self.0.iter().copied().filter(|&(a, b, _)| piece(a) == piece(b)).collect();
        self.agreement(&DocumentPairs(kept), thresholds)
    }
}

/// The documents that have each set; those without shingles are in no pair.
fn members(truth: &Truth) -> Vec<Vec<u32>> {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); truth.sets.len()];
    let with_shingles = (0..).zip(&truth.which).filter(|(_, set)| !truth.sets.get(**set as usize).is_empty());
    with_shingles.for_each(|(document, &set)| members[set as usize].push(document));
    members
}

/// From how many reach just so many thresholds to how many reach each.
fn from_the_top(mut counts: Vec<u64>) -> Vec<u64> {
    for at in (1..counts.len()).rev() {
        counts[at - 1] += counts[at];
    }
    counts.split_off(1)
}

/// Measures a setting by the sets that it gives the same documents.
pub fn effect(
    name: String,
    shelf: &Shelf,
    truth: &DocumentPairs,
    thresholds: &[Threshold],
    exec: &Exec<'_>,
) -> Result<Effect, Error> {
    let (sets, which) = shelf.sets.distinct();
    let found = Truth { pairs: close_pairs(&sets, thresholds[0], exec)?, sets, which };
    Ok(Effect {
        name,
        shingles: shelf.sets.total() as u64,
        distinct: distinct(&shelf.sets),
        pairs: truth.agreement(&DocumentPairs::new(&found, thresholds), thresholds.len()),
    })
}

/// About how many different hashes there are.
pub fn distinct(sets: &HashSets) -> u64 {
    let bound = sample_bound(1.0 / DISTINCT_SAMPLE as f64);
    let values = sets.iter().flatten().map(|&hash| sample_value(hash, 0)).filter(|&value| value < bound);
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.len() as u64 * DISTINCT_SAMPLE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(all: &[(u32, u32, u8)]) -> DocumentPairs {
        DocumentPairs(all.to_vec())
    }

    #[test]
    fn settings_agree_at_each_threshold() {
        let ours = pairs(&[(0, 1, 2), (0, 2, 1), (3, 4, 2)]);
        let theirs = pairs(&[(0, 1, 1), (1, 2, 2), (3, 4, 2)]);
        let agreement = ours.agreement(&theirs, 2);
        assert_eq!(agreement[0], Agreement { truth: 3, found: 3, right: 2 });
        assert_eq!(agreement[1], Agreement { truth: 2, found: 2, right: 1 });
        let halves = ours.in_pieces(2, |document| u32::from(document > 0));
        assert_eq!((halves[0].right, halves[1].recall()), (1, Some(0.5)), "only 3 and 4 stay together");
    }

    #[test]
    fn documents_with_equal_sets_are_pairs() {
        let mut shelf = Shelf::default();
        for set in [vec![1, 2, 3], vec![1, 2, 3], vec![1, 2, 3, 4], vec![]] {
            shelf.sets.push(set);
            shelf.words.push(3);
        }
        let thresholds: Vec<Threshold> = ["0.5", "0.8"].map(|t| t.parse().unwrap()).to_vec();
        let (sets, which) = shelf.sets.distinct();
        let pairs = close_pairs(&sets, thresholds[0], &Exec::default()).unwrap();
        let truth = Truth { sets, which, pairs };
        assert_eq!(DocumentPairs::lowest(&truth, &thresholds), Some(0));
        let truth = DocumentPairs::new(&truth, &thresholds);
        assert_eq!(truth.0, [(0, 1, 2), (0, 2, 1), (1, 2, 1)]);
        let same = effect("same".into(), &shelf, &truth, &thresholds, &Exec::default()).unwrap();
        assert!(same.pairs.iter().all(|agreement| agreement.precision() == Some(1.0) && agreement.recall() == Some(1.0)));
        assert_eq!(same.shingles, 10);
    }
}
