//! How alike the pairs of a collection are, and what samples of any share would make of them (§8).
//!
//! In: the sets of a collection and a threshold. Out: bins of pairs by the sizes, the resemblance and the union of their sets; from these a
//! [`Table`] of expected findings for every pair of classes and every share. Invariant: pairs near the threshold and above are all there, by
//! an exact join; those below are estimated from all partners of some documents ([`Rows`]), since a small sample may take any two documents
//! with one common shingle for equal. Cost: an exact join some way below the threshold, and the budget of the rows. Drops nothing.

use std::collections::BTreeMap;

use onefold::{CloseSets, Detection, Error, Exec, HashSets, Threshold};
use rayon::prelude::*;

use super::classes::Classes;
use super::rows::{Partner, Rows};
use super::shelf::Shelf;
use super::table::{GRID, Table};
use super::trials::close_pairs;

/// From this share of the threshold on pairs are found exactly.
const EXACT_FROM: f64 = 0.7;
/// Bins of resemblance are a hundredth wide, of unions a quarter of an octave.
const STEPS: f64 = 100.0;
const UNION_STEPS: f64 = 4.0;

/// A collection as its pairs see it.
#[derive(Debug)]
pub struct Density {
    /// Classes by the number of shingles.
    pub classes: Classes,
    /// From here on a pair is true.
    pub threshold: Threshold,
    /// Each distinct set.
    pub(super) sets: HashSets,
    /// Documents that have it.
    pub(super) copies: Vec<u32>,
    /// True pairs of distinct sets.
    pub(super) truth: Vec<CloseSets>,
    /// Documents with shingles, by class.
    pub documents: Vec<u64>,
    /// Their shingles, by class.
    pub shingles: Vec<u64>,
    /// The share of documents that were looked at for pairs far below the threshold.
    pub looked_at: f64,
    bins: Vec<Bin>,
}

/// Pairs of about one kind.
#[derive(Clone, Copy, Debug)]
pub struct Bin {
    /// The classes of the smaller and of the larger document.
    pub classes: [usize; 2],
    /// Whether they reach the threshold.
    pub near: bool,
    /// How many there are, as far as it is known.
    pub pairs: f64,
    /// Common shingles of an average pair.
    pub common: f64,
    /// All shingles of an average pair.
    pub union: f64,
}

/// Where pairs are put: classes, whether they reach the threshold, steps of resemblance and of the union.
type Place = (usize, usize, bool, u32, u32);

/// Sums of a bin: pairs, common shingles, unions.
type Bins = BTreeMap<Place, [f64; 3]>;

impl Density {
    /// Looks at a collection.
    pub fn measure(
        shelf: &Shelf,
        classes: Classes,
        threshold: Threshold,
        budget: u64,
        exec: &Exec<'_>,
        mut watch: impl FnMut(&str),
    ) -> Result<Density, Error> {
        let (sets, which) = shelf.sets.distinct();
        let mut copies = vec![0; sets.len()];
        which.iter().for_each(|&set| copies[set as usize] += 1);
        let mut density = Density {
            documents: vec![0; classes.count()],
            shingles: vec![0; classes.count()],
            classes,
            threshold,
            sets,
            copies,
            truth: Vec::new(),
            looked_at: 0.0,
            bins: Vec::new(),
        };
        density.count_documents();
        watch("pairs near the threshold");
        let from: Threshold = format!("{:.6}", EXACT_FROM * threshold.as_f64()).parse()?;
        let mut pairs = close_pairs(&density.sets, from, exec)?;
        watch("pairs far below");
        let bins = density.all_bins(&pairs, from, budget, exec)?;
        pairs.retain(|pair| density.sizes(pair.first, pair.second, pair.overlap).2);
        density.truth = pairs;
        density.bins = bins.into_iter().map(|(place, sums)| bin(place, sums)).collect();
        Ok(density)
    }

    fn count_documents(&mut self) {
        for (set, &copies) in self.sets.iter().zip(&self.copies).filter(|(set, _)| !set.is_empty()) {
            let class = self.classes.of(set.len() as u32);
            self.documents[class] += u64::from(copies);
            self.shingles[class] += u64::from(copies) * set.len() as u64;
        }
    }

    /// The class of a distinct set.
    pub(super) fn class(&self, set: u32) -> usize {
        self.classes.of(self.sets.get(set as usize).len() as u32)
    }

