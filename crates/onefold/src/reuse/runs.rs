//! Runs of n words that several documents have: which, and where.
//!
//! Winnowing (M18) keeps about four of n hashes of half as many words; a run that stands in two documents holds a hash that both keep. So only runs
//! around hashes that two documents keep are hashed whole, and sorted.

use std::ops::Range;

use rayon::prelude::*;
use serde::Serialize;

use super::{LeftOut, ReuseSettings, Sequences};
use crate::document::DocIndex;
use crate::error::Result;
use crate::exec::Exec;
use crate::fingerprint::winnow;
use crate::shingle::hash;

/// Where a run of words begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The document.
    pub document: DocIndex,
    /// Its word, from 0.
    pub word: u32,
}

/// A run that stands in several documents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// Its first row in the table.
    start: usize,
    /// Where it stands.
    pub(super) places: u32,
    /// In how many documents.
    pub(super) documents: u32,
}

/// Every run that stands in several documents.
pub(super) struct Runs<'a> {
    /// Words of a run.
    pub(super) length: usize,
    pub(super) groups: Vec<Group>,
    max_places: u32,
    sequences: &'a Sequences,
    /// Hashes of runs with their places, in order.
    table: Vec<(u64, Place)>,
    /// For each word of the collection: one more than the group of the run that begins there, or 0.
    groups_at: Vec<u32>,
}

impl<'a> Runs<'a> {
    pub(super) fn find(sequences: &'a Sequences, settings: &ReuseSettings, exec: &Exec<'_>) -> Result<Runs<'a>> {
        let length = settings.words as usize;
        let shared = shared_fingerprints(sequences, length);
        exec.check()?;
        let mut table = with_fingerprints(sequences, length, &shared);
        table.par_sort_unstable();
        exec.check()?;
        let mut groups_at = vec![0; sequences.words()];
        let mut groups = Vec::new();
        let mut start = 0;
        for rows in table.chunk_by(|a, b| a.0 == b.0) {
            let documents = documents(rows.iter().map(|row| row.1));
            if documents > 1 {
                groups.push(Group { start, places: rows.len() as u32, documents });
                rows.iter()
                    .for_each(|row| groups_at[sequences.start(row.1.document) + row.1.word as usize] = groups.len() as u32);
            }
            start += rows.len();
        }
        Ok(Runs { length, groups, max_places: settings.max_places, sequences, table, groups_at })
    }

    /// Where a group's run stands, in order.
    pub(super) fn places(&self, group: &Group) -> impl Iterator<Item = Place> {
        self.table[group.start..group.start + group.places as usize].iter().map(|row| row.1)
    }

    /// The group of the run that begins somewhere, by number.
    pub(super) fn group_at(&self, place: Place) -> Option<usize> {
        let at = self.sequences.start(place.document) + place.word as usize;
        (self.groups_at[at] as usize).checked_sub(1)
    }

    /// Whether it stands in too many places to be paired up.
    pub(super) fn is_crowded(&self, group: &Group) -> bool {
        group.places > self.max_places
    }

    pub(super) fn left_out(&self) -> LeftOut {
        let crowded = self.groups.iter().filter(|group| self.is_crowded(group));
        crowded
            .fold(LeftOut::default(), |sum, group| LeftOut { runs: sum.runs + 1, places: sum.places + u64::from(group.places) })
    }

    /// Words that lie in a run of some group.
    pub(super) fn covered_words(&self) -> u64 {
        let (mut covered, mut end) = (0, 0);
        for (at, _) in self.groups_at.iter().enumerate().filter(|(_, group)| **group > 0) {
            covered += at + self.length - end.max(at);
            end = at + self.length;
        }
        covered as u64
    }
}

/// In how many documents places are that stand in order.
pub(super) fn documents(places: impl Iterator<Item = Place>) -> u32 {
    let mut last = None;
    places.filter(|place| last.replace(place.document) != Some(place.document)).count() as u32
}

/// Calls `take` with each fingerprint of a document, and the runs of `length` words that it is kept for.
fn fingerprints(words: &[u64], length: usize, mut take: impl FnMut(u64, Range<usize>)) {
    if words.len() < length {
        return;
    }
    // The longer the grams, the fewer are shared by chance; the shorter, the fewer are kept. Windows of them are as long as a run.
    let gram = length.div_ceil(2);
    let mut grams = Vec::with_capacity(words.len());
    hash::shingles(words, gram, |gram| grams.push(gram));
    let mut last = None;
    winnow(&grams, length + 1 - gram, |window, hash| {
        if let Some((from, former)) = last.replace((window, hash)) {
            take(former, from..window);
        }
    });
    if let Some((from, hash)) = last {
        take(hash, from..words.len() + 1 - length);
    }
}

fn every_document(sequences: &Sequences) -> impl ParallelIterator<Item = (DocIndex, &[u64])> {
    (0..sequences.documents() as DocIndex).into_par_iter().map(|document| (document, sequences.of(document)))
}

/// Fingerprints that two documents have, in order.
fn shared_fingerprints(sequences: &Sequences, length: usize) -> Vec<u64> {
    let of_document = |(document, words)| {
        let mut kept = Vec::new();
        fingerprints(words, length, |hash, _| kept.push((hash, document)));
        kept
    };
    let mut kept: Vec<(u64, DocIndex)> = every_document(sequences).flat_map_iter(of_document).collect();
    kept.par_sort_unstable();
    kept.dedup();
    kept.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1).map(|same| same[0].0).collect()
}

/// The runs that have one of these fingerprints, with their places.
fn with_fingerprints(sequences: &Sequences, length: usize, shared: &[u64]) -> Vec<(u64, Place)> {
    let of_document = |(document, words)| {
        let mut wanted: Vec<Range<usize>> = Vec::new();
        fingerprints(words, length, |hash, runs| wanted.extend(shared.binary_search(&hash).is_ok().then_some(runs)));
        let mut hashes = Vec::new();
        if !wanted.is_empty() {
            hashes.reserve_exact(words.len());
            hash::shingles(words, length, |run| hashes.push(run));
        }
        wanted.into_iter().flatten().map(move |word| (hashes[word], Place { document, word: word as u32 }))
    };
    every_document(sequences).flat_map_iter(of_document).collect()
}
