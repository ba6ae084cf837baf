//! Stage 8: candidate → measured pair.
//!
//! In: two shingle sets in one order. Out: the exact number of common shingles, or nothing where the threshold is out of
//! reach. Invariant: nothing counts as a duplicate that did not pass here. Cost: a merge that stops as soon as too many
//! shingles differ. Drops candidates below the threshold, which is what it is for.

mod compare;
pub mod diff;
pub mod edit;
mod intern;
pub mod passages;
pub mod simhash;
mod suffixes;
mod tie;

pub use compare::Comparison;
pub use tie::{Containment, Measure, Tie, TieKind};

use crate::shingle::{Recipe, set_of};
use crate::threshold::Threshold;

/// How alike two sets are, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Similarity {
    /// Common shingles.
    pub overlap: u32,
    /// Shingles in either.
    pub union: u64,
}

impl Similarity {
    /// Of equal sets.
    pub const ONE: Similarity = Similarity { overlap: 1, union: 1 };

    /// From the overlap of two sets of these sizes.
    pub fn new(overlap: u32, a: u32, b: u32) -> Self {
        Similarity { overlap, union: u64::from(a) + u64::from(b) - u64::from(overlap) }
    }

    /// Whether it is at least the threshold.
    pub fn reaches(self, threshold: Threshold) -> bool {
        threshold.reached(self.overlap, self.union)
    }

    /// Whether both sets are the same.
    pub fn is_one(self) -> bool {
        u64::from(self.overlap) == self.union
    }

    /// As a number, for tables.
    pub fn as_f64(self) -> f64 {
        f64::from(self.overlap) / self.union as f64
    }
}

impl PartialOrd for Similarity {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        let side = |overlap: u32, union: u64| u128::from(overlap) * u128::from(union);
        side(self.overlap, other.union).partial_cmp(&side(other.overlap, self.union))
    }
}

/// Steps of a merge between two looks at how many elements went without a partner.
const STRIDE: usize = 12;
/// Elements that are compared at once where sets may be equal for a while.
const RUN: usize = 4;

/// The number of common elements of two sorted sets, if it is at least `needed`.
pub fn overlap(a: &[u64], b: &[u64], needed: u32) -> Option<u32> {
    let needed = needed as usize;
    let spare_a = a.len().checked_sub(needed)?;
    if b.len() / GALLOP > a.len() {
        return overlap_with_large(a, b, spare_a).filter(|&common| common as usize >= needed);
    }
    merge(a, b, needed)
}

/// The number of common elements of two sorted sets.
pub fn common(a: &[u64], b: &[u64]) -> u32 {
    overlap(a, b, 0).unwrap_or(0)
}

/// The number of common elements of two sorted sets if it is at least `needed`, where `common` of them are known to be among the
/// first `seen` of each set, and none has a partner beyond.
pub fn overlap_after(a: &[u64], b: &[u64], seen: [usize; 2], common: u32, needed: u32) -> Option<u32> {
    let rest = merge(&a[seen[0]..], &b[seen[1]..], (needed as usize).saturating_sub(common as usize))?;
    Some(rest + common)
}

fn merge(a: &[u64], b: &[u64], needed: usize) -> Option<u32> {
    // So many elements of each may go without a partner.
    let spare_a = a.len().checked_sub(needed)?;
    let spare_b = b.len().checked_sub(needed)?;
    let mut rest = Rest { a, b, common: 0 };
    loop {
        rest.drop_runs();
        let done = !rest.stride();
        if a.len() - rest.a.len() - rest.common > spare_a || b.len() - rest.b.len() - rest.common > spare_b {
            return None;
        }
        if done {
            return (rest.common >= needed).then_some(rest.common as u32);
        }
    }
}

/// What is left of two sets while they are merged from both ends.
struct Rest<'a> {
    a: &'a [u64],
    b: &'a [u64],
    /// Common elements among those that are gone.
    common: usize,
}

