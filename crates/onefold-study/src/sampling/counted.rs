//! What samples under a seed really find: the residue trials of a plan (Y18, Y40).
//!
//! In: a [`Density`], a seed and places of the grid. Out: a [`Table`] as [`Density::expect`] gives it, counted instead of expected. Invariant: every
//! count is exact. Cost: a join of each sample, and a merge of each true pair for all shares at once.

use std::sync::atomic::{AtomicU64, Ordering};

use onefold::{CloseSets, Detection, Error, Exec, HashSets, sample_bound, sample_value};
use rayon::prelude::*;

use super::density::Density;
use super::table::{GRID, Table};
use super::tally::Members;

/// Pairs by the classes of their documents, added to by several threads.
struct Cells {
    classes: usize,
    counts: Vec<AtomicU64>,
}

impl Cells {
    fn new(classes: usize) -> Cells {
        Cells { classes, counts: (0..classes * classes).map(|_| AtomicU64::new(0)).collect() }
    }

    fn add(&self, a: usize, b: usize, pairs: u64) {
        self.counts[a.min(b) * self.classes + a.max(b)].fetch_add(pairs, Ordering::Relaxed);
    }

    fn get(&self, [small, large]: [usize; 2]) -> f64 {
        self.counts[small * self.classes + large].load(Ordering::Relaxed) as f64
    }
}

impl Density {
    /// Counts what samples under a seed find at some places of the grid; those that are not asked for stay empty. Samples have the last word.
    pub fn count(&self, levels: &[usize], seed: u64, exec: &Exec<'_>) -> Result<Table, Error> {
        let detection = Detection::by_samples(self.threshold);
        let right = self.count_right(&detection, seed, exec)?;
        let mut table = self.empty_table();
        for &level in levels {
            let found = self.count_found(level, seed, |_| true, exec)?;
            for pair in self.pairs_of_classes() {
                table.set(pair, level, found.get(pair), right[level].get(pair));
            }
        }
        Ok(table)
    }

    /// Counts what samples under a seed find where each class has a place of the grid; nothing else is in the table.
    pub fn count_plan(&self, levels: &[usize], seed: u64, exec: &Exec<'_>) -> Result<Table, Error> {
        let right = self.count_right(&Detection::by_samples(self.threshold), seed, exec)?;
        let mut table = self.empty_table();
        let mut chosen = levels.to_vec();
        chosen.sort_unstable();
        chosen.dedup();
        for level in chosen {
            // Pairs are compared at the smaller of two shares: documents with smaller ones have no part in this.
            let found = self.count_found(level, seed, |class| levels[class] <= level, exec)?;
            for pair in self.pairs_of_classes().filter(|[small, large]| levels[*small].max(levels[*large]) == level) {
                table.set(pair, level, found.get(pair), right[level].get(pair));
            }
        }
        Ok(table)
    }

    fn pairs_of_classes(&self) -> impl Iterator<Item = [usize; 2]> {
        let count = self.classes.count();
        (0..count).flat_map(move |small| (small..count).map(move |large| [small, large]))
    }

    /// Counts what is left of proposals under a seed when they were verified, at all places of the grid: true pairs alone.
    pub fn count_verified(&self, detection: &Detection, seed: u64, exec: &Exec<'_>) -> Result<Table, Error> {
        let mut table = self.empty_table();
        for (level, right) in self.count_right(detection, seed, exec)?.iter().enumerate() {
            self.pairs_of_classes().for_each(|pair| table.set(pair, level, right.get(pair), right.get(pair)));
        }
        Ok(table)
    }

    /// Pairs of some classes whose samples reach the threshold.
    fn count_found(&self, level: usize, seed: u64, wanted: impl Fn(usize) -> bool, exec: &Exec<'_>) -> Result<Cells, Error> {
        let (sample, which) = self.sample(sample_bound(Table::share(level)), seed, wanted).distinct();
        let documents = which
            .iter()
            .zip(0u32..)
            .flat_map(|(&sampled, set)| std::iter::repeat_n((sampled, self.class(set)), self.copies[set as usize] as usize));
        let members = Members::new(sample.len(), self.classes.count(), documents);
        let cells = Cells::new(self.classes.count());
        let add = |a: u32, b: u32| members.each_pair(a, b, |a, b, pairs| cells.add(a, b, pairs));
        (0..sample.len() as u32).filter(|&set| !sample.get(set as usize).is_empty()).for_each(|set| add(set, set));
        sample.each_close_pair(self.threshold, exec, |pair| add(pair.first, pair.second))?;
        Ok(cells)
    }

    /// The samples of all sets; of those that are not wanted nothing.
    fn sample(&self, bound: u64, seed: u64, wanted: impl Fn(usize) -> bool) -> HashSets {
        let mut sample = HashSets::default();
        let mut values = Vec::new();
        for set in self.sets.iter() {
            values.clear();
            let set = if wanted(self.classes.of(set.len() as u32)) { set } else { &[] };
            values.extend(set.iter().map(|&shingle| sample_value(shingle, seed)).filter(|&value| value < bound));
            values.sort_unstable();
            sample.push(values.iter().copied());
        }
        sample
    }

