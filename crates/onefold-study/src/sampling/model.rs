//! The exact sum of §8.2 beside what samples really give: whether the planner's arithmetic can be believed.

use onefold::{Detection, Error, Exec};
use serde::Serialize;

use super::density::Density;
use super::table::{Outlook, Table};

/// Shares that are compared: every other octave of the grid.
const LEVELS: [usize; 5] = [4, 8, 12, 16, 20];
/// Seeds that are tried at each.
const SEEDS: std::ops::Range<u64> = 100..108;
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
}

impl Comparison {
    /// How far expected and counted precision lie apart.
    pub fn difference(&self) -> Option<f64> {
        Some((self.expected.precision()? - self.counted.precision()?).abs())
    }
}

/// Compares them for each class with enough pairs.
pub fn compare_model(density: &Density, exec: &Exec<'_>) -> Result<Vec<Comparison>, Error> {
    let expected = density.expect(&Detection::by_samples(density.threshold), exec)?;
    let counted = SEEDS.map(|seed| density.count(&LEVELS, seed, exec)).collect::<Result<Vec<Table>, Error>>()?;
    let counted = Table::sum(&counted);
    let mut comparisons = Vec::new();
    for class in 0..density.classes.count() {
        for level in LEVELS {
            let levels = vec![level; density.classes.count()];
            let expected = expected.outlook(class, &levels);
            if expected.truth >= ENOUGH {
                comparisons.push(Comparison {
                    class,
                    share: Table::share(level),
                    sampled: Table::share(level) * density.mean_union(class),
                    truth: expected.truth,
                    expected,
                    counted: counted.outlook(class, &levels),
                });
            }
        }
    }
    Ok(comparisons)
}
