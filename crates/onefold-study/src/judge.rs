//! Which measure agrees best with people: labelled pairs, measured in several ways, each with the threshold that fits.
//!
//! In: two texts and a label for each pair. Out: for each measure its F1 at the best threshold, and cross-validated, where the threshold is
//! chosen on other pairs than those it is judged by. Invariant: the same figures for the same pairs, whatever their order in the
//! file is not: folds are drawn by a fixed generator. Cost: a comparison for each pair and measure. Drops nothing.

use onefold::{Recipe, resemblance};
use serde::Serialize;

/// Two texts that people have judged.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'a> {
    /// The texts.
    pub texts: [&'a str; 2],
    /// Whether they are near-duplicates.
    pub positive: bool,
}

/// A way to say how alike two texts are, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Common shingles of so many words, over all.
    Resemblance(u32),
    /// Common shingles over those of the document that has more: how much of the larger the other covers.
    OfLarger(u32),
    /// Common shingles over those of the document that has fewer: how much of the smaller lies in the other.
    OfSmaller(u32),
    /// How much of the smaller document lies in the other, by short runs and by long ones: the mean. Pages of one template share short
    /// runs, near-duplicates long ones too.
    OfSmallerAtTwoScales(u32, u32),
}

impl Measure {
    /// As tables call it.
    pub fn name(self) -> String {
        match self {
            Measure::Resemblance(words) => format!("resemblance, {words} words"),
            Measure::OfLarger(words) => format!("share of the larger, {words} words"),
            Measure::OfSmaller(words) => format!("share of the smaller, {words} words"),
            Measure::OfSmallerAtTwoScales(short, long) => format!("share of the smaller, mean of {short} and {long} words"),
        }
    }

    /// How alike two texts are. Without shingles they are alike if they are equal.
    pub fn of(self, [a, b]: [&str; 2]) -> f64 {
        let counts = |words: u32| {
            let common = |a: &str, b: &str| resemblance(a, b, Recipe::of_words(words)).map_or(0, |both| both.overlap);
            (f64::from(common(a, b)), f64::from(common(a, a)), f64::from(common(b, b)))
        };
        let share = |common: f64, whole: f64| if whole > 0.0 { common / whole } else { f64::from(u8::from(a == b)) };
        match self {
            Measure::Resemblance(words) => {
                let (common, first, second) = counts(words);
                share(common, first + second - common)
            }
            Measure::OfLarger(words) => {
                let (common, first, second) = counts(words);
                share(common, first.max(second))
            }
            Measure::OfSmaller(words) => {
                let (common, first, second) = counts(words);
                share(common, first.min(second))
            }
            Measure::OfSmallerAtTwoScales(short, long) => {
                (Measure::OfSmaller(short).of([a, b]) + Measure::OfSmaller(long).of([a, b])) / 2.0
            }
        }
    }
}

/// How well a measure agrees with the labels.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The measure.
    pub measure: String,
    /// The threshold that fits all pairs best.
    pub threshold: f64,
    /// F1 there: an upper bound, since the same pairs chose it.
    pub best_f1: f64,
    /// F1 with thresholds chosen on other pairs; the mean of several divisions.
    pub cross_validated_f1: f64,
}

