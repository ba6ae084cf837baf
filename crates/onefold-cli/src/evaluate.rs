//! `onefold evaluate`: a result beside what people say.

use std::fmt::Write;

use anyhow::{Context, Result};
use onefold::{SavedResult, printable};
use onefold_study::evaluate::{Evaluation, GoldSource, evaluate};
use onefold_study::score::{ErrorPair, PairScore};

use crate::args::EvaluateArgs;
use crate::exit::{Done, Usage};
use crate::output;

/// Scores a result and prints what came out.
pub fn run(args: &EvaluateArgs) -> Result<Done> {
    let result = SavedResult::open(&args.result)?;
    let gold = match (&args.gold, &args.gold_column) {
        (Some(file), _) => GoldSource::File(file),
        (None, Some(column)) => GoldSource::Column(column),
        (None, None) => return Err(Usage("--gold or --gold-column is needed".into()).into()),
    };
    let evaluation = evaluate(&result, &gold, args.worst).map_err(|error| match error {
        onefold_study::evaluate::EvaluateError::Result(error) => anyhow::Error::from(error),
        other => Usage(chain(&other)).into(),
    })?;
    if args.json {
        output::print(&(serde_json::to_string_pretty(&evaluation).context("cannot print the scores")? + "\n"))?;
    } else {
        output::print(&text(&evaluation))?;
    }
    Ok(Done::Complete)
}

/// An error with its causes, on one line; a cause that the message has already told is not repeated.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        if !text.contains(&error.to_string()) {
            text.push_str(&format!(": {error}"));
        }
        cause = error.source();
    }
    text
}

fn text(evaluation: &Evaluation) -> String {
    let scores = &evaluation.scores;
    let mut text = String::new();
    let documents = &scores.documents;
    let _ = writeln!(text, "  documents in the gold file   {}", documents.in_gold);
    if documents.unknown_to_result > 0 {
        let examples: Vec<String> = documents.unknown_examples.iter().take(3).map(|id| printable(id)).collect();
        let _ = writeln!(text, "    of these not in the result {}   ({} …)", documents.unknown_to_result, examples.join(", "));
    }
    let _ = writeln!(
        text,
        "\n  {:<10}{:>11}{:>11}{:>11}{:>10}{:>10}{:>10}",
        "", "found", "invented", "missed", "precision", "recall", "F1"
    );
    if evaluation.pairs_complete {
        row(&mut text, "pairs", &scores.pairs);
    }
    row(&mut text, "clusters", &scores.clusters.pairs);
    if let Some(ari) = scores.clusters.adjusted_rand_index {
        let _ = write!(text, "\n  clusters: ARI {ari:.4}");
        if let Some(b) = &scores.clusters.b_cubed {
            let _ = write!(text, ", B³ precision {:.4}, recall {:.4}, F1 {:.4}", b.precision, b.recall, b.f1);
        }
        text.push('\n');
    }
    if !evaluation.pairs_complete {
        text.push_str("\n  pairs are not scored: the result lists only each document with its representative (--pairs star)\n");
    }
    errors(&mut text, "invented: the result says yes, the gold file no", &scores.worst_false_positives);
    errors(&mut text, "missed: the gold file says yes, the result no", &scores.worst_false_negatives);
    text
}

fn row(text: &mut String, name: &str, score: &PairScore) {
    let number = |value: Option<f64>| value.map_or("–".into(), |v| format!("{v:.4}"));
    let _ = writeln!(
        text,
        "  {name:<10}{:>11}{:>11}{:>11}{:>10}{:>10}{:>10}",
        score.true_positives,
        score.false_positives,
        score.false_negatives,
        number(score.precision),
        number(score.recall),
        number(score.f1)
    );
}

fn errors(text: &mut String, title: &str, pairs: &[ErrorPair]) {
    if pairs.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n  {title}");
    for pair in pairs {
        let resemblance = pair.resemblance.map_or("     ?".into(), |r| format!("{r:.4}"));
        let _ = writeln!(text, "    {resemblance}  {}  ~  {}", printable(&pair.first), printable(&pair.second));
    }
}
