//! The first pass: counting, and choosing the clusters that are shown.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::gather::Gathering;
use super::row::DocumentRow;
use super::skips::{Skip, Skips};
use super::tally::{Share, Tally};
use super::top::Top;
use super::{Facts, SHOWN_CLUSTERS};

/// Counts everything the page shows, in memory that does not grow with the collection.
#[derive(Debug)]
pub struct Collector {
    facts: Facts,
    totals: Totals,
    /// Clusters seen, where a reference may name them.
    clusters: HashSet<String>,
    largest: Top<Reverse<u64>>,
    doubtful: Top<f64>,
}

/// What was counted.
#[derive(Debug, Default)]
pub struct Totals {
    /// By source.
    pub sources: Tally,
    /// By type.
    pub types: Tally,
    /// By host, for documents that have an address.
    pub hosts: Tally,
    /// How alike the listed pairs are.
    pub pairs: Similarities,
    /// Clusters of two and more, by size.
    pub sizes: Sizes,
    /// What was left out or remarked on.
    pub skips: Skips,
}

/// Bins of similarity below 1.
pub const BINS: usize = 100;

/// A histogram of the pairs.
#[derive(Debug)]
pub struct Similarities {
    /// Pairs at or above the threshold, by hundredths.
    pub accepted: [u64; BINS],
    /// Pairs below it, by hundredths.
    pub rejected: [u64; BINS],
    /// Pairs of similarity 1.
    pub ones: u64,
}

impl Default for Similarities {
    fn default() -> Self {
        Similarities { accepted: [0; BINS], rejected: [0; BINS], ones: 0 }
    }
}

/// Upper ends of the size classes; one class more has all larger ones.
const SIZE_CLASSES: [u64; 9] = [2, 3, 4, 5, 10, 20, 50, 100, 1000];

/// Clusters by size.
#[derive(Debug, Default)]
pub struct Sizes {
    clusters: [u64; SIZE_CLASSES.len() + 1],
    documents: [u64; SIZE_CLASSES.len() + 1],
}

impl Sizes {
    fn add(&mut self, size: u64) {
        let class = SIZE_CLASSES.partition_point(|&most| most < size);
        self.clusters[class] += 1;
        self.documents[class] += size;
    }

    /// Name, clusters and documents of every class up to the last that is not empty.
    pub fn classes(&self) -> Vec<(String, u64, u64)> {
        let used = self.clusters.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        (0..used).map(|class| (class_name(class), self.clusters[class], self.documents[class])).collect()
    }
}

fn class_name(class: usize) -> String {
    let from = if class == 0 { 2 } else { SIZE_CLASSES[class - 1] + 1 };
    match SIZE_CLASSES.get(class) {
        Some(&to) if to == from => format!("{to} documents"),
        Some(to) => format!("{from} to {to} documents"),
        None => format!("more than {} documents", from - 1),
    }
}

impl Collector {
    /// Nothing counted yet.
    pub fn new(facts: Facts) -> Self {
        let (largest, doubtful) = (Top::new(SHOWN_CLUSTERS), Top::new(SHOWN_CLUSTERS));
        Collector { facts, totals: Totals::default(), clusters: HashSet::new(), largest, doubtful }
    }

    /// Counts a document; every document must come once.
    pub fn document(&mut self, row: &DocumentRow<'_>) {
        let exact = row.relation == Some("exact");
        let share = Share { documents: 1, exact: u64::from(!row.keep && exact), near: u64::from(!row.keep && !exact) };
        self.totals.sources.add(row.source, share);
        self.totals.types.add(row.kind, share);
        if let Some(host) = row.host {
            self.totals.hosts.add(host, share);
        }
        if row.cluster_size < 2 {
            return;
        }
        self.largest.offer(Reverse(row.cluster_size), row.cluster_id);
        if self.is_new_cluster(row) {
            self.totals.sizes.add(row.cluster_size);
        }
        // What equals its representative is beyond doubt.
        if !row.keep && row.similarity < 1.0 {
            self.doubtful.offer(row.similarity, row.cluster_id);
        }
    }

    /// A cluster is counted with the row that names it, or with its first row where it may be named by a document of the reference.
    fn is_new_cluster(&mut self, row: &DocumentRow<'_>) -> bool {
        match self.facts.counts.reference {
            None => row.id == row.cluster_id,
            Some(_) => self.clusters.insert(row.cluster_id.into()),
        }
    }

    /// Counts a listed pair.
    pub fn pair(&mut self, resemblance: f64, accepted: bool) {
        let pairs = &mut self.totals.pairs;
        if resemblance >= 1.0 {
            pairs.ones += 1;
            return;
        }
        // 0.29 · 100 is 28.999999999999996.
        let bin = ((resemblance * BINS as f64 + 1e-9) as usize).min(BINS - 1);
        let counts = if accepted { &mut pairs.accepted } else { &mut pairs.rejected };
        counts[bin] += 1;
    }

    /// Counts an input that was left out or taken with a remark.
    pub fn skip(&mut self, skip: &Skip<'_>) {
        self.totals.skips.add(skip);
    }

    /// Ends the first pass: the clusters to be shown are known, their members are not.
    pub fn choose(self) -> Gathering {
        Gathering::new(self.facts, self.totals, self.doubtful.into_names(), self.largest.into_names())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fall_into_their_classes() {
        let mut sizes = Sizes::default();
        [2, 2, 6, 10, 5000].into_iter().for_each(|size| sizes.add(size));
        let classes = sizes.classes();
        assert_eq!(classes[0], ("2 documents".into(), 2, 4));
        assert_eq!(classes[4], ("6 to 10 documents".into(), 2, 16));
        assert_eq!(classes[9], ("more than 1000 documents".into(), 1, 5000));
    }

    #[test]
    fn pairs_fall_into_their_bins() {
        let mut collector = Collector::new(Facts::default());
        for (resemblance, accepted) in [(0.29, false), (0.8, true), (0.9999, true), (1.0, true)] {
            collector.pair(resemblance, accepted);
        }
        let pairs = collector.totals.pairs;
        assert_eq!((pairs.rejected[29], pairs.accepted[80], pairs.accepted[99], pairs.ones), (1, 1, 1, 1));
    }
}
