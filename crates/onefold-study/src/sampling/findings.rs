//! What Ye, Wen and Ma found on .GOV, looked for in another collection (Y28–Y34, Y37–Y39).

use serde::Serialize;

use super::trials::{Counted, Trials};

/// A statement of the paper, and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// In the specification.
    pub id: &'static str,
    /// What they say.
    pub claim: &'static str,
    /// What is seen here.
    pub here: String,
    /// Whether it holds here; nothing where there is too little to tell.
    pub holds: Option<bool>,
}

/// A class with fewer true pairs tells nothing.
const ENOUGH: u64 = 20;
/// The sampling that most statements are about.
const SIXTEENTH: u32 = 16;

/// All of them.
pub fn findings(trials: &Trials) -> Vec<Finding> {
    let look = Look { trials };
    vec![look.y28(), look.y29(), look.y30(), look.y31(), look.y32(), look.y33(), look.y34(), look.y37(), look.y39()]
}

struct Look<'a> {
    trials: &'a Trials,
}

impl Look<'_> {
    fn threshold(&self, value: f64) -> Option<usize> {
        self.trials.design.thresholds.iter().position(|threshold| (threshold.as_f64() - value).abs() < 1e-9)
    }

    fn precision(&self, modulo: u32, threshold: f64, class: Option<usize>) -> Option<f64> {
        let at = self.threshold(threshold)?;
        let pairs = self.trials.truth.inside(at, class);
        let mean = self.trials.precision(modulo, at, class, Counted::Inside)?;
        (pairs >= ENOUGH).then_some(mean.mean)
    }

    fn classes(&self) -> std::ops::Range<usize> {
        0..self.trials.design.classes.count()
    }

    fn name(&self, class: usize) -> String {
        self.trials.design.classes.name(class)
    }

    /// Thresholds within bounds, rising.
    fn thresholds(&self, above: f64, up_to: f64) -> Vec<f64> {
        let all = self.trials.design.thresholds.iter().map(|threshold| threshold.as_f64());
        all.filter(|&threshold| threshold > above && threshold <= up_to).collect()
    }

    fn y28(&self) -> Finding {
        let drop = |class: usize| {
            let [low, high] = [0.5, 0.95].map(|threshold| self.precision(SIXTEENTH, threshold, Some(class)));
            Some((class, low? - high?))
        };
        let drops: Vec<(usize, f64)> = self.classes().filter_map(drop).collect();
        let first = drops.iter().find(|(class, _)| *class == 0).map(|(_, drop)| *drop);
        let steepest = drops.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let holds = first.zip(steepest).map(|(first, (class, _))| first > 0.0 && *class == 0);
        let here = match (first, steepest) {
            (Some(first), Some(&(class, most))) => {
                format!(
                    "from 0.5 to 0.95 precision at 1/16 falls by {first:.2} in the smallest class; most, by {most:.2}, in {}",
                    self.name(class)
                )
            }
            _ => "too few pairs".into(),
        };
        Finding { id: "Y28", claim: "precision falls as the threshold rises, most for the smallest documents", here, holds }
    }

    fn y29(&self) -> Finding {
        let values: Vec<f64> =
            self.thresholds(0.5, 1.0).into_iter().filter_map(|t| self.precision(SIXTEENTH, t, Some(0))).collect();
        let most = values.iter().copied().fold(f64::NAN, f64::max);
        Finding {
            id: "Y29",
            claim: "at 1/16 the precision of the smallest class stays below 0.8 for every threshold above 0.5",
            here: if values.is_empty() { "too few pairs".into() } else { format!("its largest value is {most:.3}") },
            holds: (!values.is_empty()).then_some(most < 0.8),
        }
    }

    fn y30(&self) -> Finding {
        let small = self.classes().filter(|&class| self.trials.design.classes.to(class).is_some_and(|to| to <= 3000));
        let values: Vec<(usize, f64)> =
            small.filter_map(|class| Some((class, self.precision(SIXTEENTH, 0.99, Some(class))?))).collect();
        let list = values.iter().map(|(class, value)| format!("{} {value:.3}", self.name(*class)));
        Finding {
            id: "Y30",
            claim: "at 1/16 the classes below 3,000 words fall under 0.1 above a threshold of 0.95",
            here: if values.is_empty() {
                "too few pairs".into()
            } else {
                format!("at 0.99: {}", list.collect::<Vec<_>>().join(", "))
            },
            holds: (!values.is_empty()).then(|| values.iter().all(|(_, value)| *value < 0.1)),
        }
    }

    fn y31(&self) -> Finding {
        let values = (self.precision(SIXTEENTH, 0.85, Some(0)), self.precision(SIXTEENTH, 0.85, None));
        let (here, holds) = match values {
            (Some(small), Some(all)) => (format!("{small:.3} and {all:.3}"), Some(small < all)),
            _ => ("too few pairs".into(), None),
        };
        let claim =
            "at 1/16 and 0.85 precision is 0.57 below 500 words and 0.70 overall (here: lower for small documents than overall)";
        Finding { id: "Y31", claim, here, holds }
    }

    fn y32(&self) -> Finding {
        let all: u64 = self.trials.documents.iter().sum();
        let low = self.classes().filter(|&class| self.precision(25, 0.85, Some(class)).is_some_and(|value| value <= 0.55));
        let documents: u64 = low.map(|class| self.trials.documents[class]).sum();
        let share = documents as f64 / all.max(1) as f64;
        let known = self.classes().any(|class| self.precision(25, 0.85, Some(class)).is_some());
        Finding {
            id: "Y32",
            claim: "at 1/25 precision is at most 0.55 for 68 % of the documents",
            here: if known { format!("at 0.85 for {:.1} % of the documents", 100.0 * share) } else { "too few pairs".into() },
            holds: known.then_some(share >= 0.5),
        }
    }

    fn y33(&self) -> Finding {
        let recall = |threshold: f64, class: Option<usize>| {
            let at = self.threshold(threshold)?;
            let enough = self.trials.truth.inside(at, class) >= ENOUGH;
            self.trials.recall(SIXTEENTH, at, class, Counted::Inside).filter(|_| enough).map(|mean| mean.mean)
        };
        let thresholds = self.thresholds(0.0, 0.95);
        let of = |class: Option<usize>| thresholds.iter().filter_map(move |&t| recall(t, class)).collect::<Vec<f64>>();
        let (overall, small) = (of(None), of(Some(0)));
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = least(&overall).min(if small.is_empty() { f64::INFINITY } else { least(&small) });
        let spread = most(&overall) - least(&overall);
        Finding {
            id: "Y33",
            claim: "recall at 1/16 stays above 0.6 and is nearly flat in the threshold",
            here: if overall.is_empty() {
                "too few pairs".into()
            } else {
                format!("at least {lowest:.3}; overall it changes by {spread:.3} up to 0.95")
            },
            holds: (!overall.is_empty()).then_some(lowest > 0.6 && spread < 0.15),
        }
    }

    fn y34(&self) -> Finding {
        let last = self.classes().rev().find(|&class| self.precision(SIXTEENTH, 0.85, Some(class)).is_some());
        let values: Vec<f64> = last.map_or_else(Vec::new, |class| {
            self.thresholds(0.0, 0.9).into_iter().filter_map(|t| self.precision(SIXTEENTH, t, Some(class))).collect()
        });
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let here =
            last.map_or("too few pairs".into(), |class| format!("{}: {least:.3} to {most:.3} up to 0.9", self.name(class)));
        Finding {
            id: "Y34",
            claim: "for the largest documents precision is high and stable",
            here,
            holds: last.map(|_| least >= 0.85 && most - least < 0.1),
        }
    }

    fn y37(&self) -> Finding {
        self.adaptive(
            "Y37",
            "precision 0.8 at 0.6 with 8 % of the shingles: 1/8 for the smallest class, 1/16 for others",
            0.6,
            0.8,
            0.08,
        )
    }

    fn y39(&self) -> Finding {
        self.adaptive("Y39", "precision 0.85 for all documents at 0.85 with 5.55 % of the shingles", 0.85, 0.85, 0.0555)
    }

    fn adaptive(&self, id: &'static str, claim: &'static str, threshold: f64, precision: f64, published: f64) -> Finding {
        let Some(at) = self.threshold(threshold) else {
            return Finding { id, claim, here: "the threshold was not tried".into(), holds: None };
        };
        let (moduli, kept) = self.trials.adaptive(at, precision, Counted::Inside);
        let uniform = 1.0 / f64::from(self.trials.uniform(at, precision, Counted::Inside));
        let list: Vec<String> = moduli.iter().map(|modulo| format!("1/{modulo}")).collect();
        let here =
            format!("{:.2} % of the shingles ({}); one ratio for all: {:.2} %", 100.0 * kept, list.join(", "), 100.0 * uniform);
        Finding { id, claim, here, holds: (self.trials.truth.inside(at, None) >= ENOUGH).then_some(kept <= published) }
    }
}
