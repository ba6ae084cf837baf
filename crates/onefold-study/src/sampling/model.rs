//! The exact sum of §8.2 beside what samples really give: whether the planner's arithmetic can be believed.

use onefold::{Detection, Error, Exec};
use serde::Serialize;

use super::density::Density;
use super::table::{Outlook, Table};

/// Shares that are compared: every other octave of the grid.
const LEVELS: [usize; 5] = [4, 8, 12, 16, 20];
/// The first seed that is tried.
const FIRST_SEED: u64 = 100;
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

/// Compares them for each class with enough pairs, with samples under so many seeds.
pub fn compare_model(density: &Density, seeds: u64, exec: &Exec<'_>) -> Result<Vec<Comparison>, Error> {
    let expected = density.expect(&Detection::by_samples(density.threshold), exec)?;
    let counted =
        (FIRST_SEED..FIRST_SEED + seeds).map(|seed| density.count(&LEVELS, seed, exec)).collect::<Result<Vec<Table>, Error>>()?;
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

#[cfg(test)]
mod tests {
    use super::super::{Classes, Shelf};
    use super::*;

    /// Where 25 shingles of a pair are sampled, sum and samples agree within 0.03, on real revisions of documents.
    #[test]
    fn the_sum_is_what_samples_give() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/revisions_sitepolicy/docs.jsonl");
        let path = std::path::PathBuf::from(path);
        if !path.exists() {
            assert!(std::env::var_os("CI").is_none(), "{} is missing", path.display());
            return;
        }
        let (plan, exec) = (onefold::Plan { ngram_size: 10, ..onefold::Plan::default() }, Exec::default());
        let collection = onefold::ingest(&plan, &exec, vec![onefold::Input::Path(path)].into(), &onefold::Discard).unwrap();
        let shelf = Shelf::new(&collection, false).unwrap();
        for threshold in ["0.6", "0.85"] {
            let threshold = threshold.parse().unwrap();
            let density = Density::measure(&shelf, Classes::doubling(), threshold, u64::MAX, &exec, |_| ()).unwrap();
            let rows = compare_model(&density, 40, &exec).unwrap();
            let sure: Vec<&Comparison> = rows.iter().filter(|row| row.sampled >= 25.0).collect();
            assert!(sure.len() >= 20, "{}", sure.len());
            for row in sure {
                assert!(row.difference().unwrap() <= 0.03, "{threshold:?} {row:?}");
            }
        }
    }
}
