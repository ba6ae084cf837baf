//! Fewer shingles by their hash or by how common they are: the experiments of Nikkhoo (N10–N25).
//!
//! In: the sets of a collection, copies included. Out: near-duplicates, error, correlation, recall and precision for each share of shingles that
//! is kept, and for each limit to the documents that have one. Invariant: all sums are whole numbers, so that they are the same for any number of
//! threads; what a document shares with *every* other is seen, for as many documents as the budget allows. Cost: one pass over [`Rows`],
//! with [`CUTS`] counters a partner. Drops nothing.

mod frequent;
mod moments;
mod tables;
#[cfg(test)]
mod tests;

use std::ops::AddAssign;

use onefold::{Error, Exec, HashSets, Threshold};
use serde::Serialize;

use super::rows::{Partner, Rows};
use super::shelf::Shelf;
use super::trials::reached;
use crate::score::{PairScore, ratio};
pub use frequent::CommonShingle;
use moments::{Moments, fixed};
pub use tables::Table;

/// One in so many shingles is kept, each sample inside the one before (N14).
pub const MODULI: [u32; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/// Shingles that more documents have are left out (N20).
pub const LIMITS: [Option<u32>; 11] =
    [None, Some(100), Some(90), Some(80), Some(70), Some(60), Some(50), Some(40), Some(30), Some(20), Some(10)];
/// Steps that are made in about a minute.
pub const BUDGET: u64 = 2_000_000_000;
/// So many of the most common shingles are listed (N25).
pub const MOST_COMMON: usize = 20;

/// Samples and limits, one after the other. The first of each leaves everything.
const CUTS: usize = MODULI.len() + LIMITS.len();
/// Resemblances are told apart by tenths; so many make a near-duplicate (N10).
const NEAR: usize = 5;
/// More than nine tenths is as good as nine.
const TENTHS: usize = 9;

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Commonality {
    /// Documents of the collection.
    pub documents: u64,
    /// Those that have shingles.
    pub with_shingles: u64,
    /// Those of them whose partners were looked at.
    pub looked_at: u64,
    /// Whether these are all; otherwise shares are those of a sample of documents.
    pub complete: bool,
    /// Pairs with a common shingle, each as often as one of its documents was looked at: twice where all were.
    pub seen_pairs: u64,
    /// Shingles, each counted in every document that has it.
    pub shingles: u64,
    /// For each of [`MODULI`].
    pub samples: Vec<Cut>,
    /// For each of [`LIMITS`].
    pub limits: Vec<Cut>,
    /// The most common shingles, the first is in most documents (N25).
    pub most_common: Vec<CommonShingle>,
}

/// What is kept of the shingles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// One in so many, by remainder. Documents are as large as what is left of them (N23).
    OneIn(u32),
    /// Those that at most so many documents have, or all. Documents are as large as before (N23).
    UpTo(Option<u32>),
}

/// What becomes of near-duplicates when only some shingles are kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cut {
    /// Which.
    pub kept: Kept,
    /// The share of all shingles that this is.
    pub shingles_share: Option<f64>,
    /// Pairs that the first reducer writes: one for each shingle and two documents that have it (N24). Of all documents.
    pub emitted_pairs: u64,
    /// Their share of those that it writes for all shingles.
    pub emitted_share: Option<f64>,
    /// From resemblance 0.9 down to 0.1 (N11).
    pub prevalence: Vec<Prevalence>,
    /// Mean difference to the resemblance by all shingles, over pairs that have one in common (N16).
    pub average_error: Option<f64>,
    /// Correlation with that resemblance.
    pub correlation: Option<f64>,
    /// Pairs of resemblance 0.5 by what is kept, measured by those by all shingles (N16b); counted as [`Commonality::seen_pairs`].
    pub pairs: PairScore,
    /// The same for documents that have such a pair.
    pub near_duplicates: PairScore,
}

/// Documents with a near-duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prevalence {
    /// From this resemblance on.
    pub rr_at_least: Threshold,
    /// Those that were looked at and have one.
    pub documents: u64,
    /// In % of all documents, those without shingles included (N10).
    pub percent: Option<f64>,
}

