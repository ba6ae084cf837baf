//! `onefold evaluate`: a result beside what people say.

use std::fmt::Write;

use anyhow::{Context, Result};
use onefold::{SavedResult, printable};
use onefold_study::evaluate::{Evaluation, GoldSource, HonestScores, Scorer, evaluate};
use onefold_study::score::published::{CoreScores, NewsCopyScores};
use onefold_study::score::{Coverage, ErrorPair, PairScore};

use crate::args::{EvaluateArgs, ScorerName};
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
    let scorer = match args.scorer {
        ScorerName::Honest => Scorer::Honest,
        ScorerName::Core => Scorer::Core,
        ScorerName::NewsCopy => Scorer::NewsCopy,
    };
    let evaluation = evaluate(&result, &gold, scorer, args.worst).map_err(|error| match error {
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
    let mut text = String::new();
    match evaluation {
        Evaluation::Honest(scores) => honest(&mut text, scores),
        Evaluation::Core(scores) => core(&mut text, scores),
        Evaluation::NewsCopy(scores) => news_copy(&mut text, scores),
    }
    text
}

fn coverage(text: &mut String, documents: &Coverage) {
    let _ = writeln!(text, "  documents in the gold file   {}", documents.in_gold);
    if documents.unknown_to_result > 0 {
        let examples: Vec<String> = documents.unknown_examples.iter().take(3).map(|id| printable(id)).collect();
        let _ = writeln!(text, "    of these not in the result {}   ({} …)", documents.unknown_to_result, examples.join(", "));
    }
}

fn honest(text: &mut String, evaluation: &HonestScores) {
    let scores = &evaluation.scores;
    coverage(text, &scores.documents);
    let _ = writeln!(
        text,
        "\n  {:<10}{:>11}{:>11}{:>11}{:>10}{:>10}{:>10}",
        "", "found", "invented", "missed", "precision", "recall", "F1"
    );
    if evaluation.pairs_complete {
        row(text, "pairs", &scores.pairs);
    }
    row(text, "clusters", &scores.clusters.pairs);
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
    errors(text, "invented: the result says yes, the gold file no", &scores.worst_false_positives);
    errors(text, "missed: the gold file says yes, the result no", &scores.worst_false_negatives);
}

fn core(text: &mut String, scores: &CoreScores) {
    everything(text, &scores.documents, scores.counts.scored);
    let rows = [
        ("true positives", scores.counts.true_positives, "all labelled duplicates are in the cluster"),
        (
            "false positives",
            scores.counts.false_positives,
            "others are in the cluster; duplicates are labelled and lacking, or none are labelled",
        ),
        ("false negatives", scores.counts.false_negatives, "duplicates are labelled, but it is alone"),
        ("true negatives", scores.counts.true_negatives, "no duplicates are labelled, and it is alone"),
    ];
    text.push_str("\n  each document once, as text-dedup scores CORE\n");
    for (name, count, meaning) in rows {
        let _ = writeln!(text, "  {name:<16}{count:>11}   {meaning}");
    }
    let _ = writeln!(text, "\n  {:<16}{:>11}{:>10}", "", "precision", "recall");
    for (name, precision, recall) in [
        ("duplicates", scores.precision_duplicates, scores.recall_duplicates),
        ("non-duplicates", scores.precision_non_duplicates, scores.recall_non_duplicates),
    ] {
        let _ = writeln!(text, "  {name:<16}{precision:>11.4}{recall:>10.4}");
    }
    let _ = writeln!(text, "\n  \"macro F1\"      {:>11.4}   the mean of the two precisions", scores.macro_f1);
    let _ = writeln!(
        text,
        "  accuracy        {:>11.4}   documents with exactly the labelled duplicates in the cluster",
        scores.accuracy
    );
    remarks(text, scores.remarks);
}

fn news_copy(text: &mut String, scores: &NewsCopyScores) {
    everything(text, &scores.documents, scores.scored);
    if let Some(ari) = scores.adjusted_rand_index {
        let _ = writeln!(text, "\n  ARI {ari:.4}, as text-dedup scores NEWS-COPY");
    }
    remarks(text, scores.remarks);
}

/// The documents where none is left out.
fn everything(text: &mut String, documents: &Coverage, scored: u64) {
    coverage(text, documents);
    if documents.not_in_gold > 0 {
        let _ =
            writeln!(text, "  documents only in the result {}   (taken for documents without duplicates)", documents.not_in_gold);
    }
    let _ = writeln!(text, "  documents scored             {scored}");
}

fn remarks(text: &mut String, remarks: &[&str]) {
    text.push_str("\n  what to know about these measures\n");
    for remark in remarks {
        let _ = writeln!(text, "    - {remark}");
    }
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
