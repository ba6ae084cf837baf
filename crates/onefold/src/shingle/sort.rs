//! Sorting a document's shingles: one scatter by their leading bits, which are uniform, then a short insertion pass.
//!
//! Linear in the number of shingles. Crowded buckets (a text that repeats itself) would make the
//! insertion pass quadratic, so they fall back to the comparison sort.

use super::hash::SHINGLE_BITS;

/// A bucket with more elements than this is sorted by comparison.
const CROWDED: u32 = 24;
/// Below this many the comparison sort wins.
const FEW: usize = 48;

/// Buffers for [`sort_and_dedup`], kept from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    starts: Vec<u32>,
    scattered: Vec<u64>,
}

/// Sorts `values` and drops repetitions.
pub fn sort_and_dedup(values: &mut Vec<u64>, scratch: &mut Scratch) {
    if values.len() < FEW || !scatter(values, scratch) {
        values.sort_unstable();
    } else {
        std::mem::swap(values, &mut scratch.scattered);
        insertion_sort(values);
    }
    values.dedup();
}

/// Orders `values` by their leading bits into `scratch.scattered`; says no where a bucket is crowded.
fn scatter(values: &[u64], scratch: &mut Scratch) -> bool {
    let bits = values.len().ilog2().min(20);
    let shift = SHINGLE_BITS - bits;
    let starts = &mut scratch.starts;
    starts.clear();
    starts.resize((1 << bits) + 1, 0);
    for value in values {
        starts[(value >> shift) as usize + 1] += 1;
    }
    if starts.iter().any(|&count| count > CROWDED) {
        return false;
    }
    let mut sum = 0;
    for start in starts.iter_mut() {
        sum += *start;
        *start = sum;
    }
    scratch.scattered.resize(values.len(), 0);
    for &value in values {
        let slot = &mut starts[(value >> shift) as usize];
        scratch.scattered[*slot as usize] = value;
        *slot += 1;
    }
    true
}

fn insertion_sort(values: &mut [u64]) {
    for end in 1..values.len() {
        let value = values[end];
        let mut at = end;
        while at > 0 && values[at - 1] > value {
            values[at] = values[at - 1];
            at -= 1;
        }
        values[at] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::hash::mix;

    fn check(values: Vec<u64>) {
        let mut expected = values.clone();
        expected.sort_unstable();
        expected.dedup();
        let mut found = values;
        sort_and_dedup(&mut found, &mut Scratch::default());
        assert_eq!(found, expected);
    }

    #[test]
    fn equals_the_comparison_sort() {
        for n in [0, 1, 2, 47, 48, 49, 1000, 70_000] {
            check((0..n).map(|i| mix(i) >> 3).collect());
            check((0..n).map(|i| mix(i % 97) >> 3).collect());
            check(vec![42; n as usize]);
            check((0..n).map(|i| i % 2).collect());
            check((0..n).collect());
        }
    }
}
