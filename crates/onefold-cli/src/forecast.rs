//! What a scan would take: what people read, and the same as JSON.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use onefold::{Estimate, printable};
use serde::Serialize;

use crate::numbers::{duration, grouped, percent, size, to_milliseconds};
use crate::output;

/// An estimate, with the time that the clock makes of it.
pub struct Forecast<'a> {
    /// What the library says.
    pub estimate: &'a Estimate,
    /// How long the scan will take.
    pub seconds: f64,
    /// Where what does not fit in memory would go, if that was said.
    pub place: Option<&'a Path>,
}

#[derive(Serialize)]
struct Json<'a> {
    onefold: &'static str,
    #[serde(flatten)]
    estimate: &'a Estimate,
    seconds: f64,
    next: String,
}

impl Forecast<'_> {
    /// Prints it as asked.
    pub fn print(&self, json: bool, quiet: bool) -> Result<()> {
        output::print_as(json, quiet, || self.json(), || self.text())
    }

    fn json(&self) -> Result<String> {
        let seconds = to_milliseconds(self.seconds);
        let json = Json { onefold: env!("CARGO_PKG_VERSION"), estimate: self.estimate, seconds, next: self.next() };
        Ok(serde_json::to_string_pretty(&json)? + "\n")
    }

    fn text(&self) -> String {
        let Estimate { documents, reference_documents, shingles, disk_bytes, pairs_disk_bytes, .. } = *self.estimate;
        let mut text = String::new();
        let mut line = |name: &str, number: String, more: &str| {
            let _ = writeln!(text, "{}", format!("  {name:<18}{number:>13}  {more}").trim_end());
        };
        line("documents", self.count(documents), &self.sampled());
        if reference_documents > 0 {
            line("reference", self.count(reference_documents), "");
        }
        line("shingles", self.count(shingles), "");
        let without_disk = size_up(self.estimate.memory_without_disk_bytes);
        line("memory", size(self.estimate.memory_bytes), &format!("with --memory {without_disk} or more nothing goes to disk"));
        line("  at least", size(self.estimate.memory_least_bytes), &self.longest());
        line("disk", size(disk_bytes), &self.disk());
        line("result", size(self.estimate.result_bytes), "");
        line("time", duration(self.seconds), "if the rest goes as fast as the sample");
        text.push_str("\n  pairs are not included: a sample does not tell how many there are");
        if pairs_disk_bytes > 0 {
            let _ = write!(
                text,
                ". They take at most {} more\n  on disk, if there are as many as --max-pairs allows",
                size(pairs_disk_bytes)
            );
        }
        text.push('\n');
        if self.is_too_little() {
            let _ = writeln!(text, "\n  warning: the scan would end for want of memory");
        }
        let _ = writeln!(text, "\n  next    {}", self.next());
        text
    }

    /// Three digits of a number that was guessed are enough.
    fn count(&self, number: u64) -> String {
        if self.estimate.sampled_all {
            return grouped(number);
        }
        let unit = 10u64.pow(number.max(1).ilog10().saturating_sub(2));
        format!("~{}", grouped((number + unit / 2) / unit * unit))
    }

    fn sampled(&self) -> String {
        let Estimate { bytes, sampled_bytes, sampled_documents, .. } = *self.estimate;
        if self.estimate.sampled_all {
            return format!("in {}, all of which was read", size(bytes));
        }
        let (documents, share) = (grouped(sampled_documents), percent(sampled_bytes, bytes));
        format!("from a sample of {documents} documents: {} of {} ({share})", size(sampled_bytes), size(bytes))
    }

    fn longest(&self) -> String {
        let longest = size(self.estimate.longest_document_bytes);
        format!("for what stays in memory; more if a document is longer than {longest}, the longest seen")
    }

    fn disk(&self) -> String {
        let Some(limit) = self.estimate.memory_limit_bytes else { return String::new() };
        let place = match self.place {
            Some(place) if self.estimate.disk_bytes > 0 => format!(" in '{}'", printable(&place.display().to_string())),
            _ => String::new(),
        };
        format!("with --memory {}{place}", size_down(limit))
    }

    fn is_too_little(&self) -> bool {
        self.estimate.memory_limit_bytes.is_some_and(|limit| limit < self.estimate.memory_least_bytes)
    }

    fn next(&self) -> String {
        if self.is_too_little() {
            format!("scan with --memory {} or more", size_up(self.estimate.memory_least_bytes))
        } else {
            "the same command with --out DIR instead of --estimate".into()
        }
    }
}

/// As it can be typed after `--memory`, rounded up.
fn size_up(bytes: u64) -> String {
    format!("{}MiB", bytes.div_ceil(1 << 20))
}

/// The same, rounded down.
fn size_down(bytes: u64) -> String {
    format!("{}MiB", bytes >> 20)
}
