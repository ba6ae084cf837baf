//! Sorting a document's shingles: one scatter by their leading bits, which are uniform, then a short insertion pass.
//!
//! Linear in the number of shingles. Repetitions are dropped by the insertion pass at once, so a text that repeats itself
//! crowds no bucket; a text made to crowd them is handed to the comparison sort.

use super::hash::SHINGLE_BITS;

/// Below this many the comparison sort wins.
const FEW: usize = 32;
/// More bits would scatter over more memory than the cache has.
const MOST_BITS: u32 = 20;
/// Moves a value that the insertion pass may take before it gives up.
const PATIENCE: usize = 8;

/// The values of a document on their way into order; buffers are kept from document to document.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    values: Vec<u64>,
    /// How many values each bucket has.
    counts: Vec<u32>,
    shift: u32,
}

impl Buckets {
    /// Forgets all values and expects about `count` new ones.
    pub(super) fn clear(&mut self, count: usize) {
        self.values.clear();
        self.values.reserve(count);
        // One or two values a bucket: with fewer, adding up the counts costs more than the order it gives.
        let bits = count.max(1).ilog2().min(MOST_BITS);
        self.shift = SHINGLE_BITS - bits;
        self.counts.clear();
        self.counts.resize(1 << bits, 0);
    }

    #[inline]
    pub(super) fn push(&mut self, value: u64) {
        self.values.push(value);
        self.counts[(value >> self.shift) as usize] += 1;
    }

    /// Appends the distinct values in order to `target`.
    pub(super) fn drain_into(&mut self, target: &mut Vec<u64>) {
        let start = target.len();
        if self.values.len() < FEW {
            self.values.sort_unstable();
            self.values.dedup();
            target.extend_from_slice(&self.values);
            return;
        }
        target.resize(start + self.values.len(), 0);
        self.scatter(&mut target[start..]);
        settle_neighbours(&mut target[start..]);
        let distinct = sort_nearly_sorted(&mut target[start..]);
        target.truncate(start + distinct);
    }

    /// Writes the values ordered by their leading bits.
    fn scatter(&mut self, target: &mut [u64]) {
        let mut sum = 0;
        for count in &mut self.counts {
            sum += std::mem::replace(count, sum);
        }
        for &value in &self.values {
            let slot = &mut self.counts[(value >> self.shift) as usize];
            target[*slot as usize] = value;
            *slot += 1;
        }
    }
}

/// Puts most values into order without a branch that could be guessed wrong: the larger of two neighbours is carried up, then the
/// smaller one down. The insertion pass that follows finds little to do.
fn settle_neighbours(values: &mut [u64]) {
    let Some(last) = values.len().checked_sub(1) else { return };
    let mut carried = values[0];
    for at in 0..last {
        let next = values[at + 1];
        values[at] = carried.min(next);
        carried = carried.max(next);
    }
    for at in (0..last).rev() {
        let next = values[at];
        values[at + 1] = carried.max(next);
        carried = carried.min(next);
    }
    values[0] = carried;
}

/// Sorts values that are near their places and moves the distinct ones to the front; says how many they are.
fn sort_nearly_sorted(values: &mut [u64]) -> usize {
    let mut patience = PATIENCE * values.len();
    let mut distinct = 0;
    for next in 0..values.len() {
        let value = values[next];
        if distinct == 0 || value > values[distinct - 1] {
            values[distinct] = value;
            distinct += 1;
            continue;
        }
        let mut place = distinct - 1;
        while place > 0 && values[place - 1] >= value {
            place -= 1;
        }
        patience = patience.saturating_sub(distinct - place);
        if values[place] != value {
            values.copy_within(place..distinct, place + 1);
            values[place] = value;
            distinct += 1;
        }
        if patience == 0 {
            values.copy_within(next + 1.., distinct);
            let left = distinct + values.len() - (next + 1);
            return sort_and_dedup(&mut values[..left]);
        }
    }
    distinct
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
        buckets.clear(values.len());
        values.into_iter().for_each(|value| buckets.push(value));
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
