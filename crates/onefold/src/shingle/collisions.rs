//! How many different chunks look the same where hashes have few bits (Y12), measured beside a hash of many bits.
//!
//! Once there are too many to remember, only the hashes with a fixed remainder are: chunks that look the same stay or go together, so the
//! pairs among those that stay are a sample of all. Which ones stay depends on what there is to count, not on who counts it or when.

use std::collections::HashSet;

use crate::document::CollisionCounts;

/// Chunks that are remembered.
const MOST: usize = 1 << 17;
/// Of how many hashes one stays at least.
const RAREST: u64 = 1 << 32;

/// Different chunks, each with its hash of few bits.
#[derive(Debug)]
pub(crate) struct Collisions {
    bits: u32,
    most: usize,
    one_in: u64,
    /// The hash of few bits, and one of many.
    seen: HashSet<(u64, u64)>,
}

impl Collisions {
    /// Of hashes of so many bits.
    pub(crate) fn new(bits: u32) -> Collisions {
        Collisions { bits, most: MOST, one_in: 1, seen: HashSet::new() }
    }

    /// Adds chunks by their hashes of few bits and of many.
    pub(crate) fn add(&mut self, chunks: impl Iterator<Item = (u64, u64)>) {
        for chunk in chunks {
            if chunk.0 % self.one_in == 0 && self.seen.insert(chunk) {
                self.thin();
            }
        }
    }

    /// Adds what was seen elsewhere.
    pub(crate) fn and(self, other: Collisions) -> Collisions {
        let (mut rarer, other) = if self.one_in < other.one_in { (other, self) } else { (self, other) };
        rarer.add(other.seen.into_iter());
        rarer
    }

    fn thin(&mut self) {
        while self.seen.len() > self.most && self.one_in < RAREST {
            self.one_in *= 2;
            self.seen.retain(|(few, _)| few % self.one_in == 0);
        }
    }

    /// What was measured, for all chunks.
    pub(crate) fn counts(&self) -> CollisionCounts {
        let mut few: Vec<u64> = self.seen.iter().map(|(few, _)| *few).collect();
        few.sort_unstable();
        let pairs: u64 = few.chunk_by(|a, b| a == b).map(|same| same.len() as u64).map(|n| n * (n - 1) / 2).sum();
        let shingles = few.len() as u64 * self.one_in;
        CollisionCounts {
            bits: self.bits,
            shingles,
            expected: (shingles as f64).powi(2) / 2f64.powi(self.bits as i32 + 1),
            measured: pairs * self.one_in,
            one_in: self.one_in,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::hash::mix;

    /// Hashes of so few bits that many collide.
    fn chunks(numbers: std::ops::Range<u64>) -> impl Iterator<Item = (u64, u64)> {
        numbers.map(|n| (mix(mix(n) >> 48) >> 3, n))
    }

    #[test]
    fn few_are_counted_and_many_are_sampled() {
        let count = |most: usize, of: u64| {
            let mut all = Collisions { most, ..Collisions::new(16) };
            // Some come twice.
            all.add(chunks(0..of).chain(chunks(0..of / 2)));
            all.counts()
        };
        let exact = count(usize::MAX, 20_000);
        assert_eq!((exact.one_in, exact.shingles), (1, 20_000));
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.15;
        assert!(near(exact.measured as f64, exact.expected), "{exact:?}");
        let sampled = count(3000, 20_000);
        assert_eq!(sampled.one_in, 8);
        assert!(near(sampled.measured as f64, exact.measured as f64) && near(sampled.shingles as f64, 20_000.0), "{sampled:?}");
    }

    #[test]
    fn it_does_not_matter_who_counts() {
        let part = |numbers: std::ops::Range<u64>| {
            let mut part = Collisions { most: 1000, ..Collisions::new(16) };
            part.add(chunks(numbers));
            part
        };
        let whole = part(0..20_000).counts();
        assert_eq!(part(0..500).and(part(300..20_000)).counts(), whole);
        assert_eq!(part(5_000..20_000).and(part(0..12_000)).counts(), whole);
    }
}
