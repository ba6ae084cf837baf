//! Word diff of two documents, for showing.
//!
//! In: the word hashes of two documents. Out: runs of equal, removed and added words, in order. Invariant: the changes cover
//! both documents without gap or overlap, never two of a kind in a row, removed before added; the fewest words changed unless
//! marked approximate. Cost: d² steps for d changed words as long as that is affordable; past it the documents are cut at
//! their common passages, and what stands between is compared with a number of steps linear in its size. Drops: in pieces
//! that are dearer still, common words: the piece is shown as replaced.

mod middle;

use super::passages::{Passage, passages};
use middle::Middle;
use std::collections::BTreeMap;
use std::ops::Range;

/// Steps for a minimal diff of a whole document: up to some 5,800 changed words, a tenth of a second.
const MINIMAL: usize = 8 << 20;
/// Words of a passage at which documents too different are cut.
const ANCHOR: usize = 6;
/// Steps a word for what stands between two cuts.
const STEPS: usize = 64;
/// Steps for any such piece: minimal up to some 200 changed words.
const FEWEST: usize = 1 << 14;

/// What happened to a run of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It stands in both documents.
    Equal,
    /// It stands in the first only.
    Removed,
    /// It stands in the second only.
    Added,
}

/// A run of words and where it stands; the range is empty, and says where the run would be, in a document without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What happened to it.
    pub kind: Kind,
    /// Words of the first document.
    pub first: Range<usize>,
    /// Words of the second document.
    pub second: Range<usize>,
}

/// All changes from one document to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Runs in the order of both documents.
    pub changes: Vec<Change>,
    /// The documents are too different for the shortest diff: equal words may be shown as changed.
    pub approximate: bool,
}

/// The changes that turn the first document into the second.
pub fn diff(first: &[u64], second: &[u64]) -> Diff {
    diff_within(first, second, MINIMAL)
}

fn diff_within(first: &[u64], second: &[u64], minimal: usize) -> Diff {
    let mut aligner = Aligner { first, second, middle: Middle::default(), equal: Vec::new(), approximate: false };
    aligner.align(0..first.len(), 0..second.len(), Effort { steps: minimal, cut: true });
    Diff { changes: changes(&aligner.equal, first.len(), second.len()), approximate: aligner.approximate }
}

/// How much to spend on a piece.
#[derive(Clone, Copy)]
struct Effort {
    steps: usize,
    /// Cut it at common passages when the steps are spent.
    cut: bool,
}

/// Collects the equal runs in order.
struct Aligner<'a> {
    first: &'a [u64],
    second: &'a [u64],
    middle: Middle,
    equal: Vec<Passage>,
    approximate: bool,
}

impl Aligner<'_> {
    /// Depth of recursion: the logarithm of the number of changes, and once more after a cut.
    fn align(&mut self, first: Range<usize>, second: Range<usize>, effort: Effort) {
        let (a, b) = (&self.first[first.clone()], &self.second[second.clone()]);
        let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let (a, b) = (&a[start..], &b[start..]);
        let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
        self.push(first.start, second.start, start);
        let (row, column) = (first.start + start, second.start + start);
        let (last_row, last_column) = (row + a.len(), column + b.len());
        if !a.is_empty() && !b.is_empty() {
            // Each half has half the changes and a quarter of the cost, so the effort need not be shared out.
            match self.middle.find(a, b, effort.steps) {
                Some((rows, columns)) => {
                    self.align(row..row + rows, column..column + columns, effort);
                    self.align(row + rows..last_row, column + columns..last_column, effort);
                }
                None if effort.cut => self.cut(row..last_row, column..last_column),
                None => self.approximate = true,
            }
        }
        self.push(last_row, last_column, end);
    }

    /// Keeps the heaviest passages that stand in one order, and aligns what is between.
    fn cut(&mut self, first: Range<usize>, second: Range<usize>) {
        self.approximate = true;
        let anchors = in_order(passages(&self.first[first.clone()], &self.second[second.clone()], ANCHOR));
        let (mut row, mut column) = (first.start, second.start);
        for anchor in anchors {
            let (start, column_start) = (first.start + anchor.first, second.start + anchor.second);
            self.between(row..start, column..column_start);
            self.push(start, column_start, anchor.length);
            (row, column) = (start + anchor.length, column_start + anchor.length);
        }
        self.between(row..first.end, column..second.end);
    }

    fn between(&mut self, first: Range<usize>, second: Range<usize>) {
        let steps = (STEPS * (first.len() + second.len())).max(FEWEST);
        self.align(first, second, Effort { steps, cut: false });
    }

    fn push(&mut self, first: usize, second: usize, length: usize) {
        if length == 0 {
            return;
        }
        match self.equal.last_mut() {
            Some(last) if last.first + last.length == first && last.second + last.length == second => last.length += length,
            _ => self.equal.push(Passage { first, second, length }),
        }
    }
}

/// The passages with most words among those that come in the same order in both documents.
fn in_order(mut all: Vec<Passage>) -> Vec<Passage> {
    all.sort_unstable_by_key(|passage| passage.first);
    let mut before: Vec<Option<usize>> = Vec::with_capacity(all.len());
    // The best chain that ends at each place of the second document; words rise with the place.
    let mut best: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (index, passage) in all.iter().enumerate() {
        let chain = best.range(..passage.second).next_back().map(|(_, &chain)| chain);
        before.push(chain.map(|(_, last)| last));
        let words = chain.map_or(0, |(words, _)| words) + passage.length;
        while let Some((&place, _)) = best.range(passage.second..).next().filter(|(_, chain)| chain.0 <= words) {
            best.remove(&place);
        }
        // Where a heavier chain ended before this place, `chain` would have been that one: this one is the heaviest here.
        best.insert(passage.second, (words, index));
    }
    let mut at = best.last_key_value().map(|(_, &(_, last))| last);
    let mut kept = Vec::new();
    while let Some(index) = at {
        kept.push(all[index]);
        at = before[index];
    }
    kept.reverse();
    kept
}

/// Fills the space between equal runs: first what was removed, then what was added.
fn changes(equal: &[Passage], first_length: usize, second_length: usize) -> Vec<Change> {
    let mut changes = Vec::with_capacity(2 * equal.len() + 2);
    let (mut row, mut column) = (0, 0);
    let end = Passage { first: first_length, second: second_length, length: 0 };
    for run in equal.iter().chain([&end]) {
        let after = (run.first + run.length, run.second + run.length);
        changes.push(Change { kind: Kind::Removed, first: row..run.first, second: column..column });
        changes.push(Change { kind: Kind::Added, first: run.first..run.first, second: column..run.second });
        changes.push(Change { kind: Kind::Equal, first: run.first..after.0, second: run.second..after.1 });
        (row, column) = after;
    }
    changes.retain(|change| !change.first.is_empty() || !change.second.is_empty());
    changes
}

#[cfg(test)]
mod tests;