impl Rest<'_> {
    /// Near-duplicates have long runs in common.
    #[inline(always)]
    fn drop_runs(&mut self) {
        while let (Some((x, a)), Some((y, b))) = (self.a.split_first_chunk::<RUN>(), self.b.split_first_chunk::<RUN>())
            && x == y
        {
            (self.a, self.b, self.common) = (a, b, self.common + RUN);
        }
        while let (Some((a, x)), Some((b, y))) = (self.a.split_last_chunk::<RUN>(), self.b.split_last_chunk::<RUN>())
            && x == y
        {
            (self.a, self.b, self.common) = (a, b, self.common + RUN);
        }
    }

    /// Some steps of the merge; says whether there are more to come.
    ///
    /// It is a coin toss which of two elements comes first, so nothing branches on it. But each step waits for the one before, and a
    /// step from the other end need not wait for either.
    #[inline(always)]
    fn stride(&mut self) -> bool {
        let (a, b) = (self.a, self.b);
        if a.len().min(b.len()) < 2 * STRIDE {
            return self.short_stride();
        }
        let (mut i, mut j, mut common) = (0, 0, 0);
        let (mut end_a, mut end_b) = (a.len(), b.len());
        for _ in 0..STRIDE {
            let (x, y) = (a[i], b[j]);
            common += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
            let (x, y) = (a[end_a - 1], b[end_b - 1]);
            common += usize::from(x == y);
            end_a -= usize::from(x >= y);
            end_b -= usize::from(y >= x);
        }
        (self.a, self.b) = (&a[i..end_a], &b[j..end_b]);
        self.common += common;
        true
    }

    /// The same from one end, near the end of either set.
    fn short_stride(&mut self) -> bool {
        let (a, b) = (self.a, self.b);
        let (mut i, mut j) = (0, 0);
        for _ in 0..STRIDE {
            let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) else { break };
            self.common += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        (self.a, self.b) = (&a[i..], &b[j..]);
        !self.a.is_empty() && !self.b.is_empty()
    }
}

/// From this ratio of sizes on, looking the elements of the smaller set up is cheaper than merging.
const GALLOP: usize = 8;

/// Looks the elements of `a` up in the much larger `b`; `None` once more than `spare` are not there.
fn overlap_with_large(a: &[u64], b: &[u64], mut spare: usize) -> Option<u32> {
    let mut rest = b;
    let mut common = 0;
    for &x in a {
        // Doubling steps from where the last one was found, then halving ones.
        let mut step = 1;
        while step < rest.len() && rest[step] < x {
            step *= 2;
        }
        let (from, to) = (step / 2, rest.len().min(step + 1));
        rest = &rest[from + rest[from..to].partition_point(|&y| y < x)..];
        if rest.first() == Some(&x) {
            common += 1;
        } else {
            spare = spare.checked_sub(1)?;
        }
    }
    Some(common)
}

/// The resemblance of two texts by their shingles; `None` where both have none.
pub fn resemblance(a: &str, b: &str, recipe: Recipe) -> Option<Similarity> {
    let (a, b) = (set_of(a, recipe), set_of(b, recipe));
    let similarity = Similarity::new(overlap(&a, &b, 0)?, a.len() as u32, b.len() as u32);
    (similarity.union > 0).then_some(similarity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_much_larger_set_is_searched(a in prop::collection::btree_set(0u64..3000, 0..8), b in prop::collection::btree_set(0u64..3000, 0..900), needed in 0u32..8) {
            let common = a.intersection(&b).count() as u32;
            let (a, b): (Vec<u64>, Vec<u64>) = (sorted(&a), sorted(&b));
            prop_assert_eq!(overlap(&a, &b, needed), (common >= needed).then_some(common));
        }

        #[test]
        fn merging_counts_what_sets_have_in_common(a in prop::collection::btree_set(0u64..120, 0..90), b in prop::collection::btree_set(0u64..120, 0..90), needed in 0u32..60) {
            let common = a.intersection(&b).count() as u32;
            let (a, b): (Vec<u64>, Vec<u64>) = (sorted(&a), sorted(&b));
            prop_assert_eq!(overlap(&a, &b, needed), (common >= needed).then_some(common));
        }
    }

    fn sorted(set: &BTreeSet<u64>) -> Vec<u64> {
        set.iter().copied().collect()
    }

    #[test]
    fn similarities_compare_exactly() {
        let third = Similarity { overlap: 1, union: 3 };
        assert!(third == Similarity { overlap: 1, union: 3 });
        assert!(Similarity { overlap: 333_333_333, union: 1_000_000_000 } < third);
        assert_eq!(third.partial_cmp(&Similarity { overlap: 2, union: 6 }), Some(std::cmp::Ordering::Equal));
    }
}
