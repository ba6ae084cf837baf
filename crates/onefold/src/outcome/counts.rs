//! Counting, and warning of what is odd.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{PairRows, Relation, Verdict};
use crate::document::{Collection, CollisionCounts, Counted, WordCounts};
use crate::error::{Result, SkipKind, Skipped};
use crate::plan::{Plan, Verify};
use crate::shingle::hash::SHINGLE_BITS;

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
    /// Of the removed: inside it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub contained: u64,
    /// Of the kept: inside another that is kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inside: u64,
    /// What was compared with, where there was a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceCounts>,
    /// Words that were left out because too many documents have them, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<WordCounts>,
    /// How many different shingles look the same, where hashes have few bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collisions: Option<CollisionCounts>,
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

impl Counts {
    /// Whether an input was left out, cut, lossily read or renamed.
    pub fn is_partial(&self) -> bool {
        self.skipped > 0 || Skipped::LOSSES.iter().any(|loss| self.flagged_by_reason.contains_key(*loss))
    }
}

/// The counts of one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCounts {
    /// Documents from it.
    pub documents: u64,
    /// Of these: removed.
    pub removed: u64,
}

/// The counts of the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReferenceCounts {
    /// Documents in it.
    pub documents: u64,
    /// Removed documents that one of these stands for.
    pub removed: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
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

/// Adds everything up.
pub(super) fn count(collection: &Collection, verdicts: &[Verdict], pairs: &PairRows) -> Result<Counts> {
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
    let mut seen_clusters = vec![false; collection.documents.len()];
    for (document, verdict) in collection.documents.iter().zip(verdicts) {
        let source = &mut by_source[document.source as usize];
        source.documents += 1;
        source.removed += u64::from(!verdict.kept);
        counts.kept += u64::from(verdict.kept);
        counts.exact += u64::from(!verdict.kept && verdict.relation == Some(Relation::Exact));
        counts.contained += u64::from(!verdict.kept && verdict.relation == Some(Relation::Contained));
        counts.inside += u64::from(verdict.kept && verdict.relation == Some(Relation::Contained));
        let seen = std::mem::replace(&mut seen_clusters[verdict.cluster as usize], true);
        counts.clusters += u64::from(!seen && verdict.cluster_size > 1);
        if u64::from(verdict.cluster_size) > counts.largest_cluster {
            counts.largest_cluster = verdict.cluster_size.into();
            counts.largest_cluster_id = collection.documents[verdict.cluster as usize].id.clone();
        }
    }
    counts.removed = counts.documents - counts.kept;
    counts.near = counts.removed - counts.exact - counts.contained;
    pairs.each(|pair| counts.pairs += u64::from(pair.accepted))?;
    let sources = collection.sources.iter().cloned().zip(by_source);
    counts.sources = sources.filter(|(_, source)| source.documents > 0).collect();
    Counted { words: counts.words, collisions: counts.collisions } = collection.counted;
    counts.reference = reference(collection, verdicts);
    Ok(counts)
}

/// What the method leaves open.
fn about_method(plan: &Plan, collection: &Collection) -> impl Iterator<Item = Warning> {
    let name = plan.preset.as_deref().unwrap_or(plan.method.name());
    let unverified = (plan.verify == Verify::None).then(|| Warning {
        code: "unverified".into(),
        message: format!("pairs are what '{name}' proposed, whatever their resemblance (--verify none)"),
    });
    let collisions = if plan.hash.bits() < SHINGLE_BITS { about_collisions(plan, collection) } else { None };
    let collisions = collisions.map(|message| Warning { code: "few_bits".into(), message });
    // Of no word is ln(N/n) more than ln N.
    let none_left = collection.counted.words.filter(|words| words.distinct > 0 && words.left_out == words.distinct);
    let wordless = plan.min_idf.zip(none_left).map(|(least, WordCounts { documents, .. })| Warning {
        code: "no_words_left".into(),
        message: format!(
            "--min-idf {least} left every word out, so that only equal texts were found: a word of one document is rare enough \
             among {:.0} documents, and here are {documents}",
            least.exp().ceil()
        ),
    });
    unverified.into_iter().chain(collisions).chain(wordless)
}

/// What comes of few bits: as it was measured, otherwise as it is to be expected.
fn about_collisions(plan: &Plan, collection: &Collection) -> Option<String> {
    let bits = plan.hash.bits();
    if let Some(CollisionCounts { expected, measured, one_in, .. }) = collection.counted.collisions {
        let how = if one_in == 1 { String::new() } else { format!(", by a sample of 1 in {one_in}") };
        let message =
            format!("hashes of {bits} bits: {measured} pairs of different shingles look the same{how} ({expected:.1} expected)");
        return (measured > 0 || expected >= 1.0).then_some(message);
    }
    // Among n values of b bits, n²/2^(b+1) pairs of different ones are expected to look the same (§7.1).
    let shingles: f64 = collection.documents.iter().map(|document| f64::from(document.shingle_count())).sum();
    let colliding = shingles * shingles / 2f64.powi(bits as i32 + 1);
    (colliding >= 1.0).then(|| format!("hashes of {bits} bits: up to {colliding:.0} pairs of different shingles look the same"))
}

fn reference(collection: &Collection, verdicts: &[Verdict]) -> Option<ReferenceCounts> {
    let documents = collection.reference_documents?;
    let inputs = collection.inputs();
    let removed = verdicts.iter().filter(|verdict| !verdict.kept && verdict.representative as usize >= inputs).count() as u64;
    Some(ReferenceCounts { documents, removed })
}

/// What deserves a second look.
pub(super) fn warnings(plan: &Plan, collection: &Collection, counts: &Counts) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = about_method(plan, collection).collect();
    if counts.largest_cluster >= GIANT && counts.largest_cluster * 20 >= counts.documents {
        let (id, size, all) = (&counts.largest_cluster_id, counts.largest_cluster, counts.documents);
        let message = format!("one cluster, '{id}', holds {size} of {all} documents: a template, or empty pages?");
        warnings.push(Warning { code: "giant_cluster".into(), message });
    }
    if counts.reference.is_some_and(|reference| reference.documents == 0) {
        let message = "the reference holds no document, so everything looks new".to_string();
        warnings.push(Warning { code: "empty_reference".into(), message });
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
