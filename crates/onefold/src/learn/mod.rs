//! Stage 5: shingle sets → statistics of the collection, frozen before anything uses them.
//!
//! In: the distinct shingle sets, or a sample of the files before they are read. Out: a [`Model`] that tells a shingle's frequency class.
//! Invariant: it depends on the inputs only, never on threads or arrival. Cost: one look at up to four million sampled shingles.
//! Drops nothing: classes only *order* shingles (rare ones first), and any fixed order gives the exact answer, so neither the
//! sample nor collisions in the table can change a result.

mod words;

pub(crate) use words::Frequencies;

use std::collections::HashMap;

use rayon::prelude::*;

use crate::arenas::Arenas;
use crate::document::{Collection, ShingleRef};
use crate::error::Result;
use crate::exec::Exec;
use crate::fingerprint::counted::term_of;
use crate::join::{Ordered, SetIndex, Sets, pieces, sums};
use crate::shingle::hash::SHINGLE_BITS;

/// Counters, small enough to stay in the cache.
const COUNTERS: usize = 1 << 22;
/// About so many shingles are counted.
const SAMPLE: u64 = 1 << 22;
/// About so many shingles are read together.
const TOGETHER: u64 = 1 << 18;

/// How common a shingle is, from 0 (not seen in the sample) to 7.
type Class = u8;
const CLASSES: usize = 8;

/// How many documents have each of the features that the method took.
pub(crate) fn feature_frequencies(collection: &Collection, sets: &Sets, ordered: &Ordered<'_>) -> Result<HashMap<u64, u32>> {
    let mut frequencies = HashMap::new();
    let mut buffer = Vec::new();
    for set in 0..sets.len() as SetIndex {
        let documents = sets.documents(set);
        for &feature in ordered.features(&collection.documents[documents[0] as usize], &mut buffer)? {
            *frequencies.entry(term_of(feature)).or_default() += documents.len() as u32;
        }
    }
    Ok(frequencies)
}

/// Statistics of a collection.
#[derive(Clone, Debug)]
pub struct Model {
    classes: Vec<Class>,
}

/// A model while sets of a sample come.
pub(crate) struct Learning {
    counters: Vec<u8>,
}

impl Default for Learning {
    fn default() -> Self {
        Learning { counters: vec![0; COUNTERS] }
    }
}

impl Learning {
    /// Counts the shingles of a set.
    pub(crate) fn count(&mut self, shingles: &[u64]) {
        for &shingle in shingles {
            let counter = &mut self.counters[slot(shingle)];
            *counter = counter.saturating_add(1);
        }
    }

    /// What they say of all sets.
    pub(crate) fn finish(mut self) -> Model {
        self.counters.iter_mut().for_each(|counter| *counter = class_of(*counter));
        Model { classes: self.counters }
    }
}

impl Model {
    /// Counts the shingles of a sample of sets, chosen by their content.
    pub fn learn(arenas: &Arenas, sets: &Sets, exec: &Exec<'_>) -> Result<Model> {
        let total: u64 = sets.refs().iter().map(|set| u64::from(set.len)).sum();
        let one_in = total.div_ceil(SAMPLE).max(1);
        let mut learning = Learning::default();
        let mut sample: Vec<ShingleRef> = sets.refs().iter().filter(|set| set.hash % one_in == 0).copied().collect();
        if arenas.are_far() {
            // Many at once, in the order in which they lie there.
            sample.sort_unstable_by_key(|set| (set.arena, set.start));
            let load = |set: &ShingleRef| {
                let mut shingles = Vec::new();
                arenas.load(*set, &mut shingles).map(|()| shingles)
            };
            let before = sums(sample.iter().map(|set| set.len.into()));
            exec.with_waiting(TOGETHER * size_of::<u64>() as u64, || {
                pieces(&before, TOGETHER, 0..sample.len() as SetIndex).try_for_each(|some| {
                    let some = &sample[some.start as usize..some.end as usize];
                    let loaded = some.par_iter().map(load).collect::<Result<Vec<_>>>()?;
                    loaded.iter().for_each(|shingles| learning.count(shingles));
                    exec.check()
                })
            })?;
        } else {
            let mut buffer = Vec::new();
            sample.iter().try_for_each(|set| arenas.set(*set, &mut buffer).map(|shingles| learning.count(shingles)))?;
        }
        Ok(learning.finish())
    }

