//! A plan for a stated promise: pilot, expectation, choice, trials (Y35–Y40).
//!
//! In: the sets of a collection and a [`Wish`]. Out: an [`Advice`]: a share for each class of sizes, what it is expected to give, and what trials
//! with seeds of their own gave. Where trials give less than was expected, more is asked for, and less where they give more; of all plans that were tried
//! the cheapest that keeps the promise is taken. Invariant: the seed that the plan
//! will run with is in none of the trials. Cost: that of [`Density::measure`], and for each trial a join of each share that was chosen.

use onefold::{Detection, Error, Exec, SizeClass, Threshold};
use serde::Serialize;

use super::classes::Classes;
use super::density::Density;
use super::planner::{Goal, cheapest};
use super::shelf::Shelf;
use super::table::{GRID, Outlook, Table};

/// Steps that looking at far pairs may take.
const BUDGET: u64 = 1_000_000_000;
/// Where verification follows, so many proposals for each true pair are thought worth its while.
const PROPOSALS_FOR_A_PAIR: f64 = 10.0;
/// Trials of a plan, and of one that shall hold in single runs. Their seeds begin with 1; the plan has another, 0.
const TRIALS: u64 = 6;
const TRIALS_FOR_RUNS: u64 = 12;
/// Plans that are tried, at most.
const ROUNDS: usize = 8;
/// After so many of them goals are only raised, so that plans come to an end that keeps the promise.
const BOTH_WAYS: usize = 4;
/// Deviations between runs that are left for a single one, over all classes.
const FOR_A_RUN: f64 = 0.25;
/// Expectations are never thought to be lower than the truth by more.
const LOW: f64 = 0.05;
/// How far expectations may be off, as a standard deviation.
const EXPECTED_ERROR: f64 = 0.02;
/// Less than this is not worth another plan, where there are few pairs.
const TOLERANCE: f64 = 0.01;
/// What trials may give less before somebody is told.
const MISSED: f64 = 0.02;
/// Classes with this share of all pairs that are found answer for the whole.
const MANY: f64 = 0.05;
/// From so many true pairs on trials are surer than expectations.
const SURE: f64 = 5000.0;
/// See [`Forecast::FEW`].
const ENOUGH: f64 = Forecast::FEW as f64;

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// From this resemblance on pairs are true.
    pub threshold: Threshold,
    /// What is promised for each class. Where verification follows, precision is 1 anyway.
    pub goal: Goal,
    /// The share of runs that shall keep it in each class, from 0.5 on; nothing where it is enough that they do so on average.
    pub confidence: Option<f64>,
    /// How far below the threshold an estimate may lie, in standard deviations, where verification follows; nothing where samples have
    /// the last word.
    pub margin: Option<f64>,
}

/// A plan with its reasons.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// What was promised.
    pub goal: Goal,
    /// The share of runs that shall keep it in each class, where that was asked for.
    pub confidence: Option<f64>,
    /// Whether proposals are verified.
    pub verified: bool,
    /// The classes, from small documents to large ones.
    pub classes: Vec<ClassAdvice>,
    /// All together.
    pub overall: Forecast,
    /// The share of all shingles that is kept.
    pub cost: f64,
    /// The smallest single share that keeps the promise in every class.
    pub uniform: f64,
    /// The share of documents whose far partners were looked at.
    pub looked_at: f64,
    /// True pairs in the collection.
    pub true_pairs: f64,
}

/// A class of documents by the number of their shingles.
#[derive(Clone, Debug, Serialize)]
pub struct ClassAdvice {
    /// Its first size.
    pub from: u32,
    /// The size that belongs to it no more.
    pub to: Option<u32>,
    /// Documents.
    pub documents: u64,
    /// Their shingles.
    pub shingles: u64,
    /// The share that they shall keep.
    pub share: f64,
    /// Pairs whose smaller document is of the class.
    pub pairs: Forecast,
    /// Expected precision and recall at every share of the grid, if all classes had it.
    pub curve: Vec<CurvePoint>,
}

/// What is expected of a share.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CurvePoint {
    /// The share of shingles that all documents keep.
    pub share: f64,
    /// Expected precision, if anything is found.
    pub precision: Option<f64>,
    /// Expected recall, if there is a true pair.
    pub recall: Option<f64>,
}

/// What is expected, and what trials gave.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Forecast {
    /// By the exact sum.
    pub expected: Outlook,
    /// One for each trial.
    pub trials: Vec<Outlook>,
}

impl Forecast {
    /// With fewer true pairs trials say little, and what is expected counts.
    pub const FEW: u32 = 20;

    /// Whether there are so few.
    pub fn is_left_to_expectations(&self) -> bool {
        self.expected.truth < ENOUGH
    }

