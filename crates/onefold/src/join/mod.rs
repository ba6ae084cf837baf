//! Stage 7: join keys → verified pairs of distinct sets (stage 8 is called on each candidate as it is found).
//!
//! In: the distinct shingle sets and a method. Out: all pairs of sets that reach the threshold, or the partners of one set at a time. Invariant: the same pairs in the same order for
//! any number of threads. Cost: only keys shared by two sets are kept; probing costs the postings of a set's keys, less what
//! size and position rule out. Drops nothing that the method can find; memory is the limit.

mod contained;
mod index;
mod probe;
mod sets;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

pub use contained::contained_pairs;
pub use sets::{SetIndex, Sets};

use crate::cluster::Components;
use crate::document::Collection;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::fingerprint::Fingerprint;
use crate::learn::Model;
use crate::run::Stage;
use crate::threshold::Threshold;
use crate::verify::{Measure, Similarity};
use index::Index;
use probe::{Prober, Space};

/// Two distinct sets that reach the join's threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetPair {
    /// The smaller set (by size, then hash).
    pub first: SetIndex,
    /// The other.
    pub second: SetIndex,
    /// Common shingles.
    pub overlap: u32,
}

impl SetPair {
    /// Whether they belong together.
    pub fn accepted_by(&self, measure: Measure, sets: &Sets) -> bool {
        let size = |set: SetIndex| sets.sizes()[set as usize];
        measure.accepts(self.similarity(sets), size(self.first), size(self.second))
    }

    /// How alike they are.
    pub fn similarity(&self, sets: &Sets) -> Similarity {
        Similarity::new(self.overlap, sets.sizes()[self.first as usize], sets.sizes()[self.second as usize])
    }
}

/// Sets of this many are probed at a time.
const BLOCK: usize = 256;

/// Puts every distinct set into the model's order, rare shingles first.
pub fn order(collection: &mut Collection, sets: &Sets, model: &Model) {
    let mut by_arena = vec![Vec::new(); collection.arenas.len()];
    for set in sets.refs().iter().filter(|set| set.len > 0) {
        by_arena[set.arena as usize].push(set.start as usize..(set.start + set.len) as usize);
    }
    collection.arenas.par_iter_mut().zip(by_arena).for_each_init(Vec::new, |scratch, (arena, ranges)| {
        for range in ranges {
            model.order(&mut arena[range], scratch);
        }
    });
}

/// An index of the collection's distinct sets, ready to be probed.
pub struct Join<'a, F> {
    space: Space<'a, F>,
    sketches: Sketches,
    /// Counters that no thread uses at the moment.
    probers: Mutex<Vec<Prober>>,
}

/// The sketches of all sets, one after the other.
struct Sketches {
    all: Vec<u32>,
    len: usize,
}

impl Sketches {
    fn of(&self, set: SetIndex) -> &[u32] {
        &self.all[set as usize * self.len..(set as usize + 1) * self.len]
    }
}

impl<'a, F: Fingerprint> Join<'a, F> {
    /// Fingerprints every set and builds the index.
    pub fn new(collection: &'a Collection, sets: &'a Sets, method: &'a F, threshold: Threshold) -> Result<Self> {
        let shingles = |set: SetIndex| collection.shingles(sets.refs()[set as usize]);
        let sketches = sketch_all(sets, &shingles, method);
        let sketches = Sketches { len: sketches.len().checked_div(sets.len()).unwrap_or(0), all: sketches };
        let index = Index::build(sets.len(), |set, keys| method.keys(shingles(set), sketches.of(set), keys))?;
        Ok(Join { space: Space { collection, sets, index, method, threshold }, sketches, probers: Mutex::default() })
    }

    /// All pairs, sorted; an error once there are more than `limit`.
    pub fn all_pairs(&self, exec: &Exec<'_>, limit: u64) -> Result<Vec<SetPair>> {
        if self.provably_exceeds(exec, limit) {
            return Err(Error::TooManyPairs { limit });
        }
        let count = self.space.sets.len();
        let (cursor, found, stop) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let work = |prober: &mut Prober| {
            let mut pairs = Vec::new();
            loop {
                let first = cursor.fetch_add(BLOCK, Ordering::Relaxed);
                if first >= count || stop.load(Ordering::Relaxed) || exec.check().is_err() {
                    return pairs;
                }
                let block = first..count.min(first + BLOCK);
                exec.observer.advance(Stage::Join, block.len() as u64);
                for set in block {
                    let before = pairs.len();
                    self.probe_once(prober, set as SetIndex, |_| true, |pair| pairs.push(pair));
                    let new = (pairs.len() - before) as u64;
                    if new > 0 && found.fetch_add(new, Ordering::Relaxed) + new > limit {
                        stop.store(true, Ordering::Relaxed);
                        return pairs;
                    }
                }
            }
        };
        let mut pairs: Vec<SetPair> = rayon::broadcast(|_| self.with_prober(work)).concat();
        exec.check()?;
        if stop.into_inner() {
            return Err(Error::TooManyPairs { limit });
        }
        pairs.par_sort_unstable();
        Ok(pairs)
    }

