//! A study as CSV files, in the layout of the published tables where there is one, with the published values beside ours.

use crate::sampling::commonality::Table as Published;
use crate::sampling::{Agreement, Counted, Mean};

use super::Study;

/// Table 3 of Ye, Wen, Ma 2008.
const YE_TABLE_3: &str = include_str!("../../published/ye2008-table3-size-groups.csv");
/// Required precisions of Fig. 4 (Y36).
pub const REQUIRED: [f64; 11] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99];

impl Study {
    /// All tables: file names and contents.
    pub fn tables(&self) -> Vec<(&'static str, String)> {
        let mut tables = vec![
            ("summary.csv", self.summary_table()),
            ("ye2008-table3-size-groups.csv", self.groups()),
            ("trials.csv", self.all_trials()),
            ("precision-recall.csv", self.means()),
            ("adaptive.csv", self.adaptive()),
            ("findings.csv", self.findings_table()),
            ("settings.csv", self.settings()),
            ("pieces.csv", self.pieces_table()),
            ("model.csv", self.model_table()),
            ("nikkhoo2010-output-pairs.csv", self.output_pairs()),
            ("nikkhoo2010-common-shingles.csv", self.common_shingles()),
        ];
        tables.extend(Published::ALL.map(|table| (table.file_name(), self.commonality.table(table))));
        tables
    }

    /// The published size of a group, where these are the published groups: documents and shingles.
    pub fn published_group(&self, class: usize) -> Option<(u64, u64)> {
        let classes = &self.trials.design.classes;
        let mut lines = YE_TABLE_3.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let cells = lines.find(|cells| {
            let bound = |at: usize| cells.get(at).and_then(|cell| cell.parse::<u32>().ok());
            bound(1) == Some(classes.from(class)) && bound(2) == classes.to(class)
        })?;
        Some((cells.get(3)?.parse().ok()?, cells.get(4)?.parse().ok()?))
    }

    fn summary_table(&self) -> String {
        let summary = &self.summary;
        let mut csv = Csv::new(&["documents", "copies", "remaining", "without_shingles", "bytes", "mean_words", "shingles"]);
        let counts = [summary.documents, summary.copies, summary.remaining, summary.without_shingles, summary.bytes];
        let mean = format!("{:.1}", summary.mean_words);
        csv.row(counts.map(|count| count.to_string()).into_iter().chain([mean, summary.shingles.to_string()]));
        csv.finish()
    }

    fn groups(&self) -> String {
        let mut csv =
            Csv::new(&["group", "words_from", "words_to", "documents", "shingles", "published_documents", "published_shingles"]);
        let classes = &self.trials.design.classes;
        for class in 0..classes.count() {
            let published = self.published_group(class);
            let of = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
            csv.row([
                class.to_string(),
                classes.from(class).to_string(),
                of(classes.to(class).map(u64::from)),
                self.trials.documents[class].to_string(),
                self.trials.shingles[class].to_string(),
                of(published.map(|(documents, _)| documents)),
                of(published.map(|(_, shingles)| shingles)),
            ]);
        }
        csv.finish()
    }

    /// Classes by number, and all of them.
    fn classes(&self) -> impl Iterator<Item = Option<usize>> + Clone + use<> {
        (0..self.trials.design.classes.count()).map(Some).chain([None])
    }

    fn all_trials(&self) -> String {
        let mut csv = Csv::new(&[
            "modulo",
            "residue",
            "threshold",
            "group",
            "true_inside",
            "found_inside",
            "right_inside",
            "true_by_smaller",
            "found_by_smaller",
            "right_by_smaller",
            "seconds",
        ]);
        for trial in &self.trials.trials {
            for (at, threshold) in self.trials.design.thresholds.iter().enumerate() {
                for class in self.classes() {
                    let tallies = [&self.trials.truth, &trial.found, &trial.right];
                    let [inside, smaller] = [Counted::Inside, Counted::Smaller]
                        .map(|counted| tallies.map(|tally| counted.of(tally, at, class).to_string()));
                    let names = [trial.modulo.to_string(), trial.residue.to_string(), threshold.to_string(), group(class)];
                    csv.row(names.into_iter().chain(inside).chain(smaller).chain([format!("{:.3}", trial.seconds)]));
                }
            }
        }
        csv.finish()
    }

    fn means(&self) -> String {
        let mut csv = Csv::new(&[
            "modulo",
            "threshold",
            "group",
            "kept_share",
            "precision",
            "precision_spread",
            "recall",
            "recall_spread",
            "precision_by_smaller",
            "recall_by_smaller",
        ]);
        let trials = &self.trials;
        for &modulo in &trials.design.moduli {
            for (at, threshold) in trials.design.thresholds.iter().enumerate() {
                for class in self.classes() {
                    let precision = |counted| trials.precision(modulo, at, class, counted);
                    let recall = |counted| trials.recall(modulo, at, class, counted);
                    let mean = |mean: Option<Mean>| number(mean.map(|mean| mean.mean));
                    let spread = |mean: Option<Mean>| number(mean.map(|mean| mean.spread));
                    csv.row([
                        modulo.to_string(),
                        threshold.to_string(),
                        group(class),
                        mean(trials.kept(modulo, class)),
                        mean(precision(Counted::Inside)),
                        spread(precision(Counted::Inside)),
                        mean(recall(Counted::Inside)),
                        spread(recall(Counted::Inside)),
                        mean(precision(Counted::Smaller)),
                        mean(recall(Counted::Smaller)),
                    ]);
                }
            }
        }
        csv.finish()
    }

