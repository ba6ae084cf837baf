//! The cheapest shares that keep a promise (Y35): a ratio for each class of sizes.
//!
//! In: a [`Table`] and a [`Goal`] for each class. Out: a place of the grid for each class. Invariant: by the table every class meets the goal, and no other
//! choice that does keeps fewer shingles, as long as pairs reach no further than [`WINDOW`] classes; where they do, none that differs in
//! two classes. Cost: the grid to the power of that. A
//! class that can't meet the goal by any sample keeps all shingles (Y35).

use std::collections::HashMap;

use serde::Serialize;

use super::table::{GRID, Outlook, STEPS_OF_AN_OCTAVE, Table};

/// What is promised for each class.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Goal {
    /// At least so many of the pairs that are found are true.
    pub precision: f64,
    /// At least so many of the true pairs are found.
    pub recall: f64,
}

impl Goal {
    /// Whether it is met; pairs that there are none of break no promise.
    pub fn met(&self, outlook: &Outlook) -> bool {
        outlook.truth < 1.0
            || (outlook.precision().is_none_or(|precision| precision >= self.precision)
                && outlook.recall().is_none_or(|recall| recall >= self.recall))
    }
}

/// Classes whose shares are weighed against each other.
const WINDOW: usize = 2;

/// The levels of the classes next above, the nearest first.
type State = Vec<usize>;

/// What the cheapest choice for a class and all above costs, and the level that the class has in it.
type Best = HashMap<State, (f64, Vec<usize>)>;

/// The cheapest levels that meet the goal of every class.
pub fn cheapest(table: &Table, goals: &[Goal]) -> Vec<usize> {
    let count = table.classes.count();
    let window = table.reach().min(WINDOW);
    let mut best: Best = HashMap::from([(Vec::new(), (0.0, Vec::new()))]);
    for class in (0..count).rev() {
        let mut next: Best = HashMap::new();
        for (state, (cost, levels)) in &best {
            for level in candidates(table, goals[class], class, state) {
                let cost = cost + table.shingles[class] as f64 * Table::share(level);
                let mut above = vec![level];
                above.extend_from_slice(&state[..state.len().min(window.saturating_sub(1))]);
                if window == 0 {
                    above.clear();
                }
                let mut levels = levels.clone();
                levels.push(level);
                let entry = next.entry(above).or_insert((f64::INFINITY, Vec::new()));
                if cost < entry.0 || (cost == entry.0 && levels < entry.1) {
                    *entry = (cost, levels);
                }
            }
        }
        best = next;
    }
    let cheapest = best.into_values().min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let mut levels: Vec<usize> = cheapest.map_or_else(|| vec![0; count], |(_, levels)| levels.into_iter().rev().collect());
    repair(table, goals, &mut levels);
    thin_out(table, goals, &mut levels);
    fill_in(table, &mut levels);
    repair(table, goals, &mut levels);
    levels
}

/// Levels at which a class meets the goal, if those above have these; none where these are too coarse. All shingles always meet it.
fn candidates(table: &Table, goal: Goal, class: usize, above: &[usize]) -> Vec<usize> {
    let met = |level: &usize| {
        let mut sum = table.between([class, class], *level);
        for (at, &other) in above.iter().enumerate() {
            sum.add(table.between([class, class + 1 + at], (*level).max(other)));
        }
        goal.met(&sum)
    };
    (0..GRID).filter(met).collect()
}

/// A class without true pairs says nothing of what it needs: it samples as many shingles of a document as the nearest class that does.
fn fill_in(table: &Table, levels: &mut [usize]) {
    let known = |class: &usize| table.outlook(*class, &vec![0; levels.len()]).truth >= 1.0;
    let known: Vec<usize> = (0..levels.len()).filter(known).collect();
    let decided = levels.to_vec();
    for class in (0..levels.len()).filter(|class| !known.contains(class)) {
        let Some(&nearest) = known.iter().min_by_key(|other| (other.abs_diff(class), **other)) else {
            levels[class] = 0;
            continue;
        };
        let size = |class: usize| f64::from(table.classes.from(class).max(1)).log2();
        let steps = decided[nearest] as f64 + STEPS_OF_AN_OCTAVE * (size(class) - size(nearest));
        levels[class] = (steps.floor().max(0.0) as usize).min(GRID - 1);
    }
}

/// How far classes fall short of the goal, all together.
fn shortfall(table: &Table, goals: &[Goal], levels: &[usize]) -> f64 {
    let short = |class: usize| {
        let goal = goals[class];
        let outlook = table.outlook(class, levels);
        if goal.met(&outlook) {
            return 0.0;
        }
        let miss = |asked: f64, value: Option<f64>| value.map_or(0.0, |value| (asked - value).max(0.0));
        miss(goal.precision, outlook.precision()) + miss(goal.recall, outlook.recall())
    };
    (0..levels.len()).map(short).sum()
}

