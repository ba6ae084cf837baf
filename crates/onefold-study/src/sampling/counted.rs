//! What samples under a seed really find: the residue trials of a plan (Y18, Y40).
//!
//! In: a [`Density`], a seed and places of the grid. Out: a [`Table`] as [`Density::expect`] gives it, counted instead of expected. Invariant: every
//! count is exact. Cost: a join of each sample, and a merge of the samples of each true pair.

use std::sync::atomic::{AtomicU64, Ordering};

use onefold::{Detection, Error, Exec, HashSets, sample_bound, sample_value};
use rayon::prelude::*;

use super::density::Density;
use super::table::Table;
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

/// The sampled shingles of each distinct set under a seed, by value: smaller samples are their beginnings.
struct Samples(HashSets);

impl Samples {
    /// Down to the place of the grid that each class asks for.
    fn new(density: &Density, seed: u64, finest: impl Fn(usize) -> usize) -> Samples {
        let bounds: Vec<u64> = (0..density.classes.count()).map(|class| bound(finest(class))).collect();
        let mut samples = HashSets::default();
        let mut values = Vec::new();
        for set in density.sets.iter() {
            let bound = bounds[density.classes.of(set.len() as u32)];
            values.clear();
            values.extend(set.iter().map(|&shingle| sample_value(shingle, seed)).filter(|&value| value < bound));
            values.sort_unstable();
            samples.push(values.iter().copied());
        }
        Samples(samples)
    }

    /// The sample of a set at a place of the grid.
    fn at(&self, set: u32, level: usize) -> &[u64] {
        let sample = self.0.get(set as usize);
        &sample[..sample.partition_point(|&value| value < bound(level))]
    }
}

/// Values below this one are sampled at a place of the grid.
fn bound(level: usize) -> u64 {
    sample_bound(Table::share(level))
}

impl Density {
    /// Counts what samples under a seed find at some places of the grid; those that are not asked for stay empty. Samples have the last word.
    pub fn count(&self, levels: &[usize], seed: u64, exec: &Exec<'_>) -> Result<Table, Error> {
        let finest = levels.iter().copied().min().unwrap_or(0);
        let samples = Samples::new(self, seed, |_| finest);
        let mut table = self.empty_table();
        for &level in levels {
            let found = self.count_found(&samples, level, |_| true, exec)?;
            let right = self.count_right(&samples, level, |_| true, &Detection::by_samples(self.threshold), exec)?;
            self.pairs_of_classes().for_each(|pair| table.set(pair, level, found.get(pair), right.get(pair)));
        }
        Ok(table)
    }

    /// Counts what samples under a seed find where each class has a place of the grid; nothing else is in the table. Where they are verified, only
    /// what is true is found.
    pub fn count_plan(
        &self,
        levels: &[usize],
        detection: &Detection,
        verified: bool,
        seed: u64,
        exec: &Exec<'_>,
    ) -> Result<Table, Error> {
        let samples = Samples::new(self, seed, |class| levels[class]);
        let mut table = self.empty_table();
        let mut chosen = levels.to_vec();
        chosen.sort_unstable();
        chosen.dedup();
        for level in chosen {
            let compared = |[a, b]: [usize; 2]| levels[a].max(levels[b]) == level;
            let right = self.count_right(&samples, level, compared, detection, exec)?;
            // Pairs are compared at the smaller of two shares: documents with smaller ones have no part in this.
            let found = match verified {
                true => None,
                false => Some(self.count_found(&samples, level, |class| levels[class] <= level, exec)?),
            };
            for pair in self.pairs_of_classes().filter(|pair| compared(*pair)) {
                table.set(pair, level, found.as_ref().unwrap_or(&right).get(pair), right.get(pair));
            }
        }
        Ok(table)
    }

    fn pairs_of_classes(&self) -> impl Iterator<Item = [usize; 2]> {
        let count = self.classes.count();
        (0..count).flat_map(move |small| (small..count).map(move |large| [small, large]))
    }

    /// Pairs of some classes whose samples reach the threshold.
    fn count_found(
        &self,
        samples: &Samples,
        level: usize,
        wanted: impl Fn(usize) -> bool,
        exec: &Exec<'_>,
    ) -> Result<Cells, Error> {
        let mut sample = HashSets::default();
        for set in 0..self.sets.len() as u32 {
            let values = if wanted(self.class(set)) { samples.at(set, level) } else { &[] };
            sample.push(values.iter().copied());
        }
        let (sample, which) = sample.distinct();
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

    /// True pairs of some classes that are found.
    fn count_right(
        &self,
        samples: &Samples,
        level: usize,
        wanted: impl Fn([usize; 2]) -> bool + Sync,
        detection: &Detection,
        exec: &Exec<'_>,
    ) -> Result<Cells, Error> {
        let cells = Cells::new(self.classes.count());
        let copies = |set: u32| u64::from(self.copies[set as usize]);
        let count = |[a, b]: [u32; 2], pairs: u64| {
            let classes = [a, b].map(|set| self.class(set));
            if !wanted(classes) {
                return;
            }
            let [first, second] = [a, b].map(|set| samples.at(set, level));
            let common = HashSets::common(first, second);
            if common > 0 && detection.finds((first.len() + second.len()) as u32, common) {
                cells.add(classes[0], classes[1], pairs);
            }
        };
        exec.install(|| {
            let sets = (0..self.sets.len() as u32).into_par_iter().filter(|&set| copies(set) > 1);
            sets.for_each(|set| count([set, set], copies(set) * (copies(set) - 1) / 2));
            self.truth.par_iter().for_each(|pair| count([pair.first, pair.second], copies(pair.first) * copies(pair.second)));
        })?;
        Ok(cells)
    }
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