    /// All trials together.
    pub fn pooled(&self) -> Outlook {
        let mut sum = Outlook::default();
        self.trials.iter().for_each(|trial| sum.add(*trial));
        sum
    }

    /// Between which values precision lies in nineteen of twenty runs, by the spread of the trials around what is expected.
    pub fn precision_interval(&self) -> Option<(f64, f64)> {
        self.interval(Outlook::precision)
    }

    /// The same of recall.
    pub fn recall_interval(&self) -> Option<(f64, f64)> {
        self.interval(Outlook::recall)
    }

    /// What is believed after the trials, between what was expected and what they gave, nearer to what is surer; and the standard deviation
    /// between runs.
    fn believed(&self, value: Value) -> Option<(f64, f64)> {
        let (expected, pooled) = (value(&self.expected)?, value(&self.pooled())?);
        let trials: Vec<f64> = self.trials.iter().filter_map(value).collect();
        let count = trials.len() as f64;
        let square = trials.iter().map(|trial| (trial - pooled).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let [of_expected, of_trials] = [EXPECTED_ERROR.powi(2), (square / count).max(1e-9)].map(f64::recip);
        Some(((expected * of_expected + pooled * of_trials) / (of_expected + of_trials), square.sqrt()))
    }

    fn interval(&self, value: impl Fn(&Outlook) -> Option<f64>) -> Option<(f64, f64)> {
        let expected = value(&self.expected)?;
        let trials: Vec<f64> = self.trials.iter().filter_map(value).collect();
        let square = trials.iter().map(|trial| (trial - expected).powi(2)).sum::<f64>() / trials.len().max(1) as f64;
        let reach = 2.0 * square.sqrt();
        Some(((expected - reach).max(0.0), (expected + reach).min(1.0)))
    }
}

impl Advice {
    /// The shares of the method that follows it.
    pub fn shares(&self) -> Vec<SizeClass> {
        let mut classes: Vec<SizeClass> =
            self.classes.iter().map(|class| SizeClass { from: class.from, share: class.share }).collect();
        classes.dedup_by(|next, before| next.share == before.share);
        classes
    }

    /// The places of the grid that classes have.
    pub fn levels(&self) -> Vec<usize> {
        self.classes.iter().map(|class| Table::level(class.share)).collect()
    }

    /// Whether trials gave less than was promised, where they say something.
    pub fn falls_short(&self, pairs: &Forecast) -> bool {
        !pairs.is_left_to_expectations() && self.misses(pairs)
    }