    /// Looks for a crowd around one set: k sets that all are halfway between the threshold and 1 to it are k(k−1)/2 pairs, by the
    /// triangle inequality. Templates with millions of true pairs are so refused after a few probes, not after counting them.
    fn provably_exceeds(&self, exec: &Exec<'_>, limit: u64) -> bool {
        const CROWDS: usize = 8;
        if !self.space.method.finds_all() || (self.space.sets.len() as u64).pow(2) / 2 <= limit {
            return false;
        }
        let close = self.space.threshold.halfway_to_one();
        let crowds = self.partners_of(exec, &self.space.index.crowded_sets(CROWDS), |_, _| true);
        let pairs_around = |partners: &Vec<(SetIndex, Similarity)>| {
            let crowd = partners.iter().filter(|(_, similarity)| similarity.reaches(close));
            let reference = crowd.clone().filter(|(set, _)| self.space.sets.is_reference(*set)).count() as u64;
            let own = crowd.count() as u64 - reference;
            own * own.saturating_sub(1) / 2 + own * reference
        };
        crowds.iter().map(pairs_around).any(|pairs| pairs > limit)
    }

    /// Each pair once: every set looks for partners before it in the order of sizes. Sets of the reference look for none, so
    /// that it is never compared with itself, however large it is; others find them on both sides.
    fn probe_once(&self, prober: &mut Prober, set: SetIndex, wanted: impl Fn(SetIndex) -> bool, mut found: impl FnMut(SetPair)) {
        let (sets, mut partners) = (self.space.sets, self.space.partners(set));
        if !sets.has_reference() {
            partners.end = set;
        } else if sets.is_reference(set) {
            return;
        }
        let wanted = |partner: SetIndex| (partner < set || sets.is_reference(partner)) && wanted(partner);
        let pair = |partner: SetIndex, overlap| SetPair { first: set.min(partner), second: set.max(partner), overlap };
        prober.probe(&self.space, set, partners, wanted, |partner, overlap| found(pair(partner, overlap)));
    }

    /// For each set the smallest set that chains of pairs connect it with. Pairs are not stored, so there is no limit to them.
    pub fn components(&self, exec: &Exec<'_>) -> Result<Vec<SetIndex>> {
        let count = self.space.sets.len();
        let cursor = AtomicUsize::new(0);
        let work = |prober: &mut Prober| {
            let mut connected = Components::new(count);
            loop {
                let first = cursor.fetch_add(BLOCK, Ordering::Relaxed);
                if first >= count || exec.check().is_err() {
                    return connected;
                }
                for set in (first..count.min(first + BLOCK)).map(|set| set as SetIndex) {
                    let mut found = Vec::new();
                    let apart = |partner: SetIndex| connected.peek(set) != connected.peek(partner);
                    self.probe_once(prober, set, apart, |pair| found.push(pair));
                    found.into_iter().for_each(|pair| connected.join(pair.first, pair.second));
                }
                exec.observer.advance(Stage::Join, BLOCK as u64);
            }
        };
        let each = rayon::broadcast(|_| self.with_prober(work));
        exec.check()?;
        Ok(Components::unite(count, each))
    }

    /// The partners of each of `wanted`, of any size, that `useful(set, partner)` lets through.
    pub fn partners_of(
        &self,
        exec: &Exec<'_>,
        wanted: &[SetIndex],
        useful: impl Fn(SetIndex, SetIndex) -> bool + Sync,
    ) -> Vec<Vec<(SetIndex, Similarity)>> {
        let probe = |prober: &mut Prober, set: SetIndex| {
            let mut partners = Vec::new();
            let size = |s: SetIndex| self.space.sets.sizes()[s as usize];
            prober.probe(
                &self.space,
                set,
                self.space.partners(set),
                |partner| useful(set, partner),
                |partner, overlap| {
                    partners.push((partner, Similarity::new(overlap, size(set), size(partner))));
                },
            );
            partners
        };
        let cursor = AtomicUsize::new(0);
        let work = |prober: &mut Prober| {
            let mut found = Vec::new();
            loop {
                let at = cursor.fetch_add(1, Ordering::Relaxed);
                if at >= wanted.len() || exec.check().is_err() {
                    return found;
                }
                found.push((at, probe(prober, wanted[at])));
            }
        };
        let mut found: Vec<(usize, Vec<(SetIndex, Similarity)>)> = rayon::broadcast(|_| self.with_prober(work)).concat();
        found.sort_unstable_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, partners)| partners).collect()
    }

    /// What the method's sketches say of a pair.
    pub fn estimate(&self, a: SetIndex, b: SetIndex) -> Option<f64> {
        self.space.method.estimate(self.sketches.of(a), self.sketches.of(b))
    }

    /// Lends counters to `work`; they are as large as the collection, so they are kept from call to call.
    fn with_prober<T>(&self, work: impl FnOnce(&mut Prober) -> T) -> T {
        let idle = self.probers.lock().ok().and_then(|mut idle| idle.pop());
        let mut prober = idle.unwrap_or_else(|| Prober::new(self.space.sets.len()));
        let result = work(&mut prober);
        if let Ok(mut idle) = self.probers.lock() {
            idle.push(prober);
        }
        result
    }
}

fn sketch_all<'a, F: Fingerprint>(sets: &Sets, shingles: &(impl Fn(SetIndex) -> &'a [u64] + Sync), method: &F) -> Vec<u32> {
    let blocks: Vec<SetIndex> = (0..sets.len() as SetIndex).step_by(BLOCK).collect();
    let sketch_block = |&first: &SetIndex| {
        let mut sketch = Vec::new();
        for set in first..(sets.len() as SetIndex).min(first + BLOCK as SetIndex) {
            method.sketch(shingles(set), &mut sketch);
        }
        sketch
    };
    blocks.par_iter().map(sketch_block).collect::<Vec<_>>().concat()
}
