//! Scoring a result folder against gold.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use onefold::{PairsMode, Row, SavedResult, TextPlace};
use serde::Serialize;

use crate::gold::{Gold, GoldError, GoldProblem};
use crate::score::published::{CoreScores, NewsCopyScores, core, news_copy};
use crate::score::{Answer, ErrorPair, Scores, score};

/// Where the truth comes from.
#[derive(Debug)]
pub enum GoldSource<'a> {
    /// A gold file.
    File(&'a Path),
    /// A field of the JSONL inputs that is equal for duplicates.
    Column(&'a str),
}

/// Which measures to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scorer {
    /// Every pair that counts, and the clusters.
    Honest,
    /// What text-dedup publishes for CORE.
    Core,
    /// What text-dedup publishes for NEWS-COPY.
    NewsCopy,
}

/// What came out, by scorer.
#[derive(Debug, Serialize)]
#[serde(tag = "scorer", rename_all = "kebab-case")]
pub enum Evaluation {
    /// Of [`Scorer::Honest`].
    Honest(Box<HonestScores>),
    /// Of [`Scorer::Core`].
    Core(CoreScores),
    /// Of [`Scorer::NewsCopy`].
    NewsCopy(NewsCopyScores),
}

/// Scores, and what they cover.
#[derive(Debug, Serialize)]
pub struct HonestScores {
    /// Whether the result lists all pairs; with `--pairs star` only the clusters can be scored.
    pub pairs_complete: bool,
    /// The scores.
    #[serde(flatten)]
    pub scores: Scores,
}

/// Why a result could not be scored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// The result cannot be read.
    #[error(transparent)]
    Result(#[from] onefold::Error),
    /// The gold file cannot be read.
    #[error(transparent)]
    Gold(#[from] GoldError),
    /// The column makes no gold.
    #[error("column '{column}': {problem}")]
    Column {
        /// The column asked for.
        column: String,
        /// What is wrong with it.
        problem: GoldProblem,
    },
    /// An input of the run is not there any more.
    #[error("cannot read input '{path}' again: {cause}")]
    Input {
        /// The file.
        path: String,
        /// What the system said.
        cause: std::io::Error,
    },
}

/// Scores a result, and lists up to `worst` errors of each kind.
pub fn evaluate(result: &SavedResult, gold: &GoldSource<'_>, scorer: Scorer, worst: usize) -> Result<Evaluation, EvaluateError> {
    let answer = answer(result)?;
    let state = result.state()?;
    let gold = match gold {
        GoldSource::File(path) => Gold::read(path)?,
        GoldSource::Column(column) => from_column(&state, column)?,
    };
    Ok(match scorer {
        Scorer::Core => Evaluation::Core(core(&answer, &gold, worst)),
        Scorer::NewsCopy => Evaluation::NewsCopy(news_copy(&answer, &gold, worst)),
        Scorer::Honest => {
            let mut scores = score(&answer, &gold, worst);
            measure(result, &state, &mut scores.worst_false_negatives);
            let pairs_complete = result.manifest.plan.pairs == PairsMode::All;
            Evaluation::Honest(Box::new(HonestScores { pairs_complete, scores }))
        }
    })
}

fn answer(result: &SavedResult) -> Result<Answer, EvaluateError> {
    let documents = result.documents()?;
    let clusters = documents.iter().map(|row| (row.text("id").to_string(), row.text("cluster_id").to_string())).collect();
    let mut families: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut pairs = Vec::new();
    for row in result.pairs()?.iter().filter(|row| row.truth("accepted")) {
        let (first, second) = (row.text("first_id").to_string(), row.text("second_id").to_string());
        match row.number("resemblance") {
            // Families of equal shingle sets are listed as a star to one of their members.
            Some(1.0) => families.entry(first.clone()).or_insert_with(|| vec![first]).push(second),
            resemblance => pairs.push((first, second, resemblance.unwrap_or(0.0))),
        }
    }
    Ok(Answer { clusters, families: families.into_values().collect(), pairs })
}

/// Reads the inputs again for one field, and finds the ids of their rows in the state table.
fn from_column(state: &[Row], column: &str) -> Result<Gold, EvaluateError> {
    let mut ids: BTreeMap<PathBuf, HashMap<u64, &str>> = BTreeMap::new();
    for row in state {
        let place = TextPlace::from_state(row);
        if place.record > 0 {
            ids.entry(place.path).or_default().insert(place.record, row.text("id"));
        }
    }
    let mut labels = Vec::new();
    for (file, ids) in ids {
        let failed = |cause| EvaluateError::Input { path: file.display().to_string(), cause };
        let values = onefold::read_column(&file, column).map_err(failed)?;
        labels.extend(values.into_iter().filter_map(|(record, value)| Some((ids.get(&record)?.to_string(), value))));
    }
    Gold::from_labels(labels.into_iter()).map_err(|problem| EvaluateError::Column { column: column.into(), problem })
}

/// Fills in how alike missed pairs are, from the texts, where they can still be read and are enough to tell.
fn measure(result: &SavedResult, state: &[Row], missed: &mut [ErrorPair]) {
    if result.manifest.plan.min_idf.is_some() {
        return;
    }
    let wanted: HashSet<&str> = missed.iter().flat_map(|pair| [pair.first.as_str(), pair.second.as_str()]).collect();
    let rows: Vec<&Row> = state.iter().filter(|row| wanted.contains(row.text("id"))).collect();
    let places: Vec<TextPlace> = rows.iter().map(|row| TextPlace::from_state(row)).collect();
    let plan = &result.manifest.plan;
    let texts = onefold::read_texts(&places, &plan.columns);
    let texts: HashMap<String, String> =
        rows.iter().zip(texts).filter_map(|(row, text)| Some((row.text("id").to_string(), text?))).collect();
    for pair in missed {
        let both = texts.get(&pair.first).zip(texts.get(&pair.second));
        pair.resemblance = both.and_then(|(a, b)| onefold::resemblance(a, b, plan.recipe())).map(|s| s.as_f64());
    }
}
