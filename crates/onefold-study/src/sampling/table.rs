//! What samples of every share find, for every pair of classes: all that a choice of shares needs to know.

use serde::Serialize;

use super::classes::Classes;

/// Shares that are considered: 1 and each next one smaller by a quarter of an octave, down to 1 in 1,024.
pub const GRID: usize = 41;
/// Places of the grid from a share to half of it.
pub(super) const STEPS_OF_AN_OCTAVE: f64 = 4.0;

/// Pairs that are found, and true ones among them, by the classes of their documents and the share that they are compared at.
#[derive(Clone, Debug)]
pub struct Table {
    /// Classes by the number of shingles.
    pub classes: Classes,
    /// Documents of each.
    pub documents: Vec<u64>,
    /// Shingles of each.
    pub shingles: Vec<u64>,
    truth: Vec<f64>,
    found: Vec<f64>,
    right: Vec<f64>,
}

/// What a choice of shares makes of a class, or of all.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Outlook {
    /// True pairs.
    pub truth: f64,
    /// Pairs that are found.
    pub found: f64,
    /// True ones among them.
    pub right: f64,
}

impl Outlook {
    /// The share of true pairs among those that are found, if any are.
    pub fn precision(&self) -> Option<f64> {
        (self.found > 0.0).then(|| self.right / self.found)
    }

    /// The share of true pairs that is found, if there are any.
    pub fn recall(&self) -> Option<f64> {
        (self.truth > 0.0).then(|| self.right / self.truth)
    }

    pub(super) fn add(&mut self, other: Outlook) {
        self.truth += other.truth;
        self.found += other.found;
        self.right += other.right;
    }
}

impl Table {
    pub(super) fn new(classes: Classes, documents: Vec<u64>, shingles: Vec<u64>) -> Table {
        let cells = classes.count() * classes.count();
        let cell = |count: usize| vec![0.0; count];
        Table { classes, documents, shingles, truth: cell(cells), found: cell(cells * GRID), right: cell(cells * GRID) }
    }

    /// Several of one collection together: what they find under one seed each.
    pub fn sum(tables: &[Table]) -> Table {
        let mut sum = tables[0].clone();
        for table in &tables[1..] {
            for (all, one) in [(&mut sum.truth, &table.truth), (&mut sum.found, &table.found), (&mut sum.right, &table.right)] {
                all.iter_mut().zip(one).for_each(|(all, one)| *all += one);
            }
        }
        sum
    }

    /// The share at a place of the grid.
    pub fn share(level: usize) -> f64 {
        (-(level as f64) / STEPS_OF_AN_OCTAVE).exp2()
    }

    /// The place of the grid with a share.
    pub fn level(share: f64) -> usize {
        (-STEPS_OF_AN_OCTAVE * share.log2()).round() as usize
    }

    fn cell(&self, [small, large]: [usize; 2]) -> usize {
        small * self.classes.count() + large
    }

    pub(super) fn add_truth(&mut self, classes: [usize; 2], pairs: f64) {
        let cell = self.cell(classes);
        self.truth[cell] += pairs;
    }

    pub(super) fn add(&mut self, classes: [usize; 2], level: usize, near: bool, pairs: f64) {
        let at = self.cell(classes) * GRID + level;
        self.found[at] += pairs;
        if near {
            self.right[at] += pairs;
        }
    }

    /// Sets what was counted at a share.
    pub(super) fn set(&mut self, classes: [usize; 2], level: usize, found: f64, right: f64) {
        let at = self.cell(classes) * GRID + level;
        (self.found[at], self.right[at]) = (found, right);
    }

    /// Pairs of two classes, the smaller first, compared at a share.
    pub fn between(&self, classes: [usize; 2], level: usize) -> Outlook {
        let cell = self.cell(classes);
        Outlook { truth: self.truth[cell], found: self.found[cell * GRID + level], right: self.right[cell * GRID + level] }
    }

    /// Pairs whose smaller document is of a class, where each class has a share: a pair is compared at the smaller of two (§8.6).
    pub fn outlook(&self, class: usize, levels: &[usize]) -> Outlook {
        let mut sum = Outlook::default();
        for larger in class..self.classes.count() {
            sum.add(self.between([class, larger], levels[class].max(levels[larger])));
        }
        sum
    }

    /// All pairs.
    pub fn overall(&self, levels: &[usize]) -> Outlook {
        let mut sum = Outlook::default();
        (0..self.classes.count()).for_each(|class| sum.add(self.outlook(class, levels)));
        sum
    }

    /// The share of all shingles that is kept.
    pub fn cost(&self, levels: &[usize]) -> f64 {
        let kept: f64 = self.shingles.iter().zip(levels).map(|(&all, &level)| all as f64 * Table::share(level)).sum();
        kept / self.shingles.iter().sum::<u64>().max(1) as f64
    }

    /// How many classes lie between two whose documents may be a pair, at most.
    pub(super) fn reach(&self) -> usize {
        let count = self.classes.count();
        let meet = |&(small, large): &(usize, usize)| {
            self.between([small, large], GRID - 1).truth + self.found_at_all([small, large]) > 0.0
        };
        let pairs = (0..count).flat_map(|small| (small..count).map(move |large| (small, large)));
        pairs.filter(meet).map(|(small, large)| large - small).max().unwrap_or(0)
    }

    fn found_at_all(&self, classes: [usize; 2]) -> f64 {
        let at = self.cell(classes) * GRID;
        self.found[at..at + GRID].iter().sum()
    }
}
