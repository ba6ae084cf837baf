//! Sorting a document's shingles: one scatter by their leading bits, which are uniform, then a short insertion pass.
//!
//! Linear in the number of shingles. Repetitions are dropped by the insertion pass at once, so a text that repeats itself
//! crowds no bucket; a text made to crowd them is handed to the comparison sort.

use super::hash::SHINGLE_BITS;

/// Below this many the comparison sort wins.
const FEW: usize = 32;
/// More bits would scatter over more memory than the cache has.
const MOST_BITS: u32 = 20;
/// From so many on a target gets room for them and no more.
const MANY: usize = 1 << 18;
/// Moves a value that the insertion pass may take before it gives up.
const PATIENCE: usize = 8;

/// The values of a document on their way into order; buffers are kept from document to document.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    /// Of this document, and behind them what others left.
    values: Vec<u64>,
    /// The same by their leading bits.
    scattered: Vec<u64>,
    /// How many values each bucket has.
    counts: Vec<u32>,
    count: usize,
    shift: u32,
}

/// Takes in the values of a document. What it needs at each step fits into registers.
pub(super) struct Filling<'a> {
    slots: std::slice::IterMut<'a, u64>,
    counts: &'a mut [u32],
    shift: u32,
}

impl Filling<'_> {
    #[inline]
    pub(super) fn push(&mut self, value: u64) {
        if let Some(slot) = self.slots.next() {
            *slot = value;
            self.counts[(value >> self.shift) as usize] += 1;
        }
    }
}

impl Buckets {
    /// Bytes.
    pub(super) fn memory(&self) -> usize {
        (self.values.capacity() + self.scattered.capacity()) * size_of::<u64>() + self.counts.capacity() * size_of::<u32>()
    }

    /// Forgets all values and takes `count` new ones, no more and no fewer.
    pub(super) fn fill(&mut self, count: usize) -> Filling<'_> {
        for buffer in [&mut self.values, &mut self.scattered] {
            if buffer.len() < count {
                buffer.resize(count, 0);
            }
        }
        self.count = count;
        // One or two values a bucket: with fewer, adding up the counts costs more than the order it gives.
        let bits = count.max(1).ilog2().min(MOST_BITS);
        self.shift = SHINGLE_BITS - bits;
        self.counts.clear();
        self.counts.resize(1 << bits, 0);
        Filling { slots: self.values[..count].iter_mut(), counts: &mut self.counts, shift: self.shift }
    }

    /// Appends the distinct values in order to `target`.
    pub(super) fn drain_into(&mut self, target: &mut Vec<u64>) {
        let values = &self.values[..self.count];
        let sorted = &mut self.scattered[..self.count];
        let distinct = if self.count < FEW {
            sorted.copy_from_slice(values);
            sort_and_dedup(sorted)
        } else {
            scatter(values, &mut self.counts, self.shift, sorted);
            sort_nearly_sorted(sorted)
        };
        if distinct > MANY {
            target.reserve_exact(distinct);
        }
        target.extend_from_slice(&sorted[..distinct]);
    }
}

/// Writes the values ordered by their leading bits.
fn scatter(values: &[u64], counts: &mut [u32], shift: u32, scattered: &mut [u64]) {
    let mut sum = 0;
    for count in &mut *counts {
        sum += std::mem::replace(count, sum);
    }
    for &value in values {
        let slot = &mut counts[(value >> shift) as usize];
        scattered[*slot as usize] = value;
        *slot += 1;
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
        let place = values[..distinct].iter().rposition(|&before| before < value).map_or(0, |before| before + 1);
        patience = patience.saturating_sub(distinct - place);
        if place == distinct || values[place] != value {
            values.copy_within(place..distinct, place + 1);
            values[place] = value;
            distinct += 1;
        }
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
        let mut found = vec![7];
        let mut buckets = Buckets::default();
        let mut filling = buckets.fill(values.len());
        values.into_iter().for_each(|value| filling.push(value));
        buckets.drain_into(&mut found);
        assert_eq!(found[0], 7, "what was there stays");
        assert_eq!(found[1..], expected);
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
