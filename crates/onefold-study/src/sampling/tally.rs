//! Counts of pairs by threshold and class.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// Pairs that reach each threshold, by class, in two ways: pairs inside a class (Y22), and all pairs, by the class of the smaller document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// By threshold, then class: both documents are of it.
    pub inside: Vec<Vec<u64>>,
    /// By threshold, then class: the smaller document is of it.
    pub smaller: Vec<Vec<u64>>,
}

impl Tally {
    /// Pairs inside classes at a threshold: of a class, or of all.
    pub fn inside(&self, threshold: usize, class: Option<usize>) -> u64 {
        pick(&self.inside[threshold], class)
    }

    /// Pairs whose smaller document is of a class, or all, at a threshold.
    pub fn smaller(&self, threshold: usize, class: Option<usize>) -> u64 {
        pick(&self.smaller[threshold], class)
    }
}

fn pick(classes: &[u64], class: Option<usize>) -> u64 {
    class.map_or_else(|| classes.iter().sum(), |class| classes[class])
}

/// Documents of each class that have each of some sets.
#[derive(Debug)]
pub(super) struct Members {
    classes: usize,
    counts: Vec<u32>,
}

impl Members {
    /// Of documents with one of the sets and a class each.
    pub(super) fn new(sets: usize, classes: usize, documents: impl Iterator<Item = (u32, usize)>) -> Members {
        let mut counts = vec![0; sets * classes];
        documents.for_each(|(set, class)| counts[set as usize * classes + class] += 1);
        Members { classes, counts }
    }

    fn of(&self, set: u32) -> impl Iterator<Item = (usize, u64)> + Clone {
        let start = set as usize * self.classes;
        let counts = self.counts[start..start + self.classes].iter();
        counts.enumerate().filter(|(_, count)| **count > 0).map(|(class, &count)| (class, u64::from(count)))
    }

    /// Calls `add` with classes and how many pairs of documents have theirs, for pairs of documents with two sets, or with one.
    pub(super) fn each_pair(&self, a: u32, b: u32, mut add: impl FnMut(usize, usize, u64)) {
        for (first, many) in self.of(a) {
            for (second, others) in self.of(b) {
                let pairs = match (a == b, first.cmp(&second)) {
                    (false, _) | (true, std::cmp::Ordering::Less) => many * others,
                    (true, std::cmp::Ordering::Equal) => many * (many - 1) / 2,
                    (true, std::cmp::Ordering::Greater) => 0,
                };
                if pairs > 0 {
                    add(first, second, pairs);
                }
            }
        }
    }
}

/// A tally that several threads add to.
pub(super) struct Counter {
    thresholds: usize,
    classes: usize,
    /// By thresholds reached, then class; once inside, once by the smaller document.
    counts: Vec<AtomicU64>,
}

impl Counter {
    pub(super) fn new(thresholds: usize, classes: usize) -> Counter {
        let counts = (0..2 * (thresholds + 1) * classes).map(|_| AtomicU64::new(0)).collect();
        Counter { thresholds, classes, counts }
    }

    /// Counts pairs that reach the first so many thresholds.
    pub(super) fn add(&self, reached: usize, first: usize, second: usize, pairs: u64) {
        let at = reached * self.classes;
        let half = (self.thresholds + 1) * self.classes;
        if first == second {
            self.counts[at + first].fetch_add(pairs, Ordering::Relaxed);
        }
        self.counts[half + at + first.min(second)].fetch_add(pairs, Ordering::Relaxed);
    }

    /// Those that reach each threshold are those that reach it and no other, and those that reach the next.
    pub(super) fn finish(self) -> Tally {
        let half = (self.thresholds + 1) * self.classes;
        let side = |from: usize| {
            let mut rows = vec![vec![0; self.classes]; self.thresholds];
            let mut sums = vec![0; self.classes];
            for threshold in (0..self.thresholds).rev() {
                for (class, sum) in sums.iter_mut().enumerate() {
                    *sum += self.counts[from + (threshold + 1) * self.classes + class].load(Ordering::Relaxed);
                }
                rows[threshold].clone_from(&sums);
            }
            rows
        };
        Tally { inside: side(0), smaller: side(half) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_by_class_and_threshold() {
        // Set 0: two documents of class 0 and one of class 1; set 1: one of class 1.
        let members = Members::new(2, 2, [(0, 0), (0, 0), (0, 1), (1, 1)].into_iter());
        let counter = Counter::new(3, 2);
        members.each_pair(0, 0, |first, second, pairs| counter.add(3, first, second, pairs));
        members.each_pair(0, 1, |first, second, pairs| counter.add(1, first, second, pairs));
        let tally = counter.finish();
        assert_eq!(tally.smaller, [[5, 1], [3, 0], [3, 0]], "1 inside class 0, 2 across, then 2 across and 1 inside class 1");
        assert_eq!(tally.inside, [[1, 1], [1, 0], [1, 0]]);
        assert_eq!((tally.smaller(0, None), tally.inside(2, Some(0))), (6, 1));
    }
}
