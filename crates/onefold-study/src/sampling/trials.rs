//! Samples by remainder beside the truth: the experiment of Ye, Wen, Ma (Y18–Y34).
//!
//! In: the sets of a collection, moduli and thresholds. Out: for every (modulo, remainder) the pairs that its sample reports at each threshold,
//! and how many of them are true. Invariant: truth and samples are joined exactly, so every count is exact. Cost: one join of all shingles at the
//! lowest threshold for the truth, a join of each sample, which for all remainders of a modulo is about as much, and a merge of each true pair for all samples at once.
//! Drops nothing.

use std::sync::Mutex;
use std::time::Instant;

use onefold::{CloseSets, Error, Exec, HashSets, Threshold};
use rayon::prelude::*;
use serde::Serialize;

use super::classes::Classes;
use super::shelf::Shelf;
use super::tally::{Counter, Members, Tally};

/// What is tried.
#[derive(Clone, Debug)]
pub struct Design {
    /// One in so many shingles is kept (Y19).
    pub moduli: Vec<u32>,
    /// Rising (Y21).
    pub thresholds: Vec<Threshold>,
    /// Classes by words (Y24).
    pub classes: Classes,
}

/// The truth and all trials.
#[derive(Debug)]
pub struct Trials {
    /// What was tried.
    pub design: Design,
    /// Documents of each class.
    pub documents: Vec<u64>,
    /// Shingles of each class.
    pub shingles: Vec<u64>,
    /// Pairs by all shingles (Y22).
    pub truth: Tally,
    /// Seconds that the truth took.
    pub seconds: f64,
    /// For each modulo all remainders.
    pub trials: Vec<Trial>,
    /// The true pairs of distinct sets at the lowest threshold, and which documents have them.
    pub pairs: Truth,
}

/// A sample.
#[derive(Debug, Serialize)]
pub struct Trial {
    /// One in so many.
    pub modulo: u32,
    /// The remainder that was kept.
    pub residue: u32,
    /// Shingles that were kept, by class (Y20).
    pub kept: Vec<u64>,
    /// Pairs that the sample reports.
    pub found: Tally,
    /// True ones among them.
    pub right: Tally,
    /// Seconds to join it.
    pub seconds: f64,
}

/// Pairs of distinct sets.
#[derive(Debug)]
pub struct Truth {
    /// Each distinct set.
    pub sets: HashSets,
    /// Which of them each document has.
    pub which: Vec<u32>,
    /// Those at the lowest threshold.
    pub pairs: Vec<CloseSets>,
}

/// Mean and spread over remainders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// The mean of those that have a value.
    pub mean: f64,
    /// Their standard deviation.
    pub spread: f64,
    /// How many have one.
    pub trials: usize,
}

impl Mean {
    fn of(values: impl Iterator<Item = f64>) -> Option<Mean> {
        let values: Vec<f64> = values.collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let spread = if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() };
        (!values.is_empty()).then_some(Mean { mean, spread, trials: values.len() })
    }
}

/// Which pairs of a class are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Those whose documents are both of it, as the paper did.
    Inside,
    /// Those whose smaller document is of it.
    Smaller,
}

impl Counted {
    /// These pairs of a class, or of all, at a threshold by number.
    pub fn of(self, tally: &Tally, threshold: usize, class: Option<usize>) -> u64 {
        match self {
            Counted::Inside => tally.inside(threshold, class),
            Counted::Smaller => tally.smaller(threshold, class),
        }
    }
}

impl Trials {
    /// How many there are: each sample at each threshold.
    pub fn count(&self) -> u64 {
        (self.trials.len() * self.design.thresholds.len()) as u64
    }

