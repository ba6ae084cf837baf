//! Whether plans keep what they promise: for collections, thresholds and precisions a plan is made, and counted under seeds it has not seen.
//!
//! `cargo run --release -p onefold-study --example promise -- FILE...` prints a table; `bench/README.md` says what was found.

use std::error::Error;
use std::time::Instant;

use onefold::{Detection, Exec, Input, Plan, TextRules, Threshold};
use onefold_study::sampling::{Classes, Density, GRID, Goal, Shelf, Table, cheapest};

const THRESHOLDS: [&str; 5] = ["0.5", "0.6", "0.75", "0.85", "0.9"];
const PRECISIONS: [f64; 4] = [0.8, 0.85, 0.9, 0.95];
/// Seeds that no plan looks at.
const UNSEEN: std::ops::Range<u64> = 1000..1008;
const BUDGET: u64 = 1_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let exec = Exec::default();
    println!("collection  t     asked  recall |  planned reached  worst class | share   cheapest ratio");
    for path in std::env::args().skip(1) {
        let plan = Plan { ngram_size: 10, text: TextRules::Plain, ..Plan::default() };
        let collection = onefold::ingest(&plan, &exec, vec![Input::Path(path.clone().into())].into(), &onefold::Discard)?;
        let shelf = Shelf::new(&collection, false)?;
        for threshold in THRESHOLDS {
            let threshold: Threshold = threshold.parse()?;
            let began = Instant::now();
            let density = Density::measure(&shelf, Classes::doubling(), threshold, BUDGET, &exec, |_| ())?;
            let expected = density.expect(&Detection::by_samples(threshold), &exec)?;
            let planned = began.elapsed().as_secs_f64();
            let levels: Vec<usize> = (0..GRID).collect();
            let counted: Vec<Table> = UNSEEN.map(|seed| density.count(&levels, seed, &exec)).collect::<Result<_, _>>()?;
            let pooled = Table::sum(&counted);
            for precision in PRECISIONS {
                let goal = Goal { precision, recall: 0.8 };
                let (plan, best) = (cheapest(&expected, goal), cheapest(&pooled, goal));
                let outlook = pooled.overall(&plan);
                let worst = (0..density.classes.count()).filter_map(|class| {
                    let outlook = pooled.outlook(class, &plan);
                    (outlook.truth >= 1.0).then(|| outlook.precision().map(|p| (p, class, outlook.truth / 8.0)))?
                });
                let worst = worst.min_by(|a, b| a.0.total_cmp(&b.0));
                println!(
                    "{:<12}{threshold:<6}{precision:<7}{:.3} | {:.3} {:.3} {worst:.3?} | {:.4} {:.4} {:.2}  {plan:?} {best:?}",
                    path.rsplit('/').next().unwrap_or(&path),
                    outlook.recall().unwrap_or(1.0),
                    expected.overall(&plan).precision().unwrap_or(1.0),
                    outlook.precision().unwrap_or(1.0),
                    pooled.cost(&plan),
                    pooled.cost(&best),
                    pooled.cost(&plan) / pooled.cost(&best),
                );
            }
            eprintln!(
                "{path} {threshold}: planned in {planned:.1} s, all in {:.1} s, looked at {:.3}, truth {:?}",
                began.elapsed().as_secs_f64(),
                density.looked_at,
                (0..density.classes.count()).map(|c| expected.outlook(c, &[0; 10]).truth).collect::<Vec<_>>()
            );
        }
    }
    Ok(())
}