/// Pairs of classes that lie far apart may spoil what their neighbours promise. Then the class that mends most for its shingles keeps more,
/// until all is well.
fn repair(table: &Table, goals: &[Goal], levels: &mut [usize]) {
    loop {
        let short = shortfall(table, goals, levels);
        if short == 0.0 {
            return;
        }
        let worth = |class: usize, level: usize| {
            let changed = with(levels, class, level);
            (short - shortfall(table, goals, &changed)) / (table.cost(&changed) - table.cost(levels)).max(f64::MIN_POSITIVE)
        };
        let finer = (0..levels.len()).flat_map(|class| (0..levels[class]).map(move |level| (class, level)));
        let Some((class, level)) = finer.max_by(|&(a, x), &(b, y)| worth(a, x).total_cmp(&worth(b, y))) else { return };
        levels[class] = level;
    }
}

/// Takes from one class what another need not give, as long as the goal is met.
fn thin_out(table: &Table, goals: &[Goal], levels: &mut Vec<usize>) {
    let fits = |levels: &[usize]| shortfall(table, goals, levels) == 0.0;
    if !fits(levels) {
        return;
    }
    loop {
        let mut better: Option<(f64, Vec<usize>)> = None;
        let mut consider = |changed: Vec<usize>| {
            let cost = table.cost(&changed);
            if cost < better.as_ref().map_or(table.cost(levels), |(cost, _)| *cost) && fits(&changed) {
                better = Some((cost, changed));
            }
        };
        for class in 0..levels.len() {
            for level in levels[class] + 1..GRID {
                let coarser = with(levels, class, level);
                for other in (0..levels.len()).filter(|&other| other != class) {
                    (levels[other].saturating_sub(4)..=levels[other]).for_each(|finer| consider(with(&coarser, other, finer)));
                }
                consider(coarser);
            }
        }
        match better {
            Some((_, changed)) => *levels = changed,
            None => return,
        }
    }
}

fn with(levels: &[usize], class: usize, level: usize) -> Vec<usize> {
    let mut changed = levels.to_vec();
    changed[class] = level;
    changed
}

#[cfg(test)]
mod tests {
    use super::super::classes::Classes;
    use super::*;

    /// A table whose precision falls evenly with the level, faster for small classes.
    fn table(classes: usize, across: f64) -> Table {
        let names = Classes::new((1..classes as u32).map(|class| 100 << class));
        let mut table = Table::new(names, vec![10; classes], (1..=classes as u64).map(|class| class * 1000).collect());
        for small in 0..classes {
            for large in small..classes.min(small + 3) {
                let pairs = if small == large { 100.0 } else { across };
                table.add_truth([small, large], pairs);
                for level in 0..GRID {
                    let wrong = level as f64 * pairs / (10.0 * (1.0 + small as f64));
                    table.set([small, large], level, pairs + wrong, pairs);
                }
            }
        }
        table
    }

    /// By trying everything.
    fn brute(table: &Table, goal: Goal) -> f64 {
        let count = table.classes.count();
        let all = GRID.pow(count as u32);
        let levels = |mut number: usize| -> Vec<usize> { (0..count).map(|_| (number % GRID, number /= GRID).0).collect() };
        let good = |levels: &Vec<usize>| (0..count).all(|class| goal.met(&table.outlook(class, levels)));
        (0..all).map(levels).filter(good).map(|levels| table.cost(&levels)).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_choice_is_cheaper() {
        for (across, precision) in [(0.0, 0.9), (50.0, 0.9), (300.0, 0.8), (300.0, 0.6)] {
            let (table, goal) = (table(3, across), Goal { precision, recall: 0.5 });
            let levels = cheapest(&table, &[goal; 3]);
            assert!((0..3).all(|class| goal.met(&table.outlook(class, &levels))), "{levels:?}");
            assert!((table.cost(&levels) - brute(&table, goal)).abs() < 1e-12, "{across} {precision} {levels:?}");
        }
    }

    #[test]
    fn what_no_sample_reaches_keeps_all() {
        let levels = cheapest(&table(3, 10.0), &[Goal { precision: 1.0, recall: 0.5 }; 3]);
        assert_eq!(levels, [0, 0, 0]);
    }

    #[test]
    fn classes_without_pairs_follow_their_neighbours() {
        let mut known = table(4, 0.0);
        known.add_truth([3, 3], -100.0);
        let levels = cheapest(&known, &[Goal { precision: 0.9, recall: 0.0 }; 4]);
        assert_eq!(levels[3], levels[2] + 4, "documents twice as large keep half as much");
    }
}