    fn of_modulo(&self, modulo: u32) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(move |trial| trial.modulo == modulo)
    }

    /// Precision of samples (Y22), at a threshold by number.
    pub fn precision(&self, modulo: u32, threshold: usize, class: Option<usize>, counted: Counted) -> Option<Mean> {
        let share = |trial: &Trial| {
            let found = counted.of(&trial.found, threshold, class);
            (found > 0).then(|| counted.of(&trial.right, threshold, class) as f64 / found as f64)
        };
        Mean::of(self.of_modulo(modulo).filter_map(share))
    }

    /// Recall of samples.
    pub fn recall(&self, modulo: u32, threshold: usize, class: Option<usize>, counted: Counted) -> Option<Mean> {
        let all = counted.of(&self.truth, threshold, class);
        let share = |trial: &Trial| (all > 0).then(|| counted.of(&trial.right, threshold, class) as f64 / all as f64);
        Mean::of(self.of_modulo(modulo).filter_map(share))
    }

    /// The share of shingles that was kept (Y20).
    pub fn kept(&self, modulo: u32, class: Option<usize>) -> Option<Mean> {
        let of = |counts: &[u64]| class.map_or_else(|| counts.iter().sum(), |class| counts[class]);
        let all: u64 = of(&self.shingles);
        let share = |trial: &Trial| (all > 0).then(|| of(&trial.kept) as f64 / all as f64);
        Mean::of(self.of_modulo(modulo).filter_map(share))
    }

    /// The modulo of each class that keeps the fewest shingles and still has a mean precision, 1 where none has (Y35), and the share of all
    /// shingles that is left.
    pub fn adaptive(&self, threshold: usize, precision: f64, counted: Counted) -> (Vec<u32>, f64) {
        let enough = |modulo: u32, class: usize| {
            self.precision(modulo, threshold, Some(class), counted).is_none_or(|mean| mean.mean >= precision)
        };
        let coarsest = |class: usize| {
            let good = self.design.moduli.iter().copied().filter(|&modulo| enough(modulo, class));
            if self.documents[class] == 0 { 1 } else { good.max().unwrap_or(1) }
        };
        let moduli: Vec<u32> = (0..self.design.classes.count()).map(coarsest).collect();
        let kept: f64 = self.shingles.iter().zip(&moduli).map(|(&all, &modulo)| all as f64 / f64::from(modulo)).sum();
        (moduli, kept / self.shingles.iter().sum::<u64>().max(1) as f64)
    }

    /// The largest modulo whose samples have a mean precision in every class, 1 where none has.
    pub fn uniform(&self, threshold: usize, precision: f64, counted: Counted) -> u32 {
        let good = |modulo: &u32| {
            (0..self.design.classes.count())
                .all(|class| self.precision(*modulo, threshold, Some(class), counted).is_none_or(|mean| mean.mean >= precision))
        };
        self.design.moduli.iter().copied().filter(good).max().unwrap_or(1)
    }

    /// Seconds that a sample takes.
    pub fn seconds(&self, modulo: u32) -> Option<Mean> {
        Mean::of(self.of_modulo(modulo).map(|trial| trial.seconds))
    }
}

/// Carries them out; `watch` is told what comes next.
pub fn trials(shelf: &Shelf, design: Design, exec: &Exec<'_>, mut watch: impl FnMut(&str)) -> Result<Trials, Error> {
    let classes: Vec<usize> = shelf.words.iter().map(|&words| design.classes.of(words)).collect();
    let count = design.classes.count();
    watch("truth");
    let began = Instant::now();
    let mut by_class = vec![0; count];
    classes.iter().for_each(|&class| by_class[class] += 1);
    let (sets, which) = shelf.sets.distinct();
    let members = Members::new(sets.len(), count, which.iter().copied().zip(classes.iter().copied()));
    let truth = Truth { pairs: close_pairs(&sets, design.thresholds[0], exec)?, sets, which };
    let counter = Counter::new(design.thresholds.len(), count);
    truth.each_pair(
        |pair, reached| members.each_pair(pair.first, pair.second, |a, b, pairs| counter.add(reached, a, b, pairs)),
        &design,
    );
    let mut result = Trials {
        truth: counter.finish(),
        shingles: kept_by_class(&shelf.sets, &classes, count),
        documents: by_class,
        seconds: began.elapsed().as_secs_f64(),
        trials: Vec::new(),
        pairs: truth,
        design,
    };
    watch("true pairs in all samples");
    let right = right_pairs(&result.pairs, &members, &result.design, exec)?;
    let mut right = right.into_iter();
    for modulo in result.design.moduli.clone() {
        for residue in 0..modulo {
            watch(&format!("1 in {modulo}, remainder {residue}"));
            let began = Instant::now();
            let sample = sample(&shelf.sets, modulo, residue);
            let kept = kept_by_class(&sample, &classes, count);
            let found = reported(sample, &classes, &result.design, exec)?;
            let seconds = began.elapsed().as_secs_f64();
            let right = right.next().unwrap_or_default();
            result.trials.push(Trial { modulo, residue, kept, found, right, seconds });
        }
    }
    Ok(result)
}

