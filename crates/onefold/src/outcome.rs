//! What a run found: a verdict for every document, the listed pairs, the counts and what deserves a second look.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cluster::Stars;
use crate::document::{Collection, DocIndex, Flags};
use crate::error::{Error, Result, SkipKind};
use crate::join::{SetIndex, SetPair, Sets};
use crate::plan::Plan;
use crate::rank::{Ranking, Rule};
use crate::threshold::Threshold;
use crate::verify::Similarity;

/// Everything a run found.
#[derive(Debug)]
pub struct Outcome {
    /// What was asked.
    pub plan: Plan,
    /// The documents, by id.
    pub collection: Collection,
    /// One for each document.
    pub verdicts: Vec<Verdict>,
    /// Listed pairs, by the ids of their documents.
    pub pairs: Vec<Pair>,
    /// What came in and what came out.
    pub counts: Counts,
    /// What deserves a second look.
    pub warnings: Vec<Warning>,
}

/// What becomes of a document.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Kept for this document; itself where it is kept.
    pub representative: DocIndex,
    /// With the representative.
    pub similarity: Similarity,
    /// The document that names the cluster.
    pub cluster: DocIndex,
    /// Documents in the cluster.
    pub cluster_size: u32,
    /// Whether it stays.
    pub kept: bool,
    /// To the representative; none for documents that have a cluster to themselves.
    pub relation: Option<Relation>,
    /// 0 is the best of the collection.
    pub rank: u32,
    reason: Reason,
}

impl Verdict {
    /// Why it is kept or not, in words.
    pub fn reason(&self) -> String {
        match self.reason {
            Reason::Unique => "unique".into(),
            Reason::Protected => "protected".into(),
            Reason::NoText => "no text".into(),
            Reason::Best(rule) => format!("best by {}", rule.name()),
            Reason::Beaten(rule) => format!("beaten by {}", rule.name()),
        }
    }
}

/// Why a document is kept or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing is like it.
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
}

impl Relation {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Relation::Exact => "exact",
            Relation::Near => "near",
        }
    }
}

/// A row of the pairs table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The smaller id.
    pub first: DocIndex,
    /// The other.
    pub second: DocIndex,
    /// Common shingles.
    pub overlap: u32,
    /// Measured.
    pub similarity: Similarity,
    /// What the method's sketches suggested.
    pub estimate: Option<f64>,
    /// Whether it reaches the threshold.
    pub accepted: bool,
}

/// What came in and what came out: `seen = kept + removed + skipped`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Files and records looked at.
    pub seen: u64,
    /// Those that became documents.
    pub documents: u64,
    /// Documents that stay.
    pub kept: u64,
    /// Documents that another stands for.
    pub removed: u64,
    /// Of the removed: with the same tokens as their representative.
    pub exact: u64,
    /// Of the removed: near it.
    pub near: u64,
    /// Files and records that became no document.
    pub skipped: u64,
    /// Skipped, by reason.
    pub skipped_by_reason: BTreeMap<String, u64>,
    /// Documents with a remark, by remark.
    pub flagged_by_reason: BTreeMap<String, u64>,
    /// Clusters of two or more documents.
    pub clusters: u64,
    /// Documents in the largest cluster.
    pub largest_cluster: u64,
    /// What the largest cluster is called.
    pub largest_cluster_id: String,
    /// Rows of the pairs table that reach the threshold.
    pub pairs: u64,
    /// By source.
    pub sources: BTreeMap<String, SourceCounts>,
}

/// The counts of one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCounts {
    /// Documents from it.
    pub documents: u64,
    /// Of these: removed.
    pub removed: u64,
}

/// What deserves a second look before anything is deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable word.
    pub code: String,
    /// For people.
    pub message: String,
}

/// A source with fewer documents than this raises no warning.
const SMALL_SOURCE: u64 = 10;
/// A cluster is a giant from this many documents on, if it is also a twentieth of the collection.
const GIANT: u64 = 100;

impl Outcome {
    /// Counts, checks that the counts add up, and looks for what is odd.
    pub(crate) fn close(plan: Plan, collection: Collection, verdicts: Vec<Verdict>, pairs: Vec<Pair>) -> Result<Outcome> {
        let counts = count(&collection, &verdicts, &pairs);
        let clusters_kept = verdicts.iter().enumerate().filter(|(d, v)| v.representative as usize == *d).count() as u64;
        let reached = verdicts.iter().all(|v| v.kept || v.similarity.reaches(plan.threshold));
        if counts.seen != counts.kept + counts.removed + counts.skipped || counts.kept != clusters_kept || !reached {
            return Err(Error::Bug(format!("the counts do not add up: {counts:?}")));
        }
        let warnings = warnings(&counts);
        Ok(Outcome { plan, collection, verdicts, pairs, counts, warnings })
    }

