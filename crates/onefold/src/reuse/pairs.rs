//! The maximal common passages of two documents.
//!
//! Two places of a run belong to a passage; only the first run of a passage is paired up, so a passage is found about once, however long it
//! is. It is the first where the words before it differ, or where the run before it stands in too many places.

use rayon::prelude::*;

use super::runs::{Group, Place, Runs};
use super::sequences::Sequences;
use crate::document::DocIndex;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::verify::passages::Passage;

/// A passage that two documents share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedPassage {
    /// A document.
    pub first: DocIndex,
    /// One after it.
    pub second: DocIndex,
    /// Where it is in both.
    pub passage: Passage,
}

/// More passages than these are not listed: they would take gigabytes.
const MOST_PASSAGES: usize = 50_000_000;
/// Groups that are paired up before anybody asks how many passages there are.
const BATCH: usize = 1 << 14;

/// All of them, by documents, then by position.
pub(super) fn passages(sequences: &Sequences, runs: &Runs<'_>, exec: &Exec<'_>) -> Result<Vec<SharedPassage>> {
    let mut found = Vec::new();
    for groups in runs.groups.chunks(BATCH) {
        exec.check()?;
        let few = groups.par_iter().filter(|group| !runs.is_crowded(group));
        found.par_extend(few.flat_map_iter(|group| pair_up(sequences, runs, group)));
        if found.len() > MOST_PASSAGES {
            return Err(Error::TooLarge { what: "passages that two documents share", limit: MOST_PASSAGES as u64 });
        }
    }
    found.par_sort_unstable_by_key(|shared| (shared.first, shared.second, shared.passage.first, shared.passage.second));
    // A passage with several runs behind crowded ones was found from each of them.
    found.dedup();
    Ok(found)
}

/// The passages whose first run this is.
fn pair_up(sequences: &Sequences, runs: &Runs<'_>, group: &Group) -> Vec<SharedPassage> {
    let mut places: Vec<(Option<u64>, Place)> =
        runs.places(group).map(|place| (word_before(sequences, runs, place), place)).collect();
    places.sort_unstable();
    let mut found = Vec::new();
    let mut rest = places.as_slice();
    while let Some(&(before, place)) = rest.first() {
        rest = &rest[1..];
        // Where the word before is the same, the passage has an earlier run.
        let others = if before.is_none() { rest } else { &rest[rest.partition_point(|other| other.0 == before)..] };
        let others = others.iter().map(|other| other.1).filter(|other| other.document != place.document);
        found.extend(others.filter_map(|other| grown(sequences, place.min(other), place.max(other), runs.length)));
    }
    found
}

/// The word before a run, unless there is none or the run that begins with it is not paired up.
fn word_before(sequences: &Sequences, runs: &Runs<'_>, place: Place) -> Option<u64> {
    let before = Place { word: place.word.checked_sub(1)?, ..place };
    let crowded = runs.group_at(before).is_some_and(|group| runs.is_crowded(&runs.groups[group]));
    (!crowded).then(|| sequences.of(place.document)[before.word as usize])
}

/// The passage around two places, as far as the words are the same; none where only hashes were.
fn grown(sequences: &Sequences, first: Place, second: Place, least: usize) -> Option<SharedPassage> {
    let [(before_a, from_a), (before_b, from_b)] =
        [first, second].map(|place| sequences.of(place.document).split_at(place.word as usize));
    let after = from_a.iter().zip(from_b).take_while(|(a, b)| a == b).count();
    let before = before_a.iter().rev().zip(before_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let passage = Passage { first: first.word as usize - before, second: second.word as usize - before, length: before + after };
    (after >= least).then_some(SharedPassage { first: first.document, second: second.document, passage })
}
