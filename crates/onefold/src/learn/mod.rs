//! Stage 5: shingle sets → statistics of the collection, frozen before anything uses them.
//!
//! In: the distinct shingle sets, or a sample of the files before they are read. Out: a [`Model`] that tells a shingle's frequency class.
//! Invariant: it depends on the inputs only, never on threads or arrival. Cost: one look at four million sampled shingles, or at
//! one in [`ONE_IN`] where that is more: what recurs in a small part of a large collection is as common there as it would be in a small one.
//! Drops nothing: classes only *order* shingles (rare ones first), and any fixed order gives the exact answer, so neither the
//! sample nor collisions in the table can change a result.

mod split;
mod words;

pub(crate) use words::Frequencies;

use std::collections::HashMap;

use rayon::prelude::*;

use crate::arenas::Arenas;
use crate::document::{Collection, ShingleRef};
use crate::error::Result;
use crate::exec::{Exec, Memory};
use crate::fingerprint::counted::term_of;
use crate::join::{Ordered, SetIndex, Sets, pieces, sums};
use crate::shingle::hash::SHINGLE_BITS;

/// Least and most counters: the fewer they are, the more of them stay in the cache.
const COUNTERS: std::ops::RangeInclusive<u64> = 1 << 22..=1 << 25;
/// Counters for each shingle that is counted; with fewer, rare ones are taken for common.
const PER_SHINGLE: u64 = 2;
/// Counters take no more than such a part of the memory.
const PART: u64 = 32;
/// Slots of a model at most: a bit for each should stay in the cache.
const SLOTS: usize = 1 << 23;
/// About so many shingles are counted at least.
const SAMPLE: u64 = 1 << 22;
/// And so many at most: a table of so many counters as there may be says nothing of more.
const MOST: u64 = *COUNTERS.end() / PER_SHINGLE;
/// About one in so many shingles is counted.
pub(crate) const ONE_IN: u64 = 64;
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
    /// A bit for each of them: whether it is not the first. They are few enough to stay in the cache.
    common: Vec<u64>,
}

/// A model while sets of a sample come.
pub(crate) struct Learning {
    counters: Vec<u8>,
}

impl Learning {
    /// For about so many shingles.
    pub(crate) fn new(shingles: u64, memory: Memory) -> Learning {
        let most = memory.limit().map_or(u64::MAX, |limit| limit / PART).clamp(*COUNTERS.start(), *COUNTERS.end());
        let counters = (shingles * PER_SHINGLE).clamp(*COUNTERS.start(), most);
        // Rounded up, unless that would be too many.
        let counters = if counters.next_power_of_two() <= most { counters.next_power_of_two() } else { 1 << counters.ilog2() };
        Learning { counters: vec![0; counters as usize] }
    }

    /// Counts the shingles of a set.
    pub(crate) fn count(&mut self, shingles: &[u64]) {
        let last = self.counters.len() - 1;
        for &shingle in shingles {
            let counter = &mut self.counters[shingle as usize & last];
            *counter = counter.saturating_add(1);
        }
    }

    /// What they say of all sets.
    pub(crate) fn finish(self) -> Model {
        self.in_slots(SLOTS)
    }

    /// The same in so many slots at most, as many as a power of two. Where counters share a slot the largest of them counts, and what was met only
    /// once counts for nothing: it is seldom common, and would soon fill the slots.
    fn in_slots(self, most: usize) -> Model {
        let mut slots = vec![0; most.min(self.counters.len())];
        let least = if slots.len() < self.counters.len() { 2 } else { 1 };
        for part in self.counters.chunks(slots.len()) {
            let counts = part.iter().map(|&count| if count < least { 0 } else { count });
            slots.iter_mut().zip(counts).for_each(|(slot, count)| *slot = count.max(*slot));
        }
        slots.iter_mut().for_each(|slot| *slot = class_of(*slot));
        Model::new(slots)
    }
}

impl Model {
    /// There are as many classes as a power of two.
    fn new(classes: Vec<Class>) -> Model {
        let bits = |classes: &[Class]| classes.iter().rev().fold(0, |bits, &class| bits << 1 | u64::from(class > 0));
        Model { common: classes.chunks(u64::BITS as usize).map(bits).collect(), classes }
    }

    /// Counts the shingles of a sample of sets, chosen by their content.
    pub fn learn(arenas: &Arenas, sets: &Sets, exec: &Exec<'_>) -> Result<Model> {
        let total: u64 = sets.refs().iter().map(|set| u64::from(set.len)).sum();
        let one_in = total.div_ceil((total / ONE_IN).clamp(SAMPLE, MOST)).max(1);
        let mut learning = Learning::new(total / one_in, exec.memory);
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
        const AT_LEAST: usize = 32;
        common.clear();
        let end = keys.len() + count.min(set.len());
        let mut rest = set;
        // Most are of the first class: often the rest need not be looked at.
        while keys.len() < end && !rest.is_empty() {
            let (some, others) = rest.split_at(rest.len().min(AT_LEAST.max(end - keys.len())));
            rest = others;
            let (first, first_common) = (keys.len(), common.len());
            keys.resize(first + some.len() + split::MARGIN, 0);
            common.resize(first_common + some.len() + split::MARGIN, 0);
            let rare = split::split(some, &self.common, &mut keys[first..], &mut common[first_common..]);
            keys.truncate((first + rare).min(end));
            common.truncate(first_common + some.len() - rare);
        }
        if keys.len() < end {
            self.classify(common);
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
        self.classes[shingle as usize & (self.classes.len() - 1)]
    }
}

/// The class that stands above a shingle.
#[inline]
fn class_in(key: u64) -> usize {
    (key >> SHINGLE_BITS) as usize
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
    fn counters_are_as_many_as_the_shingles_and_the_memory_ask_for() {
        let counters = |shingles: u64, memory: Memory| Learning::new(shingles, memory).counters.len();
        let little = Memory::parse("96MiB").unwrap();
        assert_eq!(counters(0, Memory::UNLIMITED), 1 << 22);
        assert_eq!(counters(3 << 20, Memory::UNLIMITED), 1 << 23);
        assert_eq!(counters(u64::MAX / 4, Memory::UNLIMITED), 1 << 25);
        assert_eq!(counters(u64::MAX / 4, Memory::parse("500MiB").unwrap()), 1 << 23);
        assert_eq!(counters(u64::MAX / 4, little), 1 << 22);
    }

    #[test]
    fn counters_that_share_a_slot_are_as_the_largest_of_them_and_single_ones_are_forgotten() {
        let counters = || vec![0, 1, 0, 3, 1, 2, 0, 1];
        let classes = |slots: usize| Learning { counters: counters() }.in_slots(slots).classes;
        assert_eq!(classes(8), counters());
        assert_eq!(classes(100), counters());
        assert_eq!(classes(4), [0, 2, 0, 3]);
    }

    #[test]
    fn ordering_is_a_sorted_permutation_with_rare_shingles_first() {
        let mut classes = vec![0; *COUNTERS.start() as usize];
        let last = classes.len() - 1;
        let set: Vec<u64> = (0..1001u64).map(|i| i * 7919).collect();
        for (i, &shingle) in set.iter().enumerate() {
            classes[shingle as usize & last] = (i % CLASSES) as Class;
        }
        let mut ordered = set.clone();
        let model = Model::new(classes);
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