    /// Whether an input was left out, cut, lossily read or renamed: the run is complete, but not clean.
    pub fn is_partial(&self) -> bool {
        let remarks = ["lossy", "truncated", "renamed"];
        self.counts.skipped > 0 || remarks.iter().any(|remark| self.counts.flagged_by_reason.contains_key(*remark))
    }
}

fn count(collection: &Collection, verdicts: &[Verdict], pairs: &[Pair]) -> Counts {
    let mut counts = Counts { documents: verdicts.len() as u64, ..Counts::default() };
    for skipped in &collection.skipped {
        let by_reason = match skipped.kind {
            SkipKind::Skipped => &mut counts.skipped_by_reason,
            SkipKind::Flagged => &mut counts.flagged_by_reason,
        };
        *by_reason.entry(skipped.reason.clone()).or_default() += 1;
    }
    counts.skipped = counts.skipped_by_reason.values().sum();
    counts.seen = counts.documents + counts.skipped;
    let mut by_source = vec![SourceCounts::default(); collection.sources.len()];
    for (index, (document, verdict)) in collection.documents.iter().zip(verdicts).enumerate() {
        let source = &mut by_source[document.source as usize];
        source.documents += 1;
        source.removed += u64::from(!verdict.kept);
        counts.kept += u64::from(verdict.kept);
        counts.exact += u64::from(!verdict.kept && verdict.relation == Some(Relation::Exact));
        counts.clusters += u64::from(verdict.cluster as usize == index && verdict.cluster_size > 1);
        if u64::from(verdict.cluster_size) > counts.largest_cluster {
            counts.largest_cluster = verdict.cluster_size.into();
            counts.largest_cluster_id = collection.documents[verdict.cluster as usize].id.clone();
        }
    }
    counts.removed = counts.documents - counts.kept;
    counts.near = counts.removed - counts.exact;
    counts.pairs = pairs.iter().filter(|pair| pair.accepted).count() as u64;
    counts.sources = collection.sources.iter().cloned().zip(by_source).collect();
    counts
}

fn warnings(counts: &Counts) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if counts.largest_cluster >= GIANT && counts.largest_cluster * 20 >= counts.documents {
        let (id, size, all) = (&counts.largest_cluster_id, counts.largest_cluster, counts.documents);
        let message = format!("one cluster, '{id}', holds {size} of {all} documents: a template, or empty pages?");
        warnings.push(Warning { code: "giant_cluster".into(), message });
    }
    let loses_most = |source: &SourceCounts| source.removed * 2 > source.documents && source.documents >= SMALL_SOURCE;
    let mut losing: Vec<_> = counts.sources.iter().filter(|(_, source)| loses_most(source)).collect();
    losing.sort_by_key(|(name, source)| (std::cmp::Reverse(source.removed), *name));
    warnings.extend(losing.into_iter().map(|(name, source)| {
        let message = format!("source '{name}' loses {} of its {} documents", source.removed, source.documents);
        Warning { code: "source_loses_most".into(), message }
    }));
    warnings
}

/// Which cluster a document is in, by the document that names it.
#[derive(Debug)]
pub(crate) struct Clustering {
    cluster: Vec<DocIndex>,
    sizes: Vec<u32>,
}

impl Clustering {
    /// The stars themselves.
    pub(crate) fn conservative(stars: &Stars) -> Self {
        Clustering::named(stars.representative.clone())
    }

    /// Connected components, named by their best-ranked document.
    pub(crate) fn transitive(sets: &Sets, ranking: &Ranking<'_>, component: &[SetIndex], documents: usize) -> Self {
        let mut best: Vec<Option<DocIndex>> = vec![None; component.len()];
        let mut cluster: Vec<DocIndex> = (0..documents as DocIndex).collect();
        let members = || (0..sets.len() as SetIndex).flat_map(|set| sets.documents(set).iter().map(move |&d| (component[set as usize] as usize, d)));
        for (component, document) in members() {
            let better = best[component].is_none_or(|other| ranking.position(document) < ranking.position(other));
            if better {
                best[component] = Some(document);
            }
        }
        for (component, document) in members() {
            cluster[document as usize] = best[component].unwrap_or(document);
        }
        Clustering::named(cluster)
    }

    fn named(cluster: Vec<DocIndex>) -> Self {
        let mut sizes = vec![0; cluster.len()];
        cluster.iter().for_each(|&name| sizes[name as usize] += 1);
        Clustering { cluster, sizes }
    }
}

