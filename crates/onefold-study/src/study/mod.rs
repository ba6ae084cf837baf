//! The whole parameter study: Ye, Wen, Ma's and Nikkhoo's experiments on any collection.
//!
//! In: a plan (how text becomes shingles), inputs, and what is to be tried. Out: a [`Study`]. Invariant: every figure is counted exactly, but for
//! those that say that they come from some of the documents. Cost: one reading; for the trials see [`trials`]; a shingling and a join for each other
//! setting. Texts and sets are all in memory.

mod tables;

use std::time::Instant;

use onefold::{Collection, Document, Error, Exec, Hash, Input, Method, Plan, Sink, Source, Threshold, Unit, Verify};
use serde::Serialize;

pub use tables::REQUIRED;

use crate::sampling::commonality::{self, Commonality, commonality};
use crate::sampling::{
    Agreement, Classes, Comparison, Density, Design, DocumentPairs, Effect, Finding, Shelf, Summary, Trials, compare_model,
    effect, findings, trials,
};

/// What is tried.
#[derive(Clone, Debug)]
pub struct Options {
    /// Samples by remainder.
    pub design: Design,
    /// Other lengths of shingles (Y7).
    pub lengths: Vec<u32>,
    /// Other hashes (Y12).
    pub hashes: Vec<Hash>,
    /// Numbers of pieces (Y17).
    pub pieces: Vec<u32>,
    /// The threshold at which the arithmetic of §8 is compared with samples.
    pub model_threshold: Threshold,
}

/// What was found.
#[derive(Debug)]
pub struct Study {
    /// The collection.
    pub summary: Summary,
    /// Words of each document, from the largest on (Y5).
    pub sizes: Vec<u32>,
    /// Samples by remainder.
    pub trials: Trials,
    /// What Ye, Wen and Ma found, looked for here.
    pub findings: Vec<Finding>,
    /// Thresholds at which other settings and pieces are measured: those with few enough pairs.
    pub effect_thresholds: Vec<Threshold>,
    /// Other settings.
    pub effects: Vec<Effect>,
    /// A collection in pieces.
    pub pieces: Vec<Pieces>,
    /// Classes of the comparison below, by shingles.
    pub model_classes: Classes,
    /// The arithmetic of §8 beside samples.
    pub model: Vec<Comparison>,
    /// Nikkhoo's experiments.
    pub commonality: Commonality,
    /// What took how long.
    pub seconds: Vec<(&'static str, f64)>,
}

impl Study {
    /// What everything took.
    pub fn total_seconds(&self) -> f64 {
        self.seconds.iter().map(|(_, seconds)| seconds).sum()
    }