    /// Puts a sorted set into the order of the join, rare shingles first: each becomes (class, hash).
    pub fn order(&self, set: &mut [u64], scratch: &mut Vec<u64>) {
        let mut starts = self.classify(set);
        let mut ends = starts;
        for class in 1..CLASSES {
            ends[class] += ends[class - 1];
        }
        for class in 0..CLASSES {
            starts[class] = ends[class] - starts[class];
        }
        scratch.clear();
        scratch.extend_from_slice(set);
        // Stable, so shingles of one class stay sorted. Most are of one class and each waits for the place of the one before; from
        // both ends at once there are two such chains instead of one.
        let mut keys = scratch.iter();
        while let Some(&key) = keys.next() {
            let start = &mut starts[class_in(key)];
            set[*start] = key;
            *start += 1;
            let Some(&key) = keys.next_back() else { break };
            let end = &mut ends[class_in(key)];
            *end -= 1;
            set[*end] = key;
        }
    }

    /// Appends the first `count` of a sorted set in that order. The set stays as it is.
    pub(crate) fn first_in_order(&self, set: &[u64], count: usize, keys: &mut Vec<u64>, common: &mut Vec<u64>) {
        common.clear();
        let end = keys.len() + count.min(set.len());
        for &shingle in set {
            // Most are of the first class: often the rest need not be looked at.
            if keys.len() == end {
                return;
            }
            let class = self.class(shingle);
            if class == 0 {
                keys.push(shingle);
            } else {
                common.push(u64::from(class) << SHINGLE_BITS | shingle);
            }
        }
        // They are sorted inside their classes, and one or two classes are enough most often.
        let mut class = 1;
        while keys.len() < end {
            let start = keys.len();
            keys.extend_from_slice(common);
            let mut next = start;
            for &key in &*common {
                keys[next] = key;
                next += usize::from(class_in(key) == class);
            }
            keys.truncate(next.min(end));
            class += 1;
        }
    }

    /// Puts its class above each shingle, and says how many there are of each class.
    fn classify(&self, set: &mut [u64]) -> [usize; CLASSES] {
        let mut counts = [0; CLASSES];
        // A byte for each class, all in one register.
        for part in set.chunks_mut(u8::MAX.into()) {
            let mut packed = 0u64;
            for shingle in part {
                let class = self.class(*shingle);
                packed += 1 << (u8::BITS * u32::from(class));
                *shingle |= u64::from(class) << SHINGLE_BITS;
            }
            for (count, part) in counts.iter_mut().zip(packed.to_le_bytes()) {
                *count += usize::from(part);
            }
        }
        counts
    }

    #[inline]
    fn class(&self, shingle: u64) -> Class {
        self.classes[slot(shingle)]
    }
}

/// The class that stands above a shingle.
#[inline]
fn class_in(key: u64) -> usize {
    (key >> SHINGLE_BITS) as usize
}

#[inline]
fn slot(shingle: u64) -> usize {
    shingle as usize & (COUNTERS - 1)
}

fn class_of(count: u8) -> Class {
    match count {
        0..=2 => count,
        3..=4 => 3,
        5..=8 => 4,
        9..=16 => 5,
        17..=64 => 6,
        _ => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordering_is_a_sorted_permutation_with_rare_shingles_first() {
        let mut classes = vec![0; COUNTERS];
        let set: Vec<u64> = (0..1001u64).map(|i| i * 7919).collect();
        for (i, &shingle) in set.iter().enumerate() {
            classes[slot(shingle)] = (i % CLASSES) as Class;
        }
        let mut ordered = set.clone();
        let model = Model { classes };
        model.order(&mut ordered, &mut Vec::new());
        for count in [0, 1, 100, 126, 127, 500, 1001, 2000] {
            let mut keys = vec![7];
            model.first_in_order(&set, count, &mut keys, &mut vec![9]);
            assert_eq!((keys[0], &keys[1..]), (7, &ordered[..count.min(set.len())]));
        }
        assert!(ordered.is_sorted());
        let mut back: Vec<u64> = ordered.iter().map(|key| key & ((1 << SHINGLE_BITS) - 1)).collect();
        back.sort_unstable();
        assert_eq!(back, set);
    }
}
