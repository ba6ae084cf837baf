//! The summary of a scan: what people read, and the same as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use onefold::{CollisionCounts, Counts, KeptFolder, Outcome, Relate, Remove, printable};
use serde::Serialize;

use crate::numbers::{duration, grouped, percent, shortened, to_milliseconds};
use crate::output;

/// A finished scan.
pub struct Summary<'a> {
    /// What came of it.
    pub outcome: &'a Outcome,
    /// Where the result is, if it was written.
    pub folder: Option<&'a Path>,
    /// Where the kept documents were written, if they were.
    pub kept: Option<&'a KeptFolder>,
    /// How long it took.
    pub seconds: f64,
}

#[derive(Serialize)]
struct Json<'a> {
    onefold: &'static str,
    result: Option<String>,
    seconds: f64,
    plan_digest: String,
    #[serde(flatten)]
    counts: &'a Counts,
    warnings: &'a [onefold::Warning],
    #[serde(skip_serializing_if = "Option::is_none")]
    write_kept: Option<&'a KeptFolder>,
    next: String,
}

/// Sources that are shown; the others are summed up.
const SHOWN_SOURCES: usize = 10;
/// Warnings that are shown; the others stand in `run.json`.
const SHOWN_WARNINGS: usize = 5;
/// Columns that a name may take.
const NAME_WIDTH: usize = 48;

impl Summary<'_> {
    /// Prints it as asked.
    pub fn print(&self, json: bool, quiet: bool) -> Result<()> {
        output::print_as(json, quiet, || self.json(), || self.text())
    }

    /// For programs.
    pub fn json(&self) -> Result<String> {
        let json = Json {
            onefold: env!("CARGO_PKG_VERSION"),
            result: self.folder.map(|folder| folder.display().to_string()),
            seconds: to_milliseconds(self.seconds),
            plan_digest: self.outcome.plan.digest()?,
            counts: &self.outcome.counts,
            warnings: &self.outcome.warnings,
            write_kept: self.kept,
            next: self.next(),
        };
        Ok(serde_json::to_string_pretty(&json)? + "\n")
    }

    /// For people.
    pub fn text(&self) -> String {
        let counts = &self.outcome.counts;
        let mut text = String::new();
        let share = |part: u64| percent(part, counts.documents);
        let mut line = |name: &str, number: u64, more: &str| {
            let _ = writeln!(text, "{}", format!("  {name:<18}{:>11}  {more}", grouped(number)).trim_end());
        };
        line("documents", counts.documents, &format!("in {}", duration(self.seconds)));
        line("kept", counts.kept, &share(counts.kept));
        if self.outcome.plan.relation == Relate::Containment {
            line("  inside another", counts.inside, &share(counts.inside));
        }
        line("removable", counts.removed, &share(counts.removed));
        line("  exact copies", counts.exact, &share(counts.exact));
        line("  near-duplicates", counts.near, &share(counts.near));
        if self.outcome.plan.remove == Remove::Contained {
            line("  contained", counts.contained, &share(counts.contained));
        }
        if let Some(reference) = counts.reference {
            let more = format!("from the reference of {} documents", grouped(reference.documents));
            line("  known already", reference.removed, &more);
        }
        line("clusters", counts.clusters, &largest(counts));
        if let Some(words) = counts.words {
            line("words left out", words.left_out, &format!("of {} different ones", grouped(words.distinct)));
        }
        if let Some(CollisionCounts { bits, expected, measured, one_in, .. }) = counts.collisions {
            let how = if one_in == 1 { String::new() } else { format!(", by a sample of 1 in {one_in}") };
            line("hash collisions", measured, &format!("with {bits} bits, {expected:.1} expected{how}"));
        }
        if counts.skipped > 0 {
            line("skipped", counts.skipped, &reasons(&counts.skipped_by_reason));
        }
        if !counts.flagged_by_reason.is_empty() {
            line("flagged", counts.flagged_by_reason.values().sum(), &reasons(&counts.flagged_by_reason));
        }
        text.push_str(&sources(counts));
        text.push_str(&self.warnings());
        if let Some(folder) = self.folder {
            let _ = writeln!(text, "\n  result  {}", printable(&folder.display().to_string()));
        }
        if let Some(kept) = self.kept {
            let (folder, documents, bytes) = (printable(&kept.folder), grouped(kept.documents), grouped(kept.bytes));
            let _ =
                writeln!(text, "  kept    {folder}  (documents: {documents}, files: {}, bytes: {bytes})", grouped(kept.files));
        }
        if self.folder.is_some() {
            let _ = writeln!(text, "  next    {}", self.next());
        }
        text
    }

    fn warnings(&self) -> String {
        let all = &self.outcome.warnings;
        let mut text = String::new();
        for warning in all.iter().take(SHOWN_WARNINGS) {
            let _ = write!(text, "\n  warning: {}", printable(&warning.message));
        }
        if all.len() > SHOWN_WARNINGS {
            let _ = write!(text, "\n  and {} more warnings in run.json", all.len() - SHOWN_WARNINGS);
        }
        if text.is_empty() { text } else { text + "\n" }
    }

    /// A document that someone may wonder about: the removed one least like its representative.
    fn example(&self) -> Option<&str> {
        let removed = self.outcome.documents().filter(|(_, verdict)| !verdict.kept);
        let doubtful =
            removed.min_by(|(_, a), (_, b)| a.similarity.partial_cmp(&b.similarity).unwrap_or(std::cmp::Ordering::Equal));
        doubtful.map(|(document, _)| document.id.as_str())
    }

    fn next(&self) -> String {
        let folder = self.folder.map(|folder| printable(&folder.display().to_string())).unwrap_or_default();
        if self.folder.is_none() {
            return "--out DIR writes this result".into();
        }
        match self.example() {
            Some(id) => format!("onefold explain --result '{folder}' '{}'", printable(id)),
            None => format!("onefold evaluate '{folder}' --gold FILE"),
        }
    }
}

