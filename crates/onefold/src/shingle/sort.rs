//! Sorting a document's shingles: one scatter by their leading bits, which are uniform, then a pass that puts neighbours in order.
//!
//! Linear in the number of shingles. Repetitions are dropped by that pass at once, so a text that repeats itself
//! crowds no bucket; a text made to crowd them is handed to the comparison sort.

use super::eight::{Eight, MARGIN};
use super::hash::SHINGLE_BITS;

/// Below this many the comparison sort wins.
const FEW: usize = 32;
/// More bits would scatter over more memory than the cache has.
const MOST_BITS: u32 = 20;
/// From so many on a target gets room for them and no more.
const MANY: usize = 1 << 18;
/// Moves a value that insertions may take before a pass gives up.
pub(super) const PATIENCE: usize = 8;

/// The values of a document on their way into order; buffers are kept from document to document.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    /// Of this document, and behind them what others left.
    values: Vec<u64>,
    /// The same by their leading bits.
    scattered: Vec<u64>,
    /// How many values each bucket has; then, how many are before it.
    counts: Vec<u32>,
    /// How many values of its bucket came before a value.
    ranks: Vec<u32>,
    count: usize,
    eight: Eight,
}

impl Buckets {
    /// Bytes.
    pub(super) fn memory(&self) -> usize {
        let (values, counts) =
            (self.values.capacity() + self.scattered.capacity(), self.counts.capacity() + self.ranks.capacity());
        values * size_of::<u64>() + counts * size_of::<u32>()
    }

    /// Forgets all values; the caller writes `count` new ones.
    pub(super) fn fill(&mut self, count: usize) -> &mut [u64] {
        for buffer in [&mut self.values, &mut self.scattered] {
            if buffer.len() < count + MARGIN {
                buffer.resize(count + MARGIN, 0);
            }
        }
        self.count = count;
        &mut self.values[..count]
    }

    /// Appends the distinct values in order to `target`.
    pub(super) fn drain_into(&mut self, target: &mut Vec<u64>) {
        let sorted = self.sort();
        if sorted.len() > MANY {
            target.reserve_exact(sorted.len());
        }
        target.extend_from_slice(sorted);
    }

    /// The distinct values in order.
    fn sort(&mut self) -> &[u64] {
        if self.count < FEW {
            let distinct = sort_and_dedup(&mut self.values[..self.count]);
            return &self.values[..distinct];
        }
        self.scatter();
        if let Some(distinct) = self.eight.sort_nearly_sorted(&mut self.scattered, self.count, &mut self.values) {
            return &self.values[..distinct];
        }
        let distinct = sort_nearly_sorted(&mut self.scattered[..self.count]);
        &self.scattered[..distinct]
    }

    /// Orders the values by their leading bits.
    fn scatter(&mut self) {
        let Buckets { values, scattered, counts, ranks, count, .. } = self;
        let (values, scattered) = (&values[..*count], &mut scattered[..*count]);
        // One value a bucket or nearly: with fewer, adding up the counts costs more than the order it gives.
        let bits = (count.ilog2() + 1).min(MOST_BITS);
        counts.clear();
        counts.resize(1 << bits, 0);
        ranks.resize((*count).max(ranks.len()), 0);
        let bucket_of = |value: u64| (value >> (SHINGLE_BITS - bits)) as usize;
        for (&value, rank) in values.iter().zip(&mut *ranks) {
            let count = &mut counts[bucket_of(value)];
            *rank = *count;
            *count += 1;
        }
        let mut sum = 0;
        for count in &mut *counts {
            sum += std::mem::replace(count, sum);
        }
        // With ranks the counts are only read: no value waits for the one before it in its bucket.
        for (&value, &rank) in values.iter().zip(&*ranks) {
            scattered[(counts[bucket_of(value)] + rank) as usize] = value;
        }
    }
}

/// Values held back while others pass: one that has at most so many larger ones before it comes out in its place.
const HELD: usize = 3;

/// Sorts values that are near their places and moves the distinct ones to the front; says how many they are.
///
/// Each value passes those that are held back, which keep the larger of two, without a branch that could be guessed wrong. What
/// comes out is nearly always in order; the rest is inserted.
fn sort_nearly_sorted(values: &mut [u64]) -> usize {
    let mut patience = PATIENCE * values.len();
    let mut held = [0; HELD];
    // The first to come out are the zeros that stand for nothing; at the end, what is still held is pushed out.
    let count = values.len();
    let incoming = |values: &[u64], next: usize| if next < count { values[next] } else { u64::MAX };
    (0..HELD).for_each(|next| _ = pass(incoming(values, next), &mut held));
    let (mut distinct, mut last) = (0, u64::MAX);
    for next in HELD..count + HELD {
        let value = pass(incoming(values, next), &mut held);
        if value >= last {
            distinct += usize::from(value > last);
            values[distinct - 1] = value;
            last = value;
            continue;
        }
        patience = patience.saturating_sub(insert(value, values, &mut distinct));
        last = values[distinct - 1];
        if patience == 0 && next < count {
            values[distinct..distinct + HELD].copy_from_slice(&held);
            values.copy_within(next + 1.., distinct + HELD);
            let left = distinct + HELD + count - (next + 1);
            return sort_and_dedup(&mut values[..left]);
        }
    }
    distinct
}

#[inline(always)]
fn pass(mut value: u64, held: &mut [u64; HELD]) -> u64 {
    for held in held {
        (value, *held) = (value.min(*held), value.max(*held));
    }
    value
}

/// Puts a value among the first ones, which are in order, unless it is there; says how many are larger.
pub(super) fn insert(value: u64, values: &mut [u64], distinct: &mut usize) -> usize {
    let place = values[..*distinct].iter().rposition(|&before| before < value).map_or(0, |before| before + 1);
    let behind = *distinct - place;
    if behind == 0 || values[place] != value {
        values.copy_within(place..*distinct, place + 1);
        values[place] = value;
        *distinct += 1;
    }
    behind
}

fn sort_and_dedup(values: &mut [u64]) -> usize {
    values.sort_unstable();
    let mut distinct = 0;
    for next in 0..values.len() {
        if distinct == 0 || values[distinct - 1] != values[next] {
            values[distinct] = values[next];
            distinct += 1;
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::hash::mix;

    fn check(values: Vec<u64>) {
        let mut expected = values.clone();
        expected.sort_unstable();
        expected.dedup();
        for eight in [Eight::default(), Eight::idle()] {
            let mut found = vec![7];
            let mut buckets = Buckets { eight, ..Buckets::default() };
            // What an earlier document left must not show.
            buckets.fill(2 * values.len()).fill(u64::MAX);
            buckets.scattered.fill(3);
            buckets.fill(values.len()).copy_from_slice(&values);
            buckets.drain_into(&mut found);
            assert_eq!(found[0], 7, "what was there stays");
            assert_eq!(found[1..], expected, "{eight:?}");
        }
    }

    #[test]
    fn equals_the_comparison_sort() {
        for n in [0, 1, 2, 31, 32, 33, 1000, 70_000] {
            check((0..n).map(|i| mix(i) >> 3).collect());
            check((0..n).map(|i| mix(i % 97) >> 3).collect());
            check((0..n).map(|i| mix(i * i % 97) >> 3).collect());
            check(vec![42; n as usize]);
            check((0..n).map(|i| i % 2).collect());
            check((0..n).collect());
            check((0..n).rev().collect());
            check((0..n).map(|i| mix(i) >> 40).collect());
            check((0..n).map(|i| if i < n / 2 { mix(i) >> 3 } else { mix(i) >> 40 }).collect());
        }
    }
}