/// Carries the experiments out. The budget is that of [`Rows::new`]; [`BUDGET`] is a good one.
pub fn commonality(shelf: &Shelf, budget: u64, exec: &Exec<'_>) -> Result<Commonality, Error> {
    let rows = Rows::new(&shelf.sets, budget, exec)?;
    let thresholds: Vec<Threshold> = (1..=TENTHS).map(|tenth| format!("0.{tenth}").parse()).collect::<Result<_, _>>()?;
    let lookup = Lookup { slots: slots(&rows), sizes: sizes(&shelf.sets), thresholds };
    let gathered = rows.gather(
        CUTS,
        exec,
        |list, counts| lookup.slots[list].iter().for_each(|&slot| counts[usize::from(slot)] += 1),
        |gathered: &mut Gathered, document, partners| lookup.look(gathered, document, partners),
        |all, part| all.unite(&part),
    )?;
    let with_shingles = shelf.sets.iter().filter(|set| !set.is_empty()).count() as u64;
    let looked_at = rows.chosen().len() as u64;
    let mut result = Commonality {
        documents: shelf.len() as u64,
        with_shingles,
        looked_at,
        complete: looked_at == with_shingles,
        seen_pairs: gathered.cuts[0].moments.pairs(),
        shingles: shelf.sets.total() as u64,
        samples: Vec::new(),
        limits: Vec::new(),
        most_common: frequent::most_common(&rows, MOST_COMMON),
    };
    let mut cuts = lookup.cuts(&result, &rows, &gathered);
    result.limits = cuts.split_off(MODULI.len());
    result.samples = cuts;
    Ok(result)
}

/// For each shared shingle the last sample and the last limit that leave it, as places among all cuts.
fn slots(rows: &Rows) -> Vec<[u8; 2]> {
    let slot = |list: usize| {
        let documents = rows.list(list).len() as u64;
        let sample = sample_of(rows.shingle(list));
        let limit = LIMITS.partition_point(|limit| limit.is_none_or(|limit| documents <= limit.into())) - 1;
        [sample as u8, (MODULI.len() + limit) as u8]
    };
    (0..rows.shared()).map(slot).collect()
}

/// The last sample that a shingle belongs to: moduli double, so it is known by its zero bits.
fn sample_of(shingle: u64) -> usize {
    (shingle.trailing_zeros() as usize).min(MODULI.len() - 1)
}

/// Shingles of each document in each sample.
fn sizes(sets: &HashSets) -> Vec<[u32; MODULI.len()]> {
    let size = |set: &[u64]| {
        let mut counts = [0; MODULI.len()];
        set.iter().for_each(|&shingle| counts[sample_of(shingle)] += 1);
        add_up(&mut counts);
        counts
    };
    sets.iter().map(size).collect()
}

/// Turns counts by the last cut that leaves something into counts by every cut that does.
fn add_up<T: Copy + AddAssign>(counts: &mut [T]) {
    for at in (1..counts.len()).rev() {
        let later = counts[at];
        counts[at - 1] += later;
    }
}

/// The same for samples and limits.
fn add_up_both<T: Copy + AddAssign>(mut counts: [T; CUTS]) -> [T; CUTS] {
    let (samples, limits) = counts.split_at_mut(MODULI.len());
    add_up(samples);
    add_up(limits);
    counts
}

/// What is known before documents are compared.
struct Lookup {
    /// Of each shared shingle.
    slots: Vec<[u8; 2]>,
    /// Of each document.
    sizes: Vec<[u32; MODULI.len()]>,
    /// Tenths, rising.
    thresholds: Vec<Threshold>,
}

/// What was seen, by cut.
#[derive(Default)]
struct Gathered {
    cuts: [Seen; CUTS],
}

#[derive(Default)]
struct Seen {
    moments: Moments,
    /// Near-duplicate pairs by what is kept.
    found: u64,
    /// Those that are so by all shingles, too.
    right: u64,
    /// Documents by the tenths of their best resemblance.
    best: [u64; TENTHS + 1],
    /// Near-duplicates by what is kept and by all shingles.
    right_documents: u64,
}

impl Gathered {
    fn unite(&mut self, other: &Gathered) {
        for (cut, other) in self.cuts.iter_mut().zip(&other.cuts) {
            cut.moments.unite(&other.moments);
            cut.found += other.found;
            cut.right += other.right;
            cut.best.iter_mut().zip(other.best).for_each(|(count, other)| *count += other);
            cut.right_documents += other.right_documents;
        }
    }
}

impl Seen {
    /// Documents with a partner of so many tenths.
    fn documents(&self, tenths: usize) -> u64 {
        self.best[tenths..].iter().sum()
    }
}