/// All pairs of sets that reach a threshold, in order.
pub(super) fn close_pairs(sets: &HashSets, threshold: Threshold, exec: &Exec<'_>) -> Result<Vec<CloseSets>, Error> {
    let mut copy = HashSets::default();
    copy.append(sets);
    let pairs = Mutex::new(Vec::new());
    copy.each_close_pair(threshold, exec, |pair| {
        if let Ok(mut pairs) = pairs.lock() {
            pairs.push(pair);
        }
    })?;
    let mut pairs = pairs.into_inner().map_err(|_| Error::Bug("a thread failed while it joined".into()))?;
    pairs.par_sort_unstable();
    Ok(pairs)
}

/// How many of the thresholds a pair reaches.
pub(super) fn reached(thresholds: &[Threshold], common: u32, union: u32) -> usize {
    if common == 0 { 0 } else { thresholds.partition_point(|threshold| threshold.reached(common, union.into())) }
}

impl Truth {
    /// Calls `look` with pairs of sets, and with each set and itself, and how many thresholds they reach.
    fn each_pair(&self, mut look: impl FnMut(CloseSets, usize), design: &Design) {
        for set in (0..self.sets.len() as u32).filter(|&set| !self.sets.get(set as usize).is_empty()) {
            let overlap = self.sets.get(set as usize).len() as u32;
            look(CloseSets { first: set, second: set, overlap }, design.thresholds.len());
        }
        for &pair in &self.pairs {
            look(pair, reached(&design.thresholds, pair.overlap, self.union(&pair)));
        }
    }

    /// Shingles that a pair has together.
    pub fn union(&self, pair: &CloseSets) -> u32 {
        let size = |set: u32| self.sets.get(set as usize).len() as u32;
        size(pair.first) + size(pair.second) - pair.overlap
    }
}

fn kept_by_class(sets: &HashSets, classes: &[usize], count: usize) -> Vec<u64> {
    let mut kept = vec![0; count];
    sets.iter().zip(classes).for_each(|(set, &class)| kept[class] += set.len() as u64);
    kept
}

/// The shingles of each set with a remainder.
fn sample(sets: &HashSets, modulo: u32, residue: u32) -> HashSets {
    let (modulo, residue) = (u64::from(modulo), u64::from(residue));
    let mask = modulo.is_power_of_two().then(|| modulo - 1);
    let mut sample = HashSets::default();
    for set in sets.iter() {
        match mask {
            Some(mask) => sample.push(set.iter().copied().filter(|shingle| shingle & mask == residue)),
            None => sample.push(set.iter().copied().filter(|shingle| shingle % modulo == residue)),
        }
    }
    sample
}