    /// Whether trials gave less than was promised, however few pairs they had.
    pub fn misses(&self, pairs: &Forecast) -> bool {
        let less = |value: Option<f64>, asked: f64| value.is_some_and(|value| value < asked - MISSED);
        let (pooled, goal) = (pairs.pooled(), self.goal);
        less(pooled.precision(), goal.precision) && !self.verified || less(pooled.recall(), goal.recall)
    }
}

/// Makes a plan; `watch` is told what comes next.
pub fn tune(shelf: &Shelf, classes: Classes, wish: Wish, exec: &Exec<'_>, mut watch: impl FnMut(&str)) -> Result<Advice, Error> {
    let density = Density::measure(shelf, classes, wish.threshold, BUDGET, exec, &mut watch)?;
    plan_for(&density, wish, exec, watch)
}

/// Makes a plan for a collection that was looked at, at the threshold of that.
pub fn plan_for(density: &Density, wish: Wish, exec: &Exec<'_>, mut watch: impl FnMut(&str)) -> Result<Advice, Error> {
    watch("what samples are expected to find");
    let detection = match wish.margin {
        Some(margin) => Detection::before_verification(wish.threshold, margin),
        None => Detection::by_samples(wish.threshold),
    };
    let expected = density.expect(&detection, exec)?;
    let goal = match wish.margin {
        Some(_) => Goal { precision: 1.0 / PROPOSALS_FOR_A_PAIR, ..wish.goal },
        None => wish.goal,
    };
    let mut goals = vec![goal; density.classes.count()];
    let mut tried: Vec<(Vec<usize>, f64, Advice)> = Vec::new();
    let mut may_lower = true;
    let count = if wish.confidence.is_some() { TRIALS_FOR_RUNS } else { TRIALS };
    for round in 1..=ROUNDS {
        let levels = cheapest(&expected, &goals);
        if let Some((.., known)) = tried.iter().find(|(before, ..)| *before == levels) {
            if !may_lower {
                break;
            }
            may_lower = false;
            correct(&mut goals, known, may_lower);
            continue;
        }
        let mut trials = Vec::new();
        for seed in 1..=count {
            watch(&format!("plan {round}, trial {seed} of {count}"));
            trials.push(density.count_plan(&levels, &detection, wish.margin.is_some(), seed, exec)?);
        }
        let advice = advise(density, &expected, wish, &goals, &levels, &trials);
        may_lower &= round < BOTH_WAYS;
        let short = correct(&mut goals, &advice, may_lower);
        tried.push((levels, short, advice));
    }
    let best = tried.into_iter().min_by(|(_, short, a), (_, other, b)| short.total_cmp(other).then(a.cost.total_cmp(&b.cost)));
    best.map(|(.., advice)| advice).ok_or_else(|| Error::Bug("no plan was made".into()))
}

/// Asks for more where trials gave less than was expected, and where a single run may well give less over all classes; for less where they gave
/// more, if that is wanted. Pairs of one template share their shingles, so that a sample is right or wrong about all of them at once; expectations do not see
/// this. Returns by how much all classes fall short of what was asked for.
fn correct(goals: &mut [Goal], advice: &Advice, may_lower: bool) -> f64 {
    let mut missing = 0.0;
    let margin = match advice.confidence {
        Some(share) => Margin { deviations: quantile_of_next(share, advice.overall.trials.len()), tolerance: 0.0 },
        None => Margin { deviations: 0.0, tolerance: TOLERANCE },
    };
    let for_a_run = Margin { deviations: margin.deviations.max(FOR_A_RUN), ..margin };
    let overall = short_of(&advice.overall, Outlook::precision, advice.goal.precision, for_a_run);
    for (goal, class) in goals.iter_mut().zip(&advice.classes) {
        let pairs = &class.pairs;
        if pairs.is_left_to_expectations() {
            continue;
        }
        let many = pairs.expected.found >= MANY * advice.overall.expected.found;
        let precision = short_of(pairs, Outlook::precision, advice.goal.precision, margin);
        let precision = if many { precision.max(overall) } else { precision };
        let recall = short_of(pairs, Outlook::recall, advice.goal.recall, margin);
        let values = [
            (&mut goal.precision, precision, advice.goal.precision, pairs.expected.precision()),
            (&mut goal.recall, recall, advice.goal.recall, pairs.expected.recall()),
        ];
        // What is verified needs no precision.
        for (slot, short, asked, expected) in values.into_iter().skip(usize::from(advice.verified)) {
            missing += short.max(0.0);
            // What is missing is asked for on top of what is expected now.
            let corrected = (expected.unwrap_or(1.0) + short).min((1.0 + *slot) / 2.0).max(asked - LOW);
            if corrected > *slot && short > 0.0 || may_lower {
                *slot = corrected;
            }
        }
    }
    missing
}

/// How much more than asked for a value shall be.
#[derive(Clone, Copy)]
struct Margin {
    /// So many deviations between runs more.
    deviations: f64,
    /// And so much less, where there are few pairs.
    tolerance: f64,
}

/// By how much a value falls short of what was asked for; negative where it gives more.
fn short_of(pairs: &Forecast, value: Value, asked: f64, Margin { deviations, tolerance }: Margin) -> f64 {
    let short = |(believed, deviation): (f64, f64)| {
        // Trials of many pairs are to be taken at their word.
        let counted = value(&pairs.pooled()).filter(|_| pairs.expected.truth >= SURE).unwrap_or(1.0);
        let tolerance = if pairs.expected.truth >= SURE { 0.0 } else { tolerance };
        asked - believed.min(counted) + deviations * deviation - tolerance
    };
    pairs.believed(value).map_or(0.0, short)
}

/// So many deviations above the mean of a normal distribution, `share` of it lies below: by Abramowitz and Stegun, 26.2.23, to three places, for
/// shares from one half on.
fn normal_quantile(share: f64) -> f64 {
    let t = (-2.0 * (1.0 - share).ln()).sqrt();
    t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
}

/// Below so many deviations above the mean of `count` values, both of them estimated from these, the next one lies with a probability of `share`:
/// Student's distribution by the first terms of its expansion.
fn quantile_of_next(share: f64, count: usize) -> f64 {
    let (normal, count) = (normal_quantile(share), count as f64);
    normal * (1.0 + (normal * normal + 1.0) / (4.0 * (count - 1.0).max(1.0))) * (1.0 + 1.0 / count.max(1.0)).sqrt()
}

/// What is looked at in an outlook.
type Value = fn(&Outlook) -> Option<f64>;

fn advise(density: &Density, expected: &Table, wish: Wish, goals: &[Goal], levels: &[usize], trials: &[Table]) -> Advice {
    let count = density.classes.count();
    let class = |class: usize| ClassAdvice {
        from: density.classes.from(class),
        to: density.classes.to(class),
        documents: density.documents[class],
        shingles: density.shingles[class],
        share: Table::share(levels[class]),
        pairs: Forecast {
            expected: expected.outlook(class, levels),
            trials: trials.iter().map(|trial| trial.outlook(class, levels)).collect(),
        },
        curve: (0..GRID).map(|level| at_share(expected, class, level)).collect(),
    };
    let same = |level: usize| vec![level; count];
    let uniform = (0..GRID).rev().find(|&level| (0..count).all(|class| goals[class].met(&expected.outlook(class, &same(level)))));
    let overall =
        Forecast { expected: expected.overall(levels), trials: trials.iter().map(|trial| trial.overall(levels)).collect() };
    Advice {
        goal: wish.goal,
        confidence: wish.confidence,
        verified: wish.margin.is_some(),
        classes: (0..count).map(class).collect(),
        cost: expected.cost(levels),
        uniform: Table::share(uniform.unwrap_or(0)),
        looked_at: density.looked_at,
        true_pairs: overall.expected.truth,
        overall,
    }
}

fn at_share(expected: &Table, class: usize, level: usize) -> CurvePoint {
    let outlook = expected.outlook(class, &vec![level; expected.classes.count()]);
    CurvePoint { share: Table::share(level), precision: outlook.precision(), recall: outlook.recall() }
}

#[cfg(test)]
mod tests {
    use super::super::real::revisions;
    use super::*;