impl Lookup {
    fn look(&self, gathered: &mut Gathered, document: u32, partners: &[Partner<'_>]) {
        let mut best = [0; CUTS];
        for partner in partners {
            let alike = self.compare(document, partner);
            for ((seen, best), (tenths, resemblance)) in gathered.cuts.iter_mut().zip(&mut best).zip(alike) {
                seen.moments.add(alike[0].1, resemblance);
                seen.found += u64::from(tenths >= NEAR);
                seen.right += u64::from(tenths.min(alike[0].0) >= NEAR);
                *best = tenths.max(*best);
            }
        }
        for (seen, tenths) in gathered.cuts.iter_mut().zip(best) {
            seen.best[tenths] += 1;
            seen.right_documents += u64::from(tenths.min(best[0]) >= NEAR);
        }
    }

    /// The resemblance of a document and a partner after each cut, in tenths reached and as a number.
    fn compare(&self, document: u32, partner: &Partner<'_>) -> [(usize, u64); CUTS] {
        let common = add_up_both(std::array::from_fn(|cut| partner.counts[cut]));
        let [a, b] = [document, partner.document].map(|document| &self.sizes[document as usize]);
        std::array::from_fn(|cut| {
            if common[cut] == 0 {
                return (0, 0);
            }
            let sample = if cut < MODULI.len() { cut } else { 0 };
            let union = a[sample] + b[sample] - common[cut];
            (reached(&self.thresholds, common[cut], union), fixed(common[cut], union))
        })
    }

    fn cuts(&self, result: &Commonality, rows: &Rows, gathered: &Gathered) -> Vec<Cut> {
        let kept = MODULI.map(Kept::OneIn).into_iter().chain(LIMITS.map(Kept::UpTo));
        let (shingles, emitted) = (self.kept_shingles(result.shingles, rows), self.emitted_pairs(rows));
        let truth = &gathered.cuts[0];
        let cut = |(at, kept): (usize, Kept)| {
            let seen = &gathered.cuts[at];
            Cut {
                kept,
                shingles_share: ratio(shingles[at], result.shingles),
                emitted_pairs: emitted[at],
                emitted_share: ratio(emitted[at], emitted[0]),
                prevalence: self.prevalence(result, seen),
                average_error: seen.moments.average_error(),
                correlation: seen.moments.correlation(),
                pairs: PairScore::new(seen.right, seen.found, truth.found),
                near_duplicates: PairScore::new(seen.right_documents, seen.documents(NEAR), truth.documents(NEAR)),
            }
        };
        kept.enumerate().map(cut).collect()
    }

    /// Those without shingles are not looked at, but count.
    fn prevalence(&self, result: &Commonality, seen: &Seen) -> Vec<Prevalence> {
        let with_shingles = 100.0 * result.with_shingles as f64 / result.documents.max(1) as f64;
        let level = |tenths: usize| {
            let documents = seen.documents(tenths);
            let percent = ratio(documents, result.looked_at).map(|share| share * with_shingles);
            Prevalence { rr_at_least: self.thresholds[tenths - 1], documents, percent }
        };
        (1..=TENTHS).rev().map(level).collect()
    }

    /// Shingles that each cut leaves, each counted in every document that has it.
    fn kept_shingles(&self, all: u64, rows: &Rows) -> [u64; CUTS] {
        let shared = self.sum_over_lists(rows, |documents| documents);
        let alone = all - shared[0];
        std::array::from_fn(|cut| match cut.checked_sub(MODULI.len()) {
            None => self.sizes.iter().map(|sizes| u64::from(sizes[cut])).sum(),
            // No limit is below one document.
            Some(limit) => shared[MODULI.len() + limit] + alone,
        })
    }

    fn emitted_pairs(&self, rows: &Rows) -> [u64; CUTS] {
        self.sum_over_lists(rows, |documents| documents * (documents - 1) / 2)
    }

    /// Sums, for each cut, over the shared shingles that it leaves, by the number of documents that have them.
    fn sum_over_lists(&self, rows: &Rows, of: impl Fn(u64) -> u64) -> [u64; CUTS] {
        let mut sums = [0; CUTS];
        for (list, slots) in self.slots.iter().enumerate() {
            let value = of(rows.list(list).len() as u64);
            slots.iter().for_each(|&slot| sums[usize::from(slot)] += value);
        }
        add_up_both(sums)
    }
}
