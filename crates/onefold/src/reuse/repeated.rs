//! The passages that stand in most documents (N25).
//!
//! A run that stands in many documents grows at both ends for as long as nine in ten of its places and documents go on with the same word, and
//! until it meets a run that another passage has. So each run lies in one passage, and a template is one passage though a few of its
//! copies differ. Places and documents are counted of the passage as it is in the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::runs::{Place, Runs, documents};
use super::sequences::Sequences;
use crate::error::Result;
use crate::exec::Exec;

/// A passage that several documents have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedPassage {
    /// Its words.
    pub words: u32,
    /// In how many documents it stands.
    pub documents: u32,
    /// In how many places.
    pub places: u32,
    /// Whether all pairs of its places are among the shared passages: none of its runs stands in too many.
    pub paired: bool,
    /// The first place in each of the first documents.
    pub examples: Vec<Place>,
}

/// Places that are named.
const EXAMPLES: usize = 3;

/// The `top` passages that stand in most documents, and all that are not paired up.
pub(super) fn most_repeated(sequences: &Sequences, runs: &Runs<'_>, top: usize, exec: &Exec<'_>) -> Result<Vec<RepeatedPassage>> {
    let mut seeds: Vec<usize> = (0..runs.groups.len()).collect();
    let order = |&seed: &usize| {
        let group = &runs.groups[seed];
        (Reverse(group.documents), Reverse(group.places), runs.places(group).next())
    };
    seeds.sort_by_cached_key(order);
    let mut grower = Grower { sequences, runs, used: vec![false; runs.groups.len()] };
    let mut best: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut found = Vec::new();
    for seed in seeds {
        let group = &runs.groups[seed];
        // What grows from a run stands in no more documents than the run.
        let beaten = best.len() >= top && best.peek().is_none_or(|least| group.documents < least.0);
        if grower.used[seed] || (beaten && !runs.is_crowded(group)) {
            continue;
        }
        exec.check()?;
        let Some(passage) = grower.grow(seed) else { continue };
        best.push(Reverse(passage.documents));
        if best.len() > top {
            best.pop();
        }
        found.push(passage);
    }
    found.sort_by_cached_key(|p: &RepeatedPassage| (Reverse((p.documents, p.places, p.words)), p.examples.first().copied()));
    let mut rank = 0;
    found.retain(|passage| {
        rank += 1;
        rank <= top || !passage.paired
    });
    Ok(found)
}

struct Grower<'a> {
    sequences: &'a Sequences,
    runs: &'a Runs<'a>,
    /// Whether a passage has this group.
    used: Vec<bool>,
}

impl Grower<'_> {
    /// The passage around a run; none where only hashes were the same.
    fn grow(&mut self, seed: usize) -> Option<RepeatedPassage> {
        let group = self.runs.groups[seed];
        let mut places: Vec<Place> = self.runs.places(&group).collect();
        let mut words = self.runs.length;
        let first = *places.first()?;
        places.retain(|&place| self.run(place) == self.run(first));
        self.used[seed] = true;
        let mut paired = !self.runs.is_crowded(&group);
        let all = (places.len(), documents(places.iter().copied()));
        if all.1 < 2 {
            return None;
        }
        while let Some(rest) = self.next(&places, all, |place| place.word.checked_add(words as u32)) {
            let last = rest.first().map(|place| Place { word: place.word + (words + 1 - self.runs.length) as u32, ..*place })?;
            let Some(group) = self.take(last) else { break };
            paired &= !self.runs.is_crowded(&self.runs.groups[group]);
            places = rest;
            words += 1;
        }
        while let Some(mut rest) = self.next(&places, all, |place| place.word.checked_sub(1)) {
            rest.iter_mut().for_each(|place| place.word -= 1);
            let Some(group) = rest.first().and_then(|&place| self.take(place)) else { break };
            paired &= !self.runs.is_crowded(&self.runs.groups[group]);
            places = rest;
            words += 1;
        }
        let documents = documents(places.iter().copied());
        let firsts = places.chunk_by(|a, b| a.document == b.document).filter_map(|places| places.first().copied());
        let examples = firsts.take(EXAMPLES).collect();
        Some(RepeatedPassage { words: words as u32, documents, places: places.len() as u32, paired, examples })
    }

    fn run(&self, place: Place) -> &[u64] {
        &self.sequences.of(place.document)[place.word as usize..][..self.runs.length]
    }

    /// The places that go on with the most common word, if these are enough; `at` says where the word of a place is.
    fn next(&self, places: &[Place], all: (usize, u32), at: impl Fn(&Place) -> Option<u32>) -> Option<Vec<Place>> {
        let word = |place: &Place| self.sequences.of(place.document).get(at(place)? as usize).copied();
        let common = majority(places.iter().filter_map(word))?;
        let rest: Vec<Place> = places.iter().filter(|place| word(place) == Some(common)).copied().collect();
        let documents = documents(rest.iter().copied());
        (10 * rest.len() >= 9 * all.0 && 10 * u64::from(documents) >= 9 * u64::from(all.1)).then_some(rest)
    }

    /// Takes the group of a run, if it is free.
    fn take(&mut self, place: Place) -> Option<usize> {
        let group = self.runs.group_at(place).filter(|&group| !self.used[group])?;
        self.used[group] = true;
        Some(group)
    }
}

/// The only word that can be more than half of all (Boyer and Moore).
fn majority(words: impl Iterator<Item = u64>) -> Option<u64> {
    let mut lead: Option<(u64, usize)> = None;
    for word in words {
        lead = match lead {
            Some((leader, votes)) if leader == word => Some((leader, votes + 1)),
            Some((leader, votes)) if votes > 1 => Some((leader, votes - 1)),
            Some(_) => None,
            None => Some((word, 1)),
        };
    }
    lead.map(|(leader, _)| leader)
}
