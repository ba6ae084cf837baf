//! Whether plans keep what they promise: for collections, thresholds and precisions a plan is made, and counted under seeds it has not seen;
//! and whether the cheapest choice of shares by these very counts would have been much cheaper.
//!
//! `cargo run --release -p onefold-study --example promise -- FILE...` prints a table as Markdown.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;

use onefold::{Exec, Input, Plan, TextRules, Threshold};
use onefold_study::sampling::{Classes, Density, GRID, Goal, Shelf, Table, Wish, cheapest, plan_for};

const THRESHOLDS: [&str; 5] = ["0.5", "0.6", "0.75", "0.85", "0.9"];
const PRECISIONS: [f64; 4] = [0.8, 0.85, 0.9, 0.95];
const RECALL: f64 = 0.8;
/// Seeds that no plan looks at.
const UNSEEN: std::ops::Range<u64> = 1000..1004;
const BUDGET: u64 = 1_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let exec = Exec::default();
    println!(
        "| collection | threshold | asked | reached | worst class | recall | shingles | cheapest | ratio |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    let (mut kept, mut cheap, mut all) = (0, 0, 0);
    for path in std::env::args().skip(1) {
        let plan = Plan { ngram_size: 10, text: TextRules::Plain, ..Plan::default() };
        let input = vec![Input::Path(path.clone().into())];
        let shelf = Shelf::new(&onefold::ingest(&plan, &exec, input.into(), &onefold::Discard)?, false)?;
        for threshold in THRESHOLDS {
            let threshold: Threshold = threshold.parse()?;
            let density = Density::measure(&shelf, Classes::doubling(), threshold, BUDGET, &exec, |_| ())?;
            let every: Vec<usize> = (0..GRID).collect();
            let counted: Vec<Table> = UNSEEN.map(|seed| density.count(&every, seed, &exec)).collect::<Result<_, _>>()?;
            let counted = Table::sum(&counted);
            for precision in PRECISIONS {
                let goal = Goal { precision, recall: RECALL };
                let advice = plan_for(&density, Wish { threshold, goal, confidence: None, margin: None }, &exec, |_| ())?;
                let levels = advice.levels();
                let best = counted.cost(&cheapest(&counted, &vec![goal; levels.len()]));
                let (outlook, cost) = (counted.overall(&levels), counted.cost(&levels));
                let reached = outlook.precision().unwrap_or(1.0);
                all += 1;
                kept += usize::from(reached >= precision - 0.01);
                cheap += usize::from(cost <= 1.3 * best);
                println!(
                    "| {} | {threshold} | {precision} | {reached:.3} | {} | {:.3} | {:.2} % | {:.2} % | {:.2} |",
                    path.rsplit('/').nth(1).unwrap_or(&path),
                    worst(&counted, &levels),
                    outlook.recall().unwrap_or(1.0),
                    100.0 * cost,
                    100.0 * best,
                    cost / best,
                );
            }
        }
    }
    println!(
        "\n{kept} of {all} plans reach what was asked for, less 0.01; {cheap} of {all} cost at most 1.3 times the cheapest."
    );
    Ok(())
}

/// The lowest precision of a class with at least 20 true pairs.
fn worst(counted: &Table, levels: &[usize]) -> String {
    let enough = 20.0 * UNSEEN.count() as f64;
    let outlooks = (0..levels.len()).map(|class| counted.outlook(class, levels));
    let precisions = outlooks.filter(|outlook| outlook.truth >= enough).filter_map(|outlook| outlook.precision());
    precisions.min_by(f64::total_cmp).map_or("–".into(), |least| format!("{least:.3}"))
}