/// The pairs that a sample reports.
fn reported(sample: HashSets, classes: &[usize], design: &Design, exec: &Exec<'_>) -> Result<Tally, Error> {
    let (sets, which) = sample.distinct();
    drop(sample);
    let members = Members::new(sets.len(), design.classes.count(), which.into_iter().zip(classes.iter().copied()));
    let counter = Counter::new(design.thresholds.len(), design.classes.count());
    let add = |reached: usize, a: u32, b: u32| members.each_pair(a, b, |a, b, pairs| counter.add(reached, a, b, pairs));
    let sizes: Vec<u32> = sets.iter().map(|set| set.len() as u32).collect();
    (0..).zip(&sizes).filter(|(_, size)| **size > 0).for_each(|(set, _)| add(design.thresholds.len(), set, set));
    sets.each_close_pair(design.thresholds[0], exec, |pair| {
        let union = sizes[pair.first as usize] + sizes[pair.second as usize] - pair.overlap;
        add(reached(&design.thresholds, pair.overlap, union), pair.first, pair.second);
    })?;
    Ok(counter.finish())
}

/// For every sample the true pairs that it reports: each true pair is merged once, for all samples.
fn right_pairs(truth: &Truth, members: &Members, design: &Design, exec: &Exec<'_>) -> Result<Vec<Tally>, Error> {
    let samples: usize = design.moduli.iter().map(|&modulo| modulo as usize).sum();
    let counters: Vec<Counter> = (0..samples).map(|_| Counter::new(design.thresholds.len(), design.classes.count())).collect();
    let split = Split::new(&design.moduli);
    let mut pairs = Vec::new();
    truth.each_pair(|pair, reached| pairs.push((pair, reached)), design);
    let count = |counts: &mut Counts, &(pair, most): &(CloseSets, usize)| {
        split.count(truth.sets.get(pair.first as usize), truth.sets.get(pair.second as usize), counts);
        split.each_sample(counts, |sample, common, union| {
            // A pair counts at a threshold that it reaches, and its sample too.
            let reached = reached(&design.thresholds, common, union).min(most);
            if reached > 0 {
                members.each_pair(pair.first, pair.second, |a, b, pairs| counters[sample].add(reached, a, b, pairs));
            }
        });
    };
    exec.install(|| pairs.par_iter().for_each_init(Counts::default, count))?;
    Ok(counters.into_iter().map(Counter::finish).collect())
}

/// How to count shingles by their remainders under several moduli: powers of two follow from the largest of them.
struct Split<'a> {
    moduli: &'a [u32],
    /// What is counted.
    counted: Vec<u32>,
}

/// Common shingles and all, by counted modulo and remainder.
#[derive(Default)]
struct Counts {
    common: Vec<u32>,
    union: Vec<u32>,
}

impl<'a> Split<'a> {
    fn new(moduli: &'a [u32]) -> Split<'a> {
        let largest = moduli.iter().copied().filter(|modulo| modulo.is_power_of_two()).max();
        let others = moduli.iter().copied().filter(|modulo| !modulo.is_power_of_two());
        Split { moduli, counted: largest.into_iter().chain(others).collect() }
    }

    fn count(&self, a: &[u64], b: &[u64], counts: &mut Counts) {
        let slots = self.counted.iter().sum::<u32>() as usize;
        for counters in [&mut counts.common, &mut counts.union] {
            counters.clear();
            counters.resize(slots, 0);
        }
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            let (x, y) = (a.get(i).copied().unwrap_or(u64::MAX), b.get(j).copied().unwrap_or(u64::MAX));
            i += usize::from(x <= y);
            j += usize::from(y <= x);
            let (shingle, both) = (x.min(y), u32::from(x == y));
            let mut start = 0;
            for &modulo in &self.counted {
                let modulo = u64::from(modulo);
                let residue = if modulo.is_power_of_two() { shingle & (modulo - 1) } else { shingle % modulo };
                counts.union[start + residue as usize] += 1;
                counts.common[start + residue as usize] += both;
                start += modulo as usize;
            }
        }
    }