    fn adaptive(&self) -> String {
        let mut csv = Csv::new(&["threshold", "required_precision", "share_of_shingles", "uniform_share", "moduli"]);
        for (at, threshold) in self.trials.design.thresholds.iter().enumerate() {
            for required in REQUIRED {
                let (moduli, share) = self.trials.adaptive(at, required, Counted::Inside);
                let uniform = 1.0 / f64::from(self.trials.uniform(at, required, Counted::Inside));
                let moduli: Vec<String> = moduli.iter().map(u32::to_string).collect();
                csv.row([
                    threshold.to_string(),
                    required.to_string(),
                    number(Some(share)),
                    number(Some(uniform)),
                    moduli.join(" "),
                ]);
            }
        }
        csv.finish()
    }

    fn findings_table(&self) -> String {
        let mut csv = Csv::new(&["id", "claim", "here", "holds"]);
        for finding in &self.findings {
            let holds = finding.holds.map_or(String::new(), |holds| if holds { "yes".into() } else { "no".into() });
            csv.row([finding.id.into(), finding.claim.into(), finding.here.clone(), holds]);
        }
        csv.finish()
    }

    fn settings(&self) -> String {
        let mut csv = Csv::new(&["setting", "shingles", "distinct", "threshold", "pairs", "precision", "recall"]);
        for effect in &self.effects {
            for (threshold, agreement) in self.effect_thresholds.iter().zip(&effect.pairs) {
                let counts = [effect.shingles.to_string(), effect.distinct.to_string(), threshold.to_string()];
                csv.row([effect.name.clone()].into_iter().chain(counts).chain(agreement_cells(agreement)));
            }
        }
        csv.finish()
    }

    fn pieces_table(&self) -> String {
        let mut csv = Csv::new(&["pieces", "chosen", "threshold", "pairs", "precision", "recall"]);
        for pieces in &self.pieces {
            let chosen = if pieces.in_order { "in order" } else { "at random" };
            for (threshold, agreement) in self.effect_thresholds.iter().zip(&pieces.pairs) {
                let names = [pieces.pieces.to_string(), chosen.into(), threshold.to_string()];
                csv.row(names.into_iter().chain(agreement_cells(agreement)));
            }
        }
        csv.finish()
    }

    fn model_table(&self) -> String {
        let mut csv = Csv::new(&[
            "shingles",
            "share",
            "sampled",
            "true_pairs",
            "expected_precision",
            "counted_precision",
            "standard_error",
            "expected_recall",
            "counted_recall",
        ]);
        for row in &self.model {
            csv.row([
                self.model_classes.name(row.class),
                number(Some(row.share)),
                format!("{:.1}", row.sampled),
                format!("{:.0}", row.truth),
                number(row.expected.precision()),
                number(row.counted.precision()),
                number(Some(row.error)),
                number(row.expected.recall()),
                number(row.counted.recall()),
            ]);
        }
        csv.finish()
    }

    fn output_pairs(&self) -> String {
        let mut csv = Csv::new(&["sct", "output_pairs", "share_of_all"]);
        for cut in &self.commonality.limits {
            let limit = match cut.kept {
                crate::sampling::commonality::Kept::UpTo(Some(limit)) => limit.to_string(),
                _ => "inf".into(),
            };
            csv.row([limit, cut.emitted_pairs.to_string(), number(cut.emitted_share)]);
        }
        csv.finish()
    }

    fn common_shingles(&self) -> String {
        let mut csv = Csv::new(&["documents", "shingle"]);
        for shingle in &self.commonality.most_common {
            csv.row([shingle.documents.to_string(), shingle.text.clone().unwrap_or_default()]);
        }
        csv.finish()
    }
}

fn group(class: Option<usize>) -> String {
    class.map_or("all".into(), |class| class.to_string())
}

/// Five places are enough for any share.
fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:.5}"))
}

fn agreement_cells(agreement: &Agreement) -> [String; 3] {
    [agreement.found.to_string(), number(agreement.precision()), number(agreement.recall())]
}

/// A table in the making.
struct Csv(csv::Writer<Vec<u8>>);

impl Csv {
    fn new(columns: &[&str]) -> Csv {
        let mut csv = Csv(csv::Writer::from_writer(Vec::new()));
        csv.row(columns.iter().map(|column| column.to_string()));
        csv
    }

    /// Writing to memory does not fail, and all rows have the width of the first.
    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let written = self.0.write_record(cells.into_iter().collect::<Vec<String>>());
        debug_assert!(written.is_ok(), "{written:?}");
    }

    fn finish(self) -> String {
        String::from_utf8(self.0.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}
