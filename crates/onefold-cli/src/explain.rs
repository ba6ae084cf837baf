//! `onefold explain`: why a document was kept or removed, in words and numbers.

use std::fmt::Write;

use anyhow::Result;
use onefold::{Comparison, Manifest, Relate, Row, SavedResult, Verify, printable};
use serde_json::json;

use crate::args::ExplainArgs;
use crate::compare::texts_of_result;
use crate::exit::{Done, Usage};
use crate::output;

/// Members and pairs that are shown.
const SHOWN: usize = 10;

/// What the tables say of one document.
struct Case {
    manifest: Manifest,
    row: Row,
    /// What is removed for this document, or for the one kept for it.
    companions: Vec<Row>,
    /// Pairs that name the document, the most similar first.
    pairs: Vec<Row>,
    /// With the representative, where another is kept and both texts are still there.
    comparison: Option<Comparison>,
}

/// Explains and prints.
pub fn run(args: &ExplainArgs) -> Result<Done> {
    let case = Case::find(args)?;
    output::print(&if args.json { case.json() } else { case.text() })?;
    Ok(Done::Complete)
}

impl Case {
    fn find(args: &ExplainArgs) -> Result<Case> {
        let result = SavedResult::open(&args.result)?;
        let documents = result.documents()?;
        let row = documents.iter().find(|row| row.text("id") == args.id).cloned();
        let row = match row {
            Some(row) => row,
            None if result.reference()?.iter().any(|row| row.text("id") == args.id) => {
                return Err(Usage(format!("'{}' belongs to the reference, which stays as it is", args.id)).into());
            }
            None => return Err(Usage(format!("no document '{}' in the result", args.id)).into()),
        };
        let leader = if row.truth("keep") { &args.id } else { row.text("representative_id") };
        let same = |other: &Row| !other.truth("keep") && other.text("representative_id") == leader && other.text("id") != args.id;
        let companions = documents.iter().filter(|other| same(other)).cloned().collect();
        let mut pairs = result.pairs()?;
        pairs.retain(|pair| pair.text("first_id") == args.id || pair.text("second_id") == args.id);
        pairs.sort_by(|a, b| b.number("resemblance").unwrap_or(0.0).total_cmp(&a.number("resemblance").unwrap_or(0.0)));
        let representative = row.text("representative_id");
        let texts = (representative != args.id).then(|| texts_of_result(&result, [&args.id, representative]).ok()).flatten();
        let comparison = texts.map(|[a, b]| Comparison::new(&a, &b, result.manifest.plan.recipe()));
        Ok(Case { manifest: result.manifest, row, companions, pairs, comparison })
    }

    fn json(&self) -> String {
        let document: serde_json::Map<_, _> = self.row.0.iter().map(|(name, value)| (name.clone(), typed(name, value))).collect();
        let companions: Vec<&str> = self.companions.iter().map(|row| row.text("id")).collect();
        let pairs: Vec<_> = self.pairs.iter().map(|p| json!({"first_id": p.text("first_id"), "second_id": p.text("second_id"), "resemblance": p.number("resemblance"), "accepted": p.truth("accepted")})).collect();
        let edit = self.comparison.as_ref().map(|c| c.edit_distance);
        format!(
            "{:#}\n",
            json!({"document": document, "verdict": self.verdict(), "same_representative": companions, "pairs": pairs, "edit_distance": edit})
        )
    }