fn largest(counts: &Counts) -> String {
    if counts.clusters == 0 {
        return String::new();
    }
    format!("largest {}: {}", grouped(counts.largest_cluster), shown(&counts.largest_cluster_id))
}

fn reasons(by_reason: &BTreeMap<String, u64>) -> String {
    let each: Vec<String> =
        by_reason.iter().map(|(reason, count)| format!("{} {}", reason.replace('_', " "), grouped(*count))).collect();
    each.join(", ")
}

/// Who loses how much, the greatest loss first.
fn sources(counts: &Counts) -> String {
    let mut losing: Vec<_> = counts.sources.iter().filter(|(_, source)| source.removed > 0).collect();
    if counts.sources.len() < 2 || losing.is_empty() {
        return String::new();
    }
    losing.sort_by(|(a, x), (b, y)| y.removed.cmp(&x.removed).then(a.cmp(b)));
    let width = losing.iter().take(SHOWN_SOURCES).map(|(name, _)| shown(name).chars().count()).max().unwrap_or(0);
    let mut text = String::from("\n  removable by source\n");
    for (name, source) in losing.iter().take(SHOWN_SOURCES) {
        let share = percent(source.removed, source.documents);
        let _ = writeln!(
            text,
            "    {:<width$}  {:>9} of {:>9}  {share}",
            shown(name),
            grouped(source.removed),
            grouped(source.documents)
        );
    }
    if losing.len() > SHOWN_SOURCES {
        let rest: u64 = losing[SHOWN_SOURCES..].iter().map(|(_, source)| source.removed).sum();
        let _ = writeln!(text, "    and {} from {} other sources", grouped(rest), losing.len() - SHOWN_SOURCES);
    }
    text
}

/// A name made harmless, its middle cut out where it is long.
fn shown(name: &str) -> String {
    shortened(&printable(name), NAME_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_names_shortened() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        let long = shown(&"x".repeat(100));
        assert_eq!(long.chars().count(), 47);
        assert_eq!(shown("a\u{1b}b"), "a\\u{1b}b");
    }

    #[test]
    fn durations_read_well() {
        assert_eq!([0.25, 5.04, 65.0, 7260.0].map(duration), ["250 ms", "5.0 s", "1 min 5 s", "2 h 1 min"]);
    }
}
