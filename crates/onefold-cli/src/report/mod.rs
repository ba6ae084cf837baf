//! `report.html`: a result as one page that opens from disk.
//!
//! In: the rows of a result, twice, and the texts of the few documents that are shown. Out: the page. Invariant: the same
//! result gives the same bytes, whether it comes from a run or from a folder; nothing from a document becomes markup.
//! Cost: two passes over the documents, one over the pairs; memory is bounded by what is shown, not by the collection.
//! Drops, and says so: rows of long tables, all clusters but the largest and the most doubtful, texts beyond an excerpt.
//!
//! [`Collector`] counts (first pass) → [`Gathering`](gather::Gathering) fetches the members of the chosen clusters (second
//! pass) → [`Report`] names the texts it wants and renders.

mod adapt;
mod breakdown;
mod clusters;
mod collect;
pub mod command;
mod diff;
mod gather;
mod made;
mod row;
mod sections;
mod skips;
mod spread;
mod tally;
#[cfg(test)]
mod tests;
mod top;
mod words;

pub use adapt::{RunNotes, from_outcome, from_saved};
pub use collect::Collector;
pub use row::{DocumentRow, host_of, type_of};
pub use skips::Skip;

use std::collections::HashMap;

use onefold::{Counts, Plan, Warning};

use collect::Totals;
use gather::Cluster;

/// Clusters shown of each kind.
const SHOWN_CLUSTERS: usize = 12;
/// Removed documents shown of a cluster, beside the one kept.
const SHOWN_MEMBERS: usize = 3;
/// Rows of a table before the others are summed up.
const SHOWN_ROWS: usize = 20;
/// Characters of a text that are shown.
const EXCERPT: usize = 2000;
/// Characters of a name that are shown.
const NAME: usize = 240;

/// What the manifest says of the run.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Version of the program.
    pub version: String,
    /// The command, word by word.
    pub command: Vec<String>,
    /// The inputs as named.
    pub inputs: Vec<String>,
    /// What was asked.
    pub plan: Plan,
    /// Of the plan.
    pub plan_digest: String,
    /// What came in and what came out.
    pub counts: Counts,
    /// What deserves a second look.
    pub warnings: Vec<Warning>,
    /// Seconds by stage.
    pub timings: Vec<(String, f64)>,
    /// The name of the documents table, for readers who want all rows.
    pub documents_file: String,
}

/// Everything the page shows but the texts.
#[derive(Debug)]
pub struct Report {
    facts: Facts,
    totals: Totals,
    /// Each once; a cluster can be both doubtful and large.
    clusters: Vec<Cluster>,
    /// Places in `clusters`, the most doubtful first.
    doubtful: Vec<usize>,
    /// Places in `clusters`, the largest first.
    largest: Vec<usize>,
}

impl Report {
    /// The ids of the documents whose texts are shown.
    pub fn wanted_texts(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.clusters.iter().flat_map(Cluster::shown_ids).map(String::from).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The page. Texts that are missing are said to be.
    pub fn render(&self, texts: &HashMap<String, String>) -> String {
        sections::page(self, texts)
    }
}
