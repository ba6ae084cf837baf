//! Stage 5: shingle sets → statistics of the collection, frozen before anything uses them.
//!
//! In: the distinct shingle sets. Out: a [`Model`] that tells a shingle's frequency class. Invariant: it depends on the
//! collection's content only, never on threads or arrival. Cost: one look at up to four million sampled shingles.
//! Drops nothing: classes only *order* shingles (rare ones first), and any fixed order gives the exact answer, so neither the
//! sample nor collisions in the table can change a result.

use crate::document::Collection;
use crate::error::Result;
use crate::join::Sets;
use crate::shingle::hash::SHINGLE_BITS;

/// Counters, small enough to stay in the cache.
const COUNTERS: usize = 1 << 22;
/// About so many shingles are counted.
const SAMPLE: u64 = 1 << 22;

/// How common a shingle is, from 0 (not seen in the sample) to 7.
type Class = u8;
const CLASSES: usize = 8;

/// Statistics of a collection.
#[derive(Debug)]
pub struct Model {
    classes: Vec<Class>,
}

impl Model {
    /// Counts the shingles of a sample of sets, chosen by their content.
    pub fn learn(collection: &Collection, sets: &Sets) -> Result<Model> {
        let total: u64 = sets.refs().iter().map(|set| u64::from(set.len)).sum();
        let one_in = total.div_ceil(SAMPLE).max(1);
        let mut counters = vec![0u8; COUNTERS];
        let mut buffer = Vec::new();
        for set in sets.refs().iter().filter(|set| set.hash % one_in == 0) {
            for &shingle in collection.shingles(*set, &mut buffer)? {
                let counter = &mut counters[slot(shingle)];
                *counter = counter.saturating_add(1);
            }
        }
        for counter in &mut counters {
            *counter = class_of(*counter);
        }
        Ok(Model { classes: counters })
    }

    /// Puts a sorted set into the order of the join, rare shingles first: each becomes (class, hash).
    pub fn order(&self, set: &mut [u64], scratch: &mut Vec<u64>) {
        let mut starts = [0usize; CLASSES + 1];
        scratch.clear();
        scratch.extend(set.iter().map(|&shingle| {
            let class = self.class(shingle);
            starts[usize::from(class) + 1] += 1;
            u64::from(class) << SHINGLE_BITS | shingle
        }));
        for class in 0..CLASSES {
            starts[class + 1] += starts[class];
        }
        // Stable, so shingles of one class stay sorted.
        for &key in scratch.iter() {
            let at = &mut starts[(key >> SHINGLE_BITS) as usize];
            set[*at] = key;
            *at += 1;
        }
    }

    #[inline]
    fn class(&self, shingle: u64) -> Class {
        self.classes[slot(shingle)]
    }
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
        let set: Vec<u64> = (0..1000u64).map(|i| i * 7919).collect();
        for (i, &shingle) in set.iter().enumerate() {
            classes[slot(shingle)] = (i % CLASSES) as Class;
        }
        let mut ordered = set.clone();
        Model { classes }.order(&mut ordered, &mut Vec::new());
        assert!(ordered.is_sorted());
        let mut back: Vec<u64> = ordered.iter().map(|key| key & ((1 << SHINGLE_BITS) - 1)).collect();
        back.sort_unstable();
        assert_eq!(back, set);
    }
}
