//! Stage 9: who would be kept.
//!
//! In: what is known of each document. Out: a total order of documents, best first, and which rule decided between two.
//! Invariant: depends on content, metadata and ids, never on arrival; no two documents are equal. Cost: one sort. Drops nothing.

mod rules;

use std::cmp::Ordering;

use globset::{Glob, GlobSet, GlobSetBuilder};
use rayon::prelude::*;

pub use rules::{KeepRules, Preference, Rule};

use crate::document::{Collection, DocIndex, Entry, Flags};
use crate::error::{Error, Result};

/// Documents that are never removed.
#[derive(Debug)]
pub struct Protected {
    globs: GlobSet,
}

impl Protected {
    /// Reads the globs.
    pub fn compile(globs: &[String]) -> Result<Protected> {
        let wrong = |glob: &str| Error::setting("protect", "a glob such as 'archive/**' or '*.md'", glob);
        let mut builder = GlobSetBuilder::new();
        for glob in globs {
            builder.add(Glob::new(glob).map_err(|_| wrong(glob))?);
        }
        let globs = builder.build().map_err(|_| wrong(&globs.join(" ")))?;
        Ok(Protected { globs })
    }

    /// Flags every document whose id or source matches; those of the reference are safe anyway.
    pub fn flag(&self, collection: &mut Collection) {
        if self.globs.is_empty() {
            return;
        }
        let sources: Vec<bool> = collection.sources.iter().map(|source| self.globs.is_match(source)).collect();
        let inputs = collection.inputs();
        for document in &mut collection.documents[..inputs] {
            if sources[document.source as usize] || self.globs.is_match(&document.id) {
                document.flags.set(Flags::PROTECTED);
            }
        }
    }
}

/// The total order of a collection's documents.
#[derive(Debug)]
pub struct Ranking<'a> {
    /// In the order in which they are asked; those that tell no two documents apart are left out.
    rules: Vec<Rule>,
    documents: &'a [Entry],
    positions: Vec<u32>,
}

impl<'a> Ranking<'a> {
    /// Sorts all documents.
    pub fn new(collection: &'a Collection, keep: &KeepRules) -> Ranking<'a> {
        let documents = &collection.documents;
        let count = documents.len() as DocIndex;
        let mut ranking = Ranking { rules: Vec::new(), documents, positions: vec![0; documents.len()] };
        ranking.rules = asked(keep).filter(|&rule| (1..count).any(|other| ranking.by(rule, 0, other).is_ne())).collect();
        let mut order: Vec<DocIndex> = (0..count).collect();
        order.par_sort_unstable_by(|&a, &b| ranking.compare(a, b));
        for (position, &document) in order.iter().enumerate() {
            ranking.positions[document as usize] = position as u32;
        }
        ranking
    }

    /// 0 is the best.
    pub fn position(&self, document: DocIndex) -> u32 {
        self.positions[document as usize]
    }

    fn compare(&self, a: DocIndex, b: DocIndex) -> Ordering {
        self.rules.iter().map(|&rule| self.by(rule, a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// The first rule that tells two documents apart.
    pub fn deciding_rule(&self, a: DocIndex, b: DocIndex) -> Rule {
        self.rules.iter().copied().find(|&rule| self.by(rule, a, b).is_ne()).unwrap_or(Rule::Id)
    }

    fn by(&self, rule: Rule, a: DocIndex, b: DocIndex) -> Ordering {
        let (x, y) = (&self.documents[a as usize], &self.documents[b as usize]);
        match rule {
            Rule::Reference => y.flags.has(Flags::REFERENCE).cmp(&x.flags.has(Flags::REFERENCE)),
            Rule::Protected => y.flags.has(Flags::PROTECTED).cmp(&x.flags.has(Flags::PROTECTED)),
            Rule::Whole => y.flags.whole().cmp(&x.flags.whole()),
            Rule::Score(preference) => prefer(preference, x.score, y.score, f64::total_cmp),
            Rule::Time(preference) => prefer(preference, x.time, y.time, Ord::cmp),
            Rule::Length(preference) => prefer(preference, Some(x.tokens), Some(y.tokens), Ord::cmp),
            Rule::Order => x.locator.cmp(&y.locator),
            Rule::Digest => x.digest.cmp(&y.digest),
            // Documents are numbered by their ids.
            Rule::Id => a.cmp(&b),
        }
    }
}

/// Reference, protection and wholeness come first and digest and id last, whatever the rules say.
fn asked(keep: &KeepRules) -> impl Iterator<Item = Rule> {
    let first = [Rule::Reference, Rule::Protected, Rule::Whole];
    first.into_iter().chain(keep.0.iter().copied()).chain([Rule::Digest, Rule::Id])
}

/// Present before missing, then by preference.
fn prefer<T>(preference: Preference, a: Option<T>, b: Option<T>, compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if preference == Preference::Large => compare(&b, &a),
        (Some(a), Some(b)) => compare(&a, &b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, change: impl FnOnce(&mut Entry)) -> Entry {
        let mut entry = Entry {
            id: id.into(),
            source: 0,
            locator: Default::default(),
            url: None,
            time: None,
            score: None,
            flags: Flags::default(),
            tokens: 10,
            digest: Default::default(),
            shingles: Default::default(),
            features: 0,
        };
        change(&mut entry);
        entry
    }

    fn order(keep: &str, documents: Vec<Entry>) -> Vec<String> {
        let collection = Collection { documents, ..Collection::default() };
        let keep = keep.parse().unwrap();
        let ranking = Ranking::new(&collection, &keep);
        let mut ids: Vec<_> = (0..collection.documents.len() as u32).collect();
        ids.sort_by_key(|&d| ranking.position(d));
        ids.into_iter().map(|d| collection.documents[d as usize].id.clone()).collect()
    }

    #[test]
    fn rules_are_asked_in_order_and_missing_values_rank_last() {
        let documents = vec![
            entry("a", |e| e.score = Some(1.0)),
            entry("b", |_| ()),
            entry("c", |e| e.score = Some(2.0)),
            entry("d", |e| e.tokens = 11),
        ];
        assert_eq!(order("score desc, length longest", documents.clone()), ["c", "a", "d", "b"]);
        assert_eq!(order("score asc, length shortest", documents.clone()), ["a", "c", "b", "d"]);
        assert_eq!(order("id", documents), ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_cut_document_never_beats_a_whole_one_and_protection_beats_both() {
        let documents = vec![
            entry("cut", |e| {
                e.score = Some(9.0);
                e.flags.set(Flags::TRUNCATED);
            }),
            entry("kept", |e| {
                e.flags.set(Flags::PROTECTED);
                e.flags.set(Flags::LOSSY);
            }),
            entry("whole", |_| ()),
        ];
        assert_eq!(order("score desc", documents), ["kept", "whole", "cut"]);
    }
}