    /// The answer in a sentence or two.
    fn verdict(&self) -> String {
        let row = &self.row;
        let (representative, reason) = (printable(row.text("representative_id")), row.text("keep_reason"));
        let relation = row.text("relation");
        let others = self.companions.len();
        let stands_for = if others == 0 {
            "no other document".to_string()
        } else {
            format!("{others} other document{}", if others == 1 { "" } else { "s" })
        };
        match (row.truth("keep"), reason.split_once(" by ")) {
            (true, _) if !relation.is_empty() => {
                let how = if relation == "contained" { "it lies inside" } else { "it contains" };
                let beside = format!("{how} '{representative}' (resemblance {}), and both stay", row.text("similarity"));
                format!("kept: it stands for {stands_for}; {beside}")
            }
            (true, None) => format!("kept: {}; it stands for {stands_for}", words_for(reason)),
            (true, Some((_, rule))) => format!("kept: it stands for {stands_for}, and ranks before the next best by {rule}"),
            (false, rule) => {
                let how = match relation {
                    "exact" => "it has the same words as",
                    "contained" => "it lies inside",
                    _ => "it is a near-duplicate of",
                };
                let rule = rule.map_or(String::new(), |(_, rule)| format!(", which ranks before it by {rule}"));
                format!("removable: {how} '{representative}' (resemblance {}){rule}", row.text("similarity"))
            }
        }
    }

    fn text(&self) -> String {
        let mut text = format!("  {}\n\n  {}\n", printable(self.row.text("id")), self.verdict());
        let plan = &self.manifest.plan;
        let _ =
            writeln!(text, "  threshold {}, shingles of {}, keep rules: {}", plan.threshold, plan.recipe().chunk(), plan.keep);
        let _ = match plan.verify {
            Verify::Exact => Ok(()),
            Verify::Edit => writeln!(text, "  verified by words: at most {} of the longer document to edit", plan.max_edit),
            Verify::None => writeln!(text, "  not verified: the method's word counts, whatever the resemblance"),
        };
        if let (Some(least), Some(_)) = (plan.min_idf, &self.comparison) {
            let _ = writeln!(text, "  counted below are all words, also those that --min-idf {least} left out");
        }
        if !self.row.text("flags").is_empty() {
            let _ = writeln!(text, "  flags: {}", self.row.text("flags"));
        }
        if let Some(found) = &self.comparison {
            let [own, other] = found.shingles;
            let _ = writeln!(
                text,
                "  {} of its {own} shingles are among the {other} of the other; {} words to edit",
                found.common, found.edit_distance
            );
        }
        let companions: Vec<(String, String)> =
            self.companions.iter().map(|row| (row.text("similarity").into(), printable(row.text("id")))).collect();
        let title = if self.row.truth("keep") { "removable for it" } else { "with the same representative" };
        list(&mut text, title, &companions);
        let id = self.row.text("id");
        let partner = |pair: &Row| {
            let first = pair.text("first_id") == id;
            let other = printable(pair.text(if first { "second_id" } else { "first_id" }));
            let inside = if first { "containment_first" } else { "containment_second" };
            match (pair.truth("accepted"), pair.number(inside)) {
                (false, _) => format!("{other}  (below the threshold)"),
                (true, Some(share)) if self.manifest.plan.relation == Relate::Containment => {
                    format!("{other}  ({:.0} % of this one are in it)", share * 100.0)
                }
                _ => other,
            }
        };
        let pairs: Vec<(String, String)> =
            self.pairs.iter().map(|pair| (pair.text("resemblance").into(), partner(pair))).collect();
        list(&mut text, "pairs that name it", &pairs);
        text
    }
}

/// A value with the type that its column has.
fn typed(column: &str, value: &str) -> serde_json::Value {
    match column {
        "cluster_size" | "similarity" | "keep" | "is_representative" => {
            serde_json::from_str(value).unwrap_or_else(|_| value.into())
        }
        _ => value.into(),
    }
}

fn words_for(reason: &str) -> &str {
    match reason {
        "protected" => "it is protected",
        "no text" => "it has no text to compare",
        _ => "nothing better ranked is near it",
    }
}

fn list(text: &mut String, title: &str, rows: &[(String, String)]) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n  {title}");
    for (number, name) in rows.iter().take(SHOWN) {
        let number: f64 = number.parse().unwrap_or(0.0);
        let _ = writeln!(text, "    {number:.4}  {name}");
    }
    if rows.len() > SHOWN {
        let _ = writeln!(text, "    and {} more", rows.len() - SHOWN);
    }
}
