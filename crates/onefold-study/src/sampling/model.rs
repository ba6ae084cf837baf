//! The exact sum of §8.2 beside what samples really give: whether the planner's arithmetic can be believed.

use onefold::{Detection, Error, Exec};
use serde::Serialize;

use super::density::Density;
use super::table::{Outlook, Table};

/// Shares that are compared: every other octave of the grid.
const LEVELS: [usize; 5] = [4, 8, 12, 16, 20];
/// The first seed that is tried.
const FIRST_SEED: u64 = 100;
/// Seeds that are tried at least.
const SEEDS: u64 = 8;
/// No more seeds are tried when the standard errors of what was counted are no larger.
const SURE: f64 = 0.005;
/// So many sampled shingles of a pair are enough for arithmetic to be sure (§8.3).
const ENOUGH_SAMPLED: f64 = 25.0;
/// A class with fewer true pairs is not compared: its counts say little.
const ENOUGH: f64 = 50.0;

/// A class at a share.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Comparison {
    /// Its number.
    pub class: usize,
    /// The share of shingles that is kept.
    pub share: f64,
    /// Sampled shingles of an average true pair: m of §8.
    pub sampled: f64,
    /// True pairs.
    pub truth: f64,
    /// What the sum says.
    pub expected: Outlook,
    /// What samples gave, on average.
    pub counted: Outlook,
    /// The standard error of its precision: pairs of one template are right or wrong together, so that it takes many samples to know it.
    pub error: f64,
}

impl Comparison {
    /// How far expected and counted precision lie apart.
    pub fn difference(&self) -> Option<f64> {
        Some((self.expected.precision()? - self.counted.precision()?).abs())
    }

    /// Whether enough shingles of a pair are sampled for both to be the same.
    pub fn is_sure(&self) -> bool {
        self.sampled >= ENOUGH_SAMPLED
    }
}

/// Compares them for each class with enough pairs, with samples under as many seeds as it takes to be sure, but no more than `most`.
pub fn compare_model(density: &Density, most: u64, exec: &Exec<'_>) -> Result<Vec<Comparison>, Error> {
    let expected = density.expect(&Detection::by_samples(density.threshold), exec)?;
    let (mut counted, mut comparisons) = (Vec::new(), Vec::new());
    for seed in 1..=most {
        counted.push(density.count(&LEVELS, FIRST_SEED + seed, exec)?);
        if seed == most || seed % SEEDS == 0 {
            comparisons = compare(density, &expected, &counted);
            if comparisons.iter().all(|row| !row.is_sure() || row.error <= SURE) {
                break;
            }
        }
    }
    Ok(comparisons)
}

fn compare(density: &Density, expected: &Table, counted: &[Table]) -> Vec<Comparison> {
    let all = Table::sum(counted);
    let count = density.classes.count();
    let compare = |(class, level): (usize, usize)| {
        let levels = vec![level; count];
        let expected = expected.outlook(class, &levels);
        let precisions: Vec<f64> = counted.iter().filter_map(|table| table.outlook(class, &levels).precision()).collect();
        (expected.truth >= ENOUGH).then(|| Comparison {
            class,
            share: Table::share(level),
            sampled: Table::share(level) * density.mean_union(class),
            truth: expected.truth,
            expected,
            counted: all.outlook(class, &levels),
            error: standard_error(&precisions),
        })
    };
    (0..count).flat_map(|class| LEVELS.map(|level| (class, level))).filter_map(compare).collect()
}

/// Of the mean of some values.
fn standard_error(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (square / (count * (count - 1.0)).max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::Classes;
    use super::super::real::revisions;
    use super::*;

    /// Where 25 shingles of a pair are sampled, sum and samples agree within 0.03, on real revisions of documents.
    #[test]
    fn the_sum_is_what_samples_give() {
        let exec = Exec::default();
        let Some(shelf) = revisions(&exec) else { return };
        for threshold in ["0.6", "0.85"] {
            let threshold = threshold.parse().unwrap();
            let density = Density::measure(&shelf, Classes::doubling(), threshold, u64::MAX, &exec, |_| ()).unwrap();
            let rows = compare_model(&density, 40, &exec).unwrap();
            let sure: Vec<&Comparison> = rows.iter().filter(|row| row.is_sure()).collect();
            assert!(sure.len() >= 20, "{}", sure.len());
            for row in sure {
                assert!(row.difference().unwrap() <= 0.03, "{threshold:?} {row:?}");
            }
        }
    }
}