    /// Calls `look` with the number of each sample, its common shingles and all.
    fn each_sample(&self, counts: &Counts, mut look: impl FnMut(usize, u32, u32)) {
        let mut sample = 0;
        for &modulo in self.moduli {
            // The first counted modulo that this one divides holds its remainders, spread.
            let mut start = 0;
            let Some(&counted) = self.counted.iter().find(|&&counted| {
                let found = counted == modulo || (counted.is_power_of_two() && modulo.is_power_of_two());
                start += if found { 0 } else { counted as usize };
                found
            }) else {
                continue;
            };
            for residue in 0..modulo {
                let slots = (start + residue as usize..start + counted as usize).step_by(modulo as usize);
                let sum = |counters: &[u32]| slots.clone().map(|slot| counters[slot]).sum::<u32>();
                look(sample, sum(&counts.common), sum(&counts.union));
                sample += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets that slide along, some of them equal.
    fn shelf() -> Shelf {
        let mut shelf = Shelf::default();
        for at in 0..160u64 {
            let (family, step) = (at % 5, at / 10);
            let size = 20 + 25 * family;
            let mut set: Vec<u64> = (step * 2..step * 2 + size).map(|n| onefold::sample_value(n * 16 + family, 0)).collect();
            set.sort_unstable();
            shelf.sets.push(set);
            shelf.words.push(size as u32 + 9);
        }
        shelf
    }

    /// Every count, by looking at all pairs of documents.
    #[test]
    fn counts_are_those_of_all_pairs() {
        let shelf = shelf();
        let thresholds: Vec<Threshold> = ["0.5", "0.8", "0.95"].map(|t| t.parse().unwrap()).to_vec();
        let design = Design { moduli: vec![2, 3, 4], thresholds, classes: Classes::new([50, 100]) };
        let result = trials(&shelf, design.clone(), &Exec::default(), |_| ()).unwrap();
        let resemblance = |a: &[u64], b: &[u64]| {
            let common = a.iter().filter(|shingle| b.contains(shingle)).count() as u32;
            (common, (a.len() + b.len()) as u32 - common)
        };
        let mut samples = vec![(1, 0)];
        samples.extend(design.moduli.iter().flat_map(|&modulo| (0..modulo).map(move |residue| (modulo, residue))));
        for (modulo, residue) in samples {
            let kept = |set: &[u64]| -> Vec<u64> {
                set.iter().copied().filter(|shingle| shingle % u64::from(modulo) == u64::from(residue)).collect()
            };
            let empty = Counter::new(3, 3).finish();
            let (mut found, mut right) = (empty.clone(), empty);
            for b in 0..shelf.len() {
                for a in 0..b {
                    let (first, second) = (shelf.sets.get(a), shelf.sets.get(b));
                    let (full, sampled) = (resemblance(first, second), resemblance(&kept(first), &kept(second)));
                    let [class_a, class_b] = [a, b].map(|at| design.classes.of(shelf.words[at]));
                    for (t, threshold) in design.thresholds.iter().enumerate() {
                        let reaches = |(common, union): (u32, u32)| common > 0 && threshold.reached(common, union.into());
                        let add = |tally: &mut Tally| {
                            tally.smaller[t][class_a.min(class_b)] += 1;
                            tally.inside[t][class_a] += u64::from(class_a == class_b);
                        };
                        if reaches(sampled) {
                            add(&mut found);
                            if reaches(full) {
                                add(&mut right);
                            }
                        }
                    }
                }
            }
            if modulo == 1 {
                assert_eq!(result.truth, found);
                continue;
            }
            let trial = result.trials.iter().find(|trial| (trial.modulo, trial.residue) == (modulo, residue)).unwrap();
            assert_eq!((&trial.found, &trial.right), (&found, &right), "{modulo} {residue}");
        }
        let precision = result.precision(4, 1, None, Counted::Smaller).unwrap();
        assert!(precision.mean < 1.0 && precision.spread > 0.0 && precision.trials == 4, "{precision:?}");
        assert!((result.kept(4, None).unwrap().mean - 0.25).abs() < 1e-9, "remainders share the shingles out");
    }
}