    /// How far arithmetic and samples lie apart at most, where enough shingles are sampled (§8.3).
    pub fn largest_difference(&self) -> Option<f64> {
        self.model.iter().filter(|row| row.is_sure()).filter_map(Comparison::difference).max_by(f64::total_cmp)
    }
}

/// What is left of the true pairs where each piece of a collection is looked at alone.
#[derive(Clone, Debug, Serialize)]
pub struct Pieces {
    /// How many.
    pub pieces: u32,
    /// Whether documents were put into pieces by their order; otherwise at random.
    pub in_order: bool,
    /// By threshold.
    pub pairs: Vec<Agreement>,
}

/// Samples that arithmetic is compared with, at most.
const MODEL_SEEDS: u64 = 8;
/// Steps that looking at far pairs may take.
const BUDGET: u64 = 1_000_000_000;

/// Carries the study out; `watch` is told what comes next.
pub fn study(
    plan: &Plan,
    options: Options,
    source: Source,
    sink: &dyn Sink,
    exec: &Exec<'_>,
    check: impl FnOnce(&Collection) -> Result<(), Error>,
    mut watch: impl FnMut(&str),
) -> Result<Study, Error> {
    let mut clock = Clock::default();
    let base = plain(plan);
    let keeping = Exec { keep_texts: true, cancel: exec.cancel.clone(), spill: None, ..*exec };
    let collection = onefold::ingest(&base, &keeping, source, sink)?;
    check(&collection)?;
    let shelf = Shelf::new(&collection, false)?;
    let summary = shelf.summary(&collection);
    let documents = collection.into_documents();
    let mut sizes = shelf.words.clone();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    clock.lap("reading");
    let trials = trials(&shelf, options.design, exec, &mut watch)?;
    clock.lap("samples by remainder");
    let lowest = DocumentPairs::lowest(&trials.pairs, &trials.design.thresholds);
    let thresholds = lowest.map_or_else(Vec::new, |lowest| trials.design.thresholds[lowest..].to_vec());
    let truth = if thresholds.is_empty() { DocumentPairs::default() } else { DocumentPairs::new(&trials.pairs, &thresholds) };
    let count = shelf.len() as u32;
    let pieces = options.pieces.iter().flat_map(|&pieces| in_pieces(&truth, thresholds.len(), count, pieces)).collect();
    watch("the sum of probabilities");
    let density = Density::measure(&shelf, Classes::doubling(), options.model_threshold, BUDGET, exec, &mut watch)?;
    let model = compare_model(&density, MODEL_SEEDS, exec)?;
    drop((density, shelf));
    clock.lap("arithmetic beside samples");
    let mut effects = Vec::new();
    for (name, other) in settings(&base, &options.lengths, &options.hashes).into_iter().filter(|_| !thresholds.is_empty()) {
        watch(&name);
        effects.push(effect(name, &shingled(&other, &documents, false, exec)?.0, &truth, &thresholds, exec)?);
    }
    clock.lap("other settings");
    watch("all partners of documents");
    let commonality = nikkhoo(&base, &documents, exec)?;
    clock.lap("all partners");
    Ok(Study {
        findings: findings(&trials),
        summary,
        sizes,
        trials,
        effect_thresholds: thresholds,
        effects,
        pieces,
        model_classes: Classes::doubling(),
        model,
        commonality,
        seconds: clock.laps,
    })
}

/// The plan with what only concerns reading and shingling.
fn plain(plan: &Plan) -> Plan {
    Plan { method: Method::Exact, preset: None, verify: Verify::Exact, common_shingles: None, ..plan.clone() }
}

/// The other settings by name, and the base among them where it is one.
fn settings(base: &Plan, lengths: &[u32], hashes: &[Hash]) -> Vec<(String, Plan)> {
    let length = |&size: &u32| (format!("{size} words"), Plan { ngram_size: size, ..base.clone() });
    let hash = |&hash: &Hash| (format!("hash {}", hash.name()), Plan { hash, ..base.clone() });
    let lengths = lengths.iter().filter(|_| base.shingle == Unit::Words).map(length);
    lengths.chain(hashes.iter().map(hash)).collect()
}

/// The same documents under other settings.
fn shingled(plan: &Plan, documents: &[Document], copies: bool, exec: &Exec<'_>) -> Result<(Shelf, Collection), Error> {
    let source: Source = vec![Input::Documents(documents.to_vec())].into();
    let collection = onefold::ingest(plan, exec, source, &onefold::Discard)?;
    Ok((Shelf::new(&collection, copies)?, collection))
}

fn in_pieces(truth: &DocumentPairs, thresholds: usize, documents: u32, pieces: u32) -> [Pieces; 2] {
    [true, false].map(|in_order| {
        let piece = |document: u32| match in_order {
            true => (u64::from(document) * u64::from(pieces) / u64::from(documents.max(1))) as u32,
            false => (onefold::sample_value(document.into(), 0) % u64::from(pieces)) as u32,
        };
        Pieces { pieces, in_order, pairs: truth.in_pieces(thresholds, piece) }
    })
}

/// Nikkhoo's shingles of the same documents, and his experiments.
fn nikkhoo(base: &Plan, documents: &[Document], exec: &Exec<'_>) -> Result<Commonality, Error> {
    let mut plan = base.clone();
    onefold::preset("nikkhoo2010")?.apply(&mut plan);
    let recipe = plan.recipe();
    let (shelf, collection) = shingled(&plain(&plan), documents, true, exec)?;
    let mut result = commonality(&shelf, commonality::BUDGET, exec)?;
    drop(collection);
    let texts: Vec<String> = documents.iter().map(|document| document.text.clone()).collect();
    result.find_texts(&texts, recipe);
    Ok(result)
}

/// What took how long.
struct Clock {
    last: Instant,
    laps: Vec<(&'static str, f64)>,
}

impl Default for Clock {
    fn default() -> Self {
        Clock { last: Instant::now(), laps: Vec::new() }
    }
}

impl Clock {
    fn lap(&mut self, name: &'static str) {
        self.laps.push((name, self.last.elapsed().as_secs_f64()));
        self.last = Instant::now();
    }
}