    /// On real revisions of documents: seeds that no plan has seen reach what was asked for, with little more than the cheapest choice by these seeds.
    #[test]
    fn plans_keep_what_they_promise_and_waste_little() {
        let exec = Exec::default();
        let Some(shelf) = revisions(&exec) else { return };
        let threshold = "0.85".parse().unwrap();
        let density = Density::measure(&shelf, Classes::doubling(), threshold, BUDGET, &exec, |_| ()).unwrap();
        let every: Vec<usize> = (0..GRID).collect();
        let counted: Vec<Table> = (1000..1004).map(|seed| density.count(&every, seed, &exec).unwrap()).collect();
        let counted = Table::sum(&counted);
        for precision in [0.85, 0.9] {
            let goal = Goal { precision, recall: 0.8 };
            let levels =
                plan_for(&density, Wish { threshold, goal, confidence: None, margin: None }, &exec, |_| ()).unwrap().levels();
            let reached = counted.overall(&levels).precision().unwrap();
            assert!(reached >= precision - 0.01, "{reached} of {precision}");
            let least = counted.cost(&cheapest(&counted, &vec![goal; levels.len()]));
            assert!(counted.cost(&levels) <= 1.3 * least, "{} instead of {least}", counted.cost(&levels));
        }
    }

    /// On the same revisions: most single runs with seeds that no plan has seen keep the promise in every class, if that is asked for.
    #[test]
    fn plans_for_single_runs_keep_their_promise_in_each_class() {
        let exec = Exec::default();
        let Some(shelf) = revisions(&exec) else { return };
        let threshold = "0.75".parse().unwrap();
        let density = Density::measure(&shelf, Classes::doubling(), threshold, BUDGET, &exec, |_| ()).unwrap();
        let goal = Goal { precision: 0.85, recall: 0.8 };
        // The share of all runs and classes that keep the promise, and what the plan costs.
        let kept = |confidence: Option<f64>| {
            let wish = Wish { threshold, goal, confidence, margin: None };
            let advice = plan_for(&density, wish, &exec, |_| ()).unwrap();
            let levels = advice.levels();
            let detection = Detection::by_samples(threshold);
            let runs = (1000..1008).map(|seed| density.count_plan(&levels, &detection, false, seed, &exec).unwrap());
            let outlooks: Vec<Outlook> =
                runs.flat_map(|run| (0..levels.len()).map(|class| run.outlook(class, &levels)).collect::<Vec<_>>()).collect();
            let precisions: Vec<f64> =
                outlooks.iter().filter(|outlook| outlook.truth >= ENOUGH).filter_map(Outlook::precision).collect();
            let good = precisions.iter().filter(|&&precision| precision >= goal.precision).count();
            (good as f64 / precisions.len() as f64, advice.cost)
        };
        let ((on_average, cheap), (each_time, cost)) = (kept(None), kept(Some(0.95)));
        assert!(each_time >= 0.9, "{each_time} of the runs, and {on_average} without it");
        assert!(on_average < each_time && cheap < cost, "{on_average} at {cheap}, {each_time} at {cost}");
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (share, deviations) in [(0.5, 0.0), (0.9, 1.2816), (0.95, 1.6449), (0.975, 1.96), (0.999, 3.0902)] {
            assert!((normal_quantile(share) - deviations).abs() < 1e-3, "{share}");
        }
        // t of 11 degrees of freedom: 1.7959.
        assert!((quantile_of_next(0.95, 12) - 1.7959 * (13.0f64 / 12.0).sqrt()).abs() < 0.02);
    }
}
