//! Sets of hashes without documents around them, for those who study samples of shingles: stages 5 to 8 on their own.
//!
//! In: sets, and a threshold. Out: every pair of sets that reaches it, as it is found. Invariant: the same pairs, in any order, for any number
//! of threads. Cost: that of the exact join, in memory. Drops empty sets, which are never compared.

use crate::arenas::{Arena, Arenas};
use crate::document::ShingleRef;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::fingerprint::{Common, Exact};
use crate::join::{Bar, Beside, Join, Ordered, Sets};
use crate::learn::Model;
use crate::shingle::hash::SHINGLE_BITS;
use crate::shingle::set_hash;
use crate::threshold::Threshold;
use crate::verify;

/// Sets of hashes, one after the other.
#[derive(Debug, Default)]
pub struct HashSets {
    hashes: Vec<u64>,
    ends: Vec<usize>,
}

/// Two of them, by number, and how many hashes they have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CloseSets {
    /// The smaller number.
    pub first: u32,
    /// The larger number.
    pub second: u32,
    /// Common hashes.
    pub overlap: u32,
}

impl HashSets {
    /// Adds a set: distinct hashes of 61 bits, rising.
    pub fn push(&mut self, set: impl IntoIterator<Item = u64>) {
        let start = self.hashes.len();
        self.hashes.extend(set);
        debug_assert!(self.hashes[start..].is_sorted_by(|a, b| a < b), "rising");
        debug_assert!(self.hashes[start..].iter().all(|hash| hash >> SHINGLE_BITS == 0), "of 61 bits");
        self.ends.push(self.hashes.len());
    }

    /// Adds all sets of another.
    pub fn append(&mut self, other: &HashSets) {
        let before = self.hashes.len();
        self.hashes.extend_from_slice(&other.hashes);
        self.ends.extend(other.ends.iter().map(|end| before + end));
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Hashes of all sets.
    pub fn total(&self) -> usize {
        self.hashes.len()
    }

    /// A set.
    pub fn get(&self, set: usize) -> &[u64] {
        let start = if set == 0 { 0 } else { self.ends[set - 1] };
        &self.hashes[start..self.ends[set]]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.len()).map(|set| self.get(set))
    }

    /// How many hashes two sets have in common.
    pub fn common(a: &[u64], b: &[u64]) -> u32 {
        verify::common(a, b)
    }

    /// Each distinct set once, and which of them every set is.
    pub fn distinct(&self) -> (HashSets, Vec<u32>) {
        let hashes: Vec<u64> = self.iter().map(set_hash).collect();
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        let content = |set: u32| (self.get(set as usize).len(), hashes[set as usize], self.get(set as usize), set);
        order.sort_unstable_by(|&a, &b| content(a).cmp(&content(b)));
        let (mut distinct, mut which) = (HashSets::default(), vec![0; self.len()]);
        for alike in order.chunk_by(|&a, &b| content(a).0 == content(b).0 && self.get(a as usize) == self.get(b as usize)) {
            alike.iter().for_each(|&set| which[set as usize] = distinct.len() as u32);
            distinct.push(self.get(alike[0] as usize).iter().copied());
        }
        (distinct, which)
    }

    /// Calls `found` with every pair of sets that reaches the threshold, from several threads. Equal sets are a pair like others: where there
    /// are many of one kind, let one stand for all.
    pub fn each_close_pair(self, threshold: Threshold, exec: &Exec<'_>, found: impl Fn(CloseSets) + Sync + Send) -> Result<()> {
        exec.pool()?.install(|| self.join(threshold, exec, found))
    }

    fn join(self, threshold: Threshold, exec: &Exec<'_>, found: impl Fn(CloseSets) + Sync + Send) -> Result<()> {
        let mut refs = Vec::with_capacity(self.len());
        let mut start = 0;
        for &end in &self.ends {
            let [from, to] = [start, end].map(|place| u32::try_from(place).map_err(|_| too_many()));
            let (from, to) = (from?, to?);
            let hash = set_hash(&self.hashes[start..end]);
            refs.push(ShingleRef { arena: 0, start: from, len: to - from, hash });
            start = end;
        }
        let sets = Sets::of_refs(&refs);
        let arenas = Arenas::new(vec![Arena::Held(self.hashes)], None, None);
        let model = Model::learn(&arenas, &sets, exec)?;
        let ordered = Ordered::new(arenas, &sets, Some(model), None::<fn(u32) -> u32>, exec)?;
        let (common, method) = (Common::default(), Exact::new(threshold));
        let beside = Beside { common: &common, documents: &[] };
        let bar = Bar { threshold: Some(threshold), edits: None };
        let join = Join::new(&sets, &ordered, beside, &method, bar, exec)?;
        join.each_pair(exec, |pair| {
            let [a, b] = [pair.first, pair.second].map(|set| sets.documents(set)[0]);
            found(CloseSets { first: a.min(b), second: a.max(b), overlap: pair.overlap });
        })
    }
}

fn too_many() -> Error {
    Error::Bug("more than four thousand million hashes in one join".into())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::shingle::hash::mix;

    #[test]
    fn every_close_pair_is_found_once() {
        let mut sets = HashSets::default();
        let mut plain: Vec<Vec<u64>> = Vec::new();
        for at in 0..300u64 {
            // Families of sets that drift apart, and a few equal and empty ones.
            let (family, step) = (at % 7, at / 14);
            let mut set: Vec<u64> = (step..step + 3 + family * 9).map(|n| mix(n * 8 + family) >> 3).collect();
            set.sort_unstable();
            sets.push(set.iter().copied());
            plain.push(set);
        }
        sets.push([]);
        plain.push(Vec::new());
        let (distinct, which) = sets.distinct();
        assert!(distinct.len() < sets.len(), "some are equal");
        assert!((0..sets.len()).all(|set| sets.get(set) == distinct.get(which[set] as usize)));
        for threshold in ["0.5", "0.8", "1"] {
            let threshold: Threshold = threshold.parse().unwrap();
            let mut expected = Vec::new();
            for (b, second) in plain.iter().enumerate().filter(|(_, set)| !set.is_empty()) {
                for (a, first) in plain[..b].iter().enumerate() {
                    let common = verify::common(first, second);
                    if threshold.reached(common, (first.len() + second.len()) as u64 - u64::from(common)) {
                        expected.push(CloseSets { first: a as u32, second: b as u32, overlap: common });
                    }
                }
            }
            let mut copy = HashSets::default();
            copy.append(&sets);
            let found = Mutex::new(Vec::new());
            copy.each_close_pair(threshold, &Exec::default(), |pair| found.lock().unwrap().push(pair)).unwrap();
            let mut found = found.into_inner().unwrap();
            found.sort_unstable();
            expected.sort_unstable();
            assert!(expected.len() > 100);
            assert_eq!(found, expected);
        }
    }
}