/// Judges measures by labelled pairs.
pub fn judge(pairs: &[Labelled<'_>], measures: &[Measure]) -> Vec<Verdict> {
    let labels: Vec<bool> = pairs.iter().map(|pair| pair.positive).collect();
    let verdict = |measure: &Measure| {
        let values: Vec<f64> = pairs.iter().map(|pair| measure.of(pair.texts)).collect();
        let all: Vec<usize> = (0..pairs.len()).collect();
        let threshold = best_threshold(&values, &labels, &all);
        let accepted = |&at: &usize| values[at] >= threshold;
        let best_f1 = f1(all.iter().map(|at| (accepted(at), labels[*at])));
        Verdict { measure: measure.name(), threshold, best_f1, cross_validated_f1: cross_validate(&values, &labels) }
    };
    measures.iter().map(verdict).collect()
}

/// Divisions into folds whose results are averaged, and the folds of each.
const DIVISIONS: u64 = 20;
const FOLDS: usize = 10;

/// F1 of all pairs, each judged by a threshold that was chosen without it.
fn cross_validate(values: &[f64], labels: &[bool]) -> f64 {
    let division = |seed: u64| {
        let order = shuffled(values.len(), seed);
        let mut accepted = vec![false; values.len()];
        for fold in 0..FOLDS {
            let (held_out, others): (Vec<usize>, Vec<usize>) = (0..order.len()).partition(|at| at % FOLDS == fold);
            let others: Vec<usize> = others.into_iter().map(|at| order[at]).collect();
            let threshold = best_threshold(values, labels, &others);
            held_out.into_iter().map(|at| order[at]).for_each(|at| accepted[at] = values[at] >= threshold);
        }
        f1(accepted.into_iter().zip(labels.iter().copied()))
    };
    (0..DIVISIONS).map(division).sum::<f64>() / DIVISIONS as f64
}

/// The middle of the thresholds that fit these pairs best, between two of their values.
fn best_threshold(values: &[f64], labels: &[bool], among: &[usize]) -> f64 {
    let mut levels: Vec<f64> = among.iter().map(|&at| values[at]).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let score = |level: f64| f1(among.iter().map(|&at| (values[at] >= level, labels[at])));
    let scores: Vec<f64> = levels.iter().map(|&level| score(level)).collect();
    let best = scores.iter().copied().fold(0.0, f64::max);
    let fitting: Vec<usize> = (0..levels.len()).filter(|&at| scores[at] >= best - 1e-12).collect();
    match fitting.get(fitting.len() / 2) {
        Some(&at) if at > 0 => (levels[at] + levels[at - 1]) / 2.0,
        Some(&at) => levels[at],
        None => 1.0,
    }
}

/// Of (accepted, positive).
fn f1(pairs: impl Iterator<Item = (bool, bool)>) -> f64 {
    let (mut right, mut wrong) = (0u32, 0u32);
    for (accepted, positive) in pairs {
        right += u32::from(accepted && positive);
        wrong += u32::from(accepted != positive);
    }
    if right == 0 { 0.0 } else { 2.0 * f64::from(right) / (2.0 * f64::from(right) + f64::from(wrong)) }
}

/// The numbers below `count` in an order that the seed tells (splitmix64, Fisher and Yates).
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut random = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        order.swap(at, (random() % (at as u64 + 1)) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_what_they_say() {
        // Shingles of two words: 4 and 2 of them, 2 in common.
        let texts = ["a b c d e", "a b c"];
        assert_eq!(Measure::Resemblance(2).of(texts), 0.5);
        assert_eq!(Measure::OfLarger(2).of(texts), 0.5);
        assert_eq!(Measure::OfSmaller(2).of(texts), 1.0);
        assert_eq!(Measure::OfSmallerAtTwoScales(2, 3).of(["a b c d e", "x a b c"]), (2.0 / 3.0 + 0.5) / 2.0);
        assert_eq!(Measure::Resemblance(9).of(["a b", "a b"]), 1.0, "no shingles, but equal");
        assert_eq!(Measure::Resemblance(9).of(["a b", "a c"]), 0.0);
    }

    #[test]
    fn thresholds_lie_between_what_they_part() {
        let (values, labels) = ([0.1, 0.2, 0.6, 0.9], [false, false, true, true]);
        let all = [0, 1, 2, 3];
        assert!((best_threshold(&values, &labels, &all) - 0.4).abs() < 1e-12);
        assert_eq!(f1([(true, true), (true, false), (false, true)].into_iter()), 0.5);
        assert_eq!(f1([(false, true)].into_iter()), 0.0);
    }

    /// A measure that knows nothing scores, cross-validated, no better than accepting all.
    #[test]
    fn chance_is_not_rewarded() {
        let values: Vec<f64> = shuffled(100, 7).into_iter().map(|n| n as f64).collect();
        let labels: Vec<bool> = (0..100).map(|n| n % 2 == 0).collect();
        assert!(cross_validate(&values, &labels) <= 2.0 / 3.0 + 0.01);
        let known: Vec<f64> = labels.iter().map(|&label| f64::from(u8::from(label))).collect();
        assert_eq!(cross_validate(&known, &labels), 1.0);
    }
}
