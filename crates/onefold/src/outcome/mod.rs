//! What a run found: a verdict for every document, the listed pairs, the counts and what deserves a second look.

mod counts;
mod listing;
mod verdicts;

pub use counts::{Counts, ReferenceCounts, SourceCounts, Warning};
pub(crate) use listing::{Aside, list_pairs, list_star};
pub use listing::{Pair, PairRows};
pub(crate) use verdicts::{Clustering, verdicts};

use std::borrow::Cow;

use crate::document::{Collection, DocIndex, Entry};
use crate::error::{Error, Result};
use crate::plan::{Plan, Remove, Verify};
use crate::rank::Rule;
use crate::verify::Similarity;

/// Everything a run found.
#[derive(Debug)]
pub struct Outcome {
    /// What was asked.
    pub plan: Plan,
    /// The documents, by id, and after them those of the reference.
    pub collection: Collection,
    /// One for each document that is not of the reference.
    pub verdicts: Vec<Verdict>,
    /// Listed pairs, by the ids of their documents.
    pub pairs: PairRows,
    /// What came in and what came out.
    pub counts: Counts,
    /// What deserves a second look.
    pub warnings: Vec<Warning>,
}

/// What becomes of a document.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Kept for this document; itself where it is kept, unless it lies inside another or another inside it.
    pub representative: DocIndex,
    /// With the representative.
    pub similarity: Similarity,
    /// The document that names the cluster.
    pub cluster: DocIndex,
    /// Documents in the cluster.
    pub cluster_size: u32,
    /// Whether it stays.
    pub kept: bool,
    /// To the representative; none for the representative itself.
    pub relation: Option<Relation>,
    /// 0 is the best of the collection.
    pub rank: u32,
    reason: Reason,
}

impl Verdict {
    /// Why it is kept or not, in words.
    pub fn reason(&self) -> Cow<'static, str> {
        match self.reason {
            Reason::Unique => "unique".into(),
            Reason::Protected => "protected".into(),
            Reason::NoText => "no text".into(),
            Reason::Best(rule) => format!("best by {}", rule.name()).into(),
            Reason::Beaten(rule) => format!("beaten by {}", rule.name()).into(),
        }
    }
}

/// Why a document is kept or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It stands for no other document.
    Unique,
    /// It is protected.
    Protected,
    /// It has no text to compare.
    NoText,
    /// It came before the next best of its cluster by this rule.
    Best(Rule),
    /// Its representative came before it by this rule.
    Beaten(Rule),
}

/// How a document relates to its representative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same tokens in the same order.
    Exact,
    /// Resemblance at or above the threshold.
    Near,
    /// It lies inside its representative.
    Contained,
    /// Its representative lies inside it.
    Contains,
}

impl Relation {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Relation::Exact => "exact",
            Relation::Near => "near",
            Relation::Contained => "contained",
            Relation::Contains => "contains",
        }
    }
}

impl Outcome {
    /// Counts, checks that the counts add up, and looks for what is odd.
    pub(crate) fn close(plan: Plan, collection: Collection, verdicts: Vec<Verdict>, pairs: PairRows) -> Result<Outcome> {
        let counts = counts::count(&collection, &verdicts, &pairs)?;
        let in_order = verdicts.iter().all(|v| v.kept || (is_kept(&verdicts, v.representative) && is_close(&plan, v)));
        if counts.seen != counts.kept + counts.removed + counts.skipped || !in_order {
            return Err(Error::Bug(format!("the counts do not add up: {counts:?}")));
        }
        let warnings = counts::warnings(&plan, &collection, &counts);
        Ok(Outcome { plan, collection, verdicts, pairs, counts, warnings })
    }

    /// The documents that the run was about, each with what becomes of it.
    pub fn documents(&self) -> impl Iterator<Item = (&Entry, &Verdict)> {
        self.collection.documents.iter().zip(&self.verdicts)
    }

    /// Whether an input was left out, cut, lossily read or renamed: the run is complete, but not clean.
    pub fn is_partial(&self) -> bool {
        self.counts.is_partial()
    }
}

/// Documents of the reference have no verdict; they stay.
fn is_kept(verdicts: &[Verdict], document: DocIndex) -> bool {
    verdicts.get(document as usize).is_none_or(|verdict| verdict.kept)
}

/// Whether a removed document reaches the threshold with its own representative, or lies inside it where that is asked for.
fn is_close(plan: &Plan, verdict: &Verdict) -> bool {
    let inside = verdict.relation == Some(Relation::Contained) && plan.remove == Remove::Contained;
    inside || plan.verify != Verify::Exact || verdict.similarity.reaches(plan.threshold)
}