    /// Classes of two sets, the smaller first, the union, and whether they are a true pair.
    fn sizes(&self, a: u32, b: u32, common: u32) -> ([usize; 2], u32, bool) {
        let [size_a, size_b] = [a, b].map(|set| self.sets.get(set as usize).len() as u32);
        let union = size_a + size_b - common;
        let classes = [size_a.min(size_b), size_a.max(size_b)].map(|size| self.classes.of(size));
        (classes, union, self.threshold.reached(common, union.into()))
    }

    fn add(&self, bins: &mut Bins, [a, b]: [u32; 2], common: u32, pairs: f64) {
        let ([small, large], union, near) = self.sizes(a, b, common);
        let step = (f64::from(common) / f64::from(union) * STEPS) as u32;
        let place = (small, large, near, step, (f64::from(union).log2() * UNION_STEPS) as u32);
        let sums = bins.entry(place).or_default();
        [1.0, f64::from(common), f64::from(union)].iter().zip(sums).for_each(|(value, sum)| *sum += value * pairs);
    }

    fn all_bins(&mut self, pairs: &[CloseSets], from: Threshold, budget: u64, exec: &Exec<'_>) -> Result<Bins, Error> {
        let copies = |set: u32| f64::from(self.copies[set as usize]);
        let mut bins = Bins::new();
        for set in (0..self.sets.len() as u32).filter(|&set| self.copies[set as usize] > 1) {
            let size = self.sets.get(set as usize).len() as u32;
            if size > 0 {
                self.add(&mut bins, [set, set], size, copies(set) * (copies(set) - 1.0) / 2.0);
            }
        }
        for pair in pairs {
            self.add(&mut bins, [pair.first, pair.second], pair.overlap, copies(pair.first) * copies(pair.second));
        }
        let rows = Rows::new(&self.sets, budget, exec)?;
        let looked_at = rows.share(&self.sets);
        // Each pair is seen from both sides, as often as documents are looked at.
        let weight = 0.5 / looked_at.max(f64::MIN_POSITIVE);
        let look = |bins: &mut Bins, document: u32, partners: &[Partner<'_>]| {
            for partner in partners {
                let (_, union, _) = self.sizes(document, partner.document, partner.counts[0]);
                if !from.reached(partner.counts[0], union.into()) {
                    let pairs = weight * copies(document) * copies(partner.document);
                    self.add(bins, [document, partner.document], partner.counts[0], pairs);
                }
            }
        };
        let unite = |all: &mut Bins, part: Bins| {
            for (place, sums) in part {
                all.entry(place).or_default().iter_mut().zip(sums).for_each(|(sum, value)| *sum += value);
            }
        };
        let below = rows.gather(1, exec, |_, counts| counts[0] += 1, look, unite)?;
        unite(&mut bins, below);
        self.looked_at = looked_at;
        Ok(bins)
    }

    /// Shingles that the documents of an average true pair have together, where the smaller one is of a class.
    pub fn mean_union(&self, class: usize) -> f64 {
        let near = || self.bins.iter().filter(|bin| bin.near && bin.classes[0] == class);
        near().map(|bin| bin.union * bin.pairs).sum::<f64>() / near().map(|bin| bin.pairs).sum::<f64>().max(1.0)
    }

    /// All bins.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// What samples of each share are expected to find, by the exact sum (§8.2).
    pub fn expect(&self, detection: &Detection, exec: &Exec<'_>) -> Result<Table, Error> {
        let odds = |bin: &Bin| -> Vec<f64> {
            let (common, union) = (bin.common.round() as u32, bin.union.round() as u32);
            let other = union.saturating_sub(common);
            (0..GRID).map(|level| detection.probability(common, other, Table::share(level))).collect()
        };
        let odds: Vec<Vec<f64>> = exec.install(|| self.bins.par_iter().map(odds).collect())?;
        let mut table = self.empty_table();
        for (bin, odds) in self.bins.iter().zip(odds) {
            for (level, odds) in odds.into_iter().enumerate() {
                table.add(bin.classes, level, bin.near, odds * bin.pairs);
            }
        }
        Ok(table)
    }

    /// A table with what there is to be found, and nothing found yet.
    pub(super) fn empty_table(&self) -> Table {
        let mut table = Table::new(self.classes.clone(), self.documents.clone(), self.shingles.clone());
        self.bins.iter().filter(|bin| bin.near).for_each(|bin| table.add_truth(bin.classes, bin.pairs));
        table
    }
}

fn bin((small, large, near, ..): Place, [pairs, common, union]: [f64; 3]) -> Bin {
    Bin { classes: [small, large], near, pairs, common: common / pairs, union: union / pairs }
}