    /// True pairs that are found at each place of the grid.
    fn count_right(&self, detection: &Detection, seed: u64, exec: &Exec<'_>) -> Result<Vec<Cells>, Error> {
        let cells: Vec<Cells> = (0..GRID).map(|_| Cells::new(self.classes.count())).collect();
        let selves = (0..self.sets.len() as u32).filter(|&set| self.copies[set as usize] > 1);
        let selves = selves.map(|set| CloseSets { first: set, second: set, overlap: self.sets.get(set as usize).len() as u32 });
        let pairs: Vec<CloseSets> = selves.chain(self.truth.iter().copied()).collect();
        let bounds: Vec<u64> = (0..GRID).map(|level| sample_bound(Table::share(level))).collect();
        let count = |pair: &CloseSets| {
            let [a, b] = [pair.first, pair.second].map(|set| self.sets.get(set as usize));
            let copies = |set: u32| u64::from(self.copies[set as usize]);
            let pairs = match pair.first == pair.second {
                true => copies(pair.first) * (copies(pair.first) - 1) / 2,
                false => copies(pair.first) * copies(pair.second),
            };
            let (mut sizes, mut common) = (0, 0);
            // From the smallest sample to the largest, each holding the one before.
            for (level, [other, both]) in by_level(a, b, seed, &bounds).into_iter().enumerate().rev() {
                common += both;
                sizes += other + 2 * both;
                if common > 0 && detection.finds(sizes, common) {
                    cells[level].add(self.class(pair.first), self.class(pair.second), pairs);
                }
            }
        };
        exec.install(|| pairs.par_iter().for_each(count))?;
        Ok(cells)
    }
}

/// Shingles that one of two sets has, and that both have, by the smallest share whose sample holds them.
fn by_level(a: &[u64], b: &[u64], seed: u64, bounds: &[u64]) -> [[u32; 2]; GRID] {
    let mut counts = [[0; 2]; GRID];
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let (x, y) = (a.get(i).copied().unwrap_or(u64::MAX), b.get(j).copied().unwrap_or(u64::MAX));
        i += usize::from(x <= y);
        j += usize::from(y <= x);
        let value = sample_value(x.min(y), seed);
        // Bounds fall by a quarter of an octave; the octave is that of the value.
        let octave = 4 * (value.leading_zeros() as usize).saturating_sub(3);
        let mut level = octave.saturating_sub(1).min(GRID - 1);
        while level + 1 < GRID && value < bounds[level + 1] {
            level += 1;
        }
        counts[level][usize::from(x == y)] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::{Classes, Shelf};
    use super::*;

    /// Sets that slide along, of several sizes, some of them equal.
    fn shelf() -> Shelf {
        let mut shelf = Shelf::default();
        for at in 0..150u64 {
            let (family, step) = (at % 5, at / 10);
            let size = 30 + 60 * family;
            let mut set: Vec<u64> = (step * 4..step * 4 + size).map(|n| sample_value(n * 16 + family, 7)).collect();
            set.sort_unstable();
            shelf.sets.push(set);
            shelf.words.push(size as u32);
        }
        shelf
    }

    fn density(shelf: &Shelf) -> Density {
        let classes = Classes::new([64, 128, 256]);
        Density::measure(shelf, classes, "0.7".parse().unwrap(), u64::MAX, &Exec::default(), |_| ()).unwrap()
    }

    #[test]
    fn counts_are_those_of_all_pairs() {
        let shelf = shelf();
        let density = density(&shelf);
        for (level, seed) in [(0, 1), (4, 1), (9, 2), (14, 3)] {
            let table = density.count(&[level], seed, &Exec::default()).unwrap();
            let bound = sample_bound(Table::share(level));
            let near = |a: &[u64], b: &[u64]| {
                let common = a.iter().filter(|value| b.contains(value)).count() as u32;
                common > 0 && density.threshold.reached(common, (a.len() + b.len()) as u64 - u64::from(common))
            };
            let sampled = |set: &[u64]| -> Vec<u64> {
                set.iter().copied().filter(|&shingle| sample_value(shingle, seed) < bound).collect()
            };
            let mut expected = density.empty_table();
            for b in 0..shelf.len() {
                for a in 0..b {
                    let (first, second) = (shelf.sets.get(a), shelf.sets.get(b));
                    if near(&sampled(first), &sampled(second)) {
                        let sizes = [first.len().min(second.len()), first.len().max(second.len())];
                        expected.add(sizes.map(|size| density.classes.of(size as u32)), level, near(first, second), 1.0);
                    }
                }
            }
            for small in 0..4 {
                for large in small..4 {
                    let [ours, plain] = [&table, &expected].map(|table| table.between([small, large], level));
                    assert_eq!((ours.found, ours.right), (plain.found, plain.right), "{level} {small} {large}");
                }
            }
        }
    }

    /// The exact sum of §8.2 is the mean over seeds.
    #[test]
    fn what_is_expected_is_the_mean_of_what_is_counted() {
        let shelf = shelf();
        let density = density(&shelf);
        let expected = density.expect(&Detection::by_samples(density.threshold), &Exec::default()).unwrap();
        let levels = [6, 10];
        let counted: Vec<Table> = (0..60).map(|seed| density.count(&levels, seed, &Exec::default()).unwrap()).collect();
        for level in levels {
            let all = [level; 4];
            let mean = |value: fn(&super::super::Outlook) -> f64| {
                counted.iter().map(|table| value(&table.overall(&all))).sum::<f64>() / counted.len() as f64
            };
            let outlook = expected.overall(&all);
            let close = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs() < 0.03;
            assert!(close(mean(|o| o.found), outlook.found), "{} {}", mean(|o| o.found), outlook.found);
            assert!(close(mean(|o| o.right), outlook.right), "{} {}", mean(|o| o.right), outlook.right);
        }
    }
}