/// A verdict for every document.
pub(crate) fn verdicts(collection: &Collection, ranking: &Ranking<'_>, stars: &Stars, clustering: &Clustering) -> Vec<Verdict> {
    let next_best = next_best(ranking, stars);
    let verdict = |document: DocIndex| {
        let (entry, representative) = (&collection.documents[document as usize], stars.representative[document as usize]);
        let kept = representative == document;
        let cluster = clustering.cluster[document as usize];
        let cluster_size = clustering.sizes[cluster as usize];
        let alone = kept && next_best[document as usize].is_none();
        let same_text = entry.digest == collection.documents[representative as usize].digest;
        let reason = match next_best[document as usize] {
            _ if entry.flags.has(Flags::NO_TEXT) => Reason::NoText,
            _ if entry.flags.has(Flags::PROTECTED) => Reason::Protected,
            _ if !kept => Reason::Beaten(ranking.deciding_rule(representative, document)),
            Some(other) => Reason::Best(ranking.deciding_rule(document, other)),
            None => Reason::Unique,
        };
        Verdict {
            representative,
            similarity: stars.similarity[document as usize],
            cluster,
            cluster_size,
            kept,
            relation: (!alone).then_some(if same_text { Relation::Exact } else { Relation::Near }),
            rank: ranking.position(document),
            reason,
        }
    };
    (0..collection.documents.len() as DocIndex).map(verdict).collect()
}

/// For each representative the best-ranked document that it stands for.
fn next_best(ranking: &Ranking<'_>, stars: &Stars) -> Vec<Option<DocIndex>> {
    let mut next: Vec<Option<DocIndex>> = vec![None; stars.representative.len()];
    for (document, &representative) in stars.representative.iter().enumerate() {
        let document = document as DocIndex;
        let slot = &mut next[representative as usize];
        if document != representative && slot.is_none_or(|other| ranking.position(document) < ranking.position(other)) {
            *slot = Some(document);
        }
    }
    next
}

/// Every verified pair: families as a star to their smallest id, other pairs between the smallest ids of their families.
pub(crate) fn list_pairs(collection: &Collection, sets: &Sets, pairs: &[SetPair], threshold: Threshold, estimate: impl Fn(DocIndex, DocIndex, &[SetIndex]) -> Option<f64>) -> Vec<Pair> {
    let set_of = set_of_documents(sets, collection.documents.len());
    let mut rows = Vec::with_capacity(pairs.len());
    for set in 0..sets.len() as SetIndex {
        let documents = sets.documents(set);
        let size = sets.sizes()[set as usize];
        for &member in &documents[1..] {
            let (first, second) = (documents[0], member);
            rows.push(Pair { first, second, overlap: size, similarity: Similarity::ONE, estimate: estimate(first, second, &set_of), accepted: true });
        }
    }
    for pair in pairs {
        let (a, b) = (sets.documents(pair.first)[0], sets.documents(pair.second)[0]);
        let similarity = pair.similarity(sets);
        let (first, second) = (a.min(b), a.max(b));
        rows.push(Pair { first, second, overlap: pair.overlap, similarity, estimate: estimate(first, second, &set_of), accepted: similarity.reaches(threshold) });
    }
    rows.sort_unstable_by_key(|row| (row.first, row.second));
    rows
}

/// Each removed document with its representative.
pub(crate) fn list_star(collection: &Collection, sets: &Sets, stars: &Stars, estimate: impl Fn(DocIndex, DocIndex, &[SetIndex]) -> Option<f64>) -> Vec<Pair> {
    let set_of = set_of_documents(sets, collection.documents.len());
    let mut rows = Vec::new();
    for (document, &representative) in stars.representative.iter().enumerate() {
        let document = document as DocIndex;
        if document == representative {
            continue;
        }
        let similarity = stars.similarity[document as usize];
        let same_set = set_of[document as usize] == set_of[representative as usize];
        let overlap = if same_set { sets.sizes()[set_of[document as usize] as usize] } else { similarity.overlap };
        let (first, second) = (document.min(representative), document.max(representative));
        rows.push(Pair { first, second, overlap, similarity, estimate: estimate(first, second, &set_of), accepted: true });
    }
    rows.sort_unstable_by_key(|row| (row.first, row.second));
    rows
}

fn set_of_documents(sets: &Sets, documents: usize) -> Vec<SetIndex> {
    let mut set_of = vec![0; documents];
    for set in 0..sets.len() as SetIndex {
        sets.documents(set).iter().for_each(|&document| set_of[document as usize] = set);
    }
    set_of
}
