//! The tables of a result: documents, pairs, state.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use super::table::{Cell, Column, Kind, Table, column, nullable};
use crate::document::DocIndex;
use crate::error::Result;
use crate::run::{Outcome, Pair};

/// One row for every document.
pub struct Documents<'a>(pub &'a Outcome);

const DOCUMENTS: [Column; 11] = [
    column("id", Kind::Text),
    column("source", Kind::Text),
    column("cluster_id", Kind::Text),
    column("cluster_size", Kind::Integer),
    column("is_representative", Kind::Bool),
    column("representative_id", Kind::Text),
    column("similarity", Kind::Real),
    nullable("relation", Kind::Text),
    column("keep", Kind::Bool),
    column("keep_reason", Kind::Text),
    column("flags", Kind::Text),
];

impl Table for Documents<'_> {
    fn columns(&self) -> &[Column] {
        &DOCUMENTS
    }

    fn rows(&self) -> usize {
        self.0.verdicts.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let outcome = self.0;
        let documents = &outcome.collection.documents;
        let (document, verdict) = (&documents[row], &outcome.verdicts[row]);
        let id = |index: u32| Cell::text(&documents[index as usize].id);
        match column {
            0 => Cell::text(&document.id),
            1 => Cell::text(&outcome.collection.sources[document.source as usize]),
            2 => id(verdict.cluster),
            3 => Cell::Integer(verdict.cluster_size.into()),
            4 => Cell::Bool(verdict.representative as usize == row),
            5 => id(verdict.representative),
            6 => Cell::Real(verdict.similarity.as_f64()),
            7 => Cell::optional(verdict.relation, |relation| Cell::text(relation.name())),
            8 => Cell::Bool(verdict.kept),
            9 => Cell::Text(verdict.reason()),
            _ => Cell::Text(document.flags.names().collect::<Vec<_>>().join(",").into()),
        }
    }
}

/// The verified pairs.
pub struct Pairs<'a> {
    outcome: &'a Outcome,
    /// The rows that are written at the moment, and where they begin.
    loaded: RefCell<(usize, Cow<'a, [Pair]>)>,
}

impl<'a> Pairs<'a> {
    /// Of an outcome.
    pub fn new(outcome: &'a Outcome) -> Self {
        Pairs { outcome, loaded: RefCell::default() }
    }
}

const PAIRS: [Column; 8] = [
    column("first_id", Kind::Text),
    column("second_id", Kind::Text),
    column("resemblance", Kind::Real),
    nullable("containment_first", Kind::Real),
    nullable("containment_second", Kind::Real),
    nullable("estimate", Kind::Real),
    nullable("edit_distance", Kind::Real),
    column("accepted", Kind::Bool),
];

impl Table for Pairs<'_> {
    fn columns(&self) -> &[Column] {
        &PAIRS
    }

    fn rows(&self) -> usize {
        self.outcome.pairs.len()
    }

    fn load(&self, rows: Range<usize>) -> Result<()> {
        *self.loaded.borrow_mut() = (rows.start, self.outcome.pairs.some(rows)?);
        Ok(())
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let (first, rows) = &*self.loaded.borrow();
        let pair = rows[row - first];
        let document = |index: u32| &self.outcome.collection.documents[index as usize];
        // The share of a document's shingles that the other has too; equal documents without shingles share all.
        let containment = |index: u32| match document(index).shingles.len {
            0 => Cell::Real(1.0),
            size => Cell::Real(f64::from(pair.overlap) / f64::from(size)),
        };
        match column {
            0 => Cell::text(&document(pair.first).id),
            1 => Cell::text(&document(pair.second).id),
            2 => Cell::Real(pair.similarity.as_f64()),
            3 => containment(pair.first),
            4 => containment(pair.second),
            5 => Cell::optional(pair.estimate, Cell::Real),
            6 => Cell::optional(pair.edit_distance, Cell::Real),
            _ => Cell::Bool(pair.accepted),
        }
    }
}

/// What later commands need.
pub struct State<'a>(pub &'a Outcome);

const STATE: [Column; 14] = [
    column("id", Kind::Text),
    column("file", Kind::Text),
    column("record", Kind::Integer),
    column("offset", Kind::Integer),
    nullable("url", Kind::Text),
    nullable("time", Kind::Integer),
    nullable("score", Kind::Real),
    column("rank", Kind::Integer),
    column("tokens", Kind::Integer),
    column("shingles", Kind::Integer),
    column("digest", Kind::Text),
    column("aliases", Kind::Text),
    nullable("parent_id", Kind::Text),
    nullable("raw_path", Kind::Text),
];

impl State<'_> {
    /// About how many bytes the state of so many documents takes: a digest each, which can't be packed, and an id.
    pub(super) fn bytes(documents: u64, id_bytes: u64) -> u64 {
        64 * documents + id_bytes * 3 / 4
    }
}

impl Table for State<'_> {
    fn columns(&self) -> &[Column] {
        &STATE
    }

    fn rows(&self) -> usize {
        self.0.verdicts.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        state_of(self.0, row, column)
    }
}

/// The documents of the reference that a pair names: they have no other row.
pub struct Reference<'a> {
    outcome: &'a Outcome,
    documents: Vec<DocIndex>,
}

impl<'a> Reference<'a> {
    /// In the order of their ids.
    pub fn new(outcome: &'a Outcome) -> Result<Self> {
        let inputs = outcome.verdicts.len() as DocIndex;
        let mut documents: BTreeSet<DocIndex> = BTreeSet::new();
        outcome
            .pairs
            .each(|pair| documents.extend([pair.first, pair.second].into_iter().filter(|&document| document >= inputs)))?;
        Ok(Reference { outcome, documents: documents.into_iter().collect() })
    }
}

const REFERENCE: [Column; STATE.len() + 2] = {
    let mut columns = [column("flags", Kind::Text); STATE.len() + 2];
    let mut at = 0;
    while at < STATE.len() {
        columns[at] = STATE[at];
        at += 1;
    }
    columns[STATE.len()] = column("source", Kind::Text);
    columns
};

impl Table for Reference<'_> {
    fn columns(&self) -> &[Column] {
        &REFERENCE
    }

    fn rows(&self) -> usize {
        self.documents.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let at = self.documents[row] as usize;
        let document = &self.outcome.collection.documents[at];
        match column.checked_sub(STATE.len()) {
            None => state_of(self.outcome, at, column),
            Some(0) => Cell::text(&self.outcome.collection.sources[document.source as usize]),
            Some(_) => Cell::Text(document.flags.names().collect::<Vec<_>>().join(",").into()),
        }
    }
}

fn state_of(outcome: &Outcome, row: usize, column: usize) -> Cell<'_> {
    let document = &outcome.collection.documents[row];
    let file = &outcome.collection.files[document.locator.file as usize];
    match column {
        0 => Cell::text(&document.id),
        1 => Cell::text(&file.name),
        2 => Cell::Integer(document.locator.record as i64),
        3 => Cell::Integer(document.locator.offset as i64),
        4 => Cell::optional(document.url.as_deref(), Cell::text),
        5 => Cell::optional(document.time, Cell::Integer),
        6 => Cell::optional(document.score, Cell::Real),
        7 => Cell::Integer(outcome.verdicts.get(row).map_or(0, |verdict| verdict.rank.into())),
        8 => Cell::Integer(document.tokens.into()),
        9 => Cell::Integer(document.shingles.len.into()),
        10 => Cell::Text(document.digest.to_hex().into()),
        // Most files have no other name.
        11 if file.aliases.is_empty() => Cell::text("[]"),
        11 => Cell::Text(serde_json::to_string(&file.aliases).unwrap_or_default().into()),
        12 => Cell::Null,
        _ => Cell::optional(file.path.as_ref().and_then(|path| path.to_str().is_none().then(|| raw_bytes(path))), |raw| {
            Cell::Text(raw.into())
        }),
    }
}

/// The bytes of a path that is not UTF-8, in hexadecimal: nothing else gets them through every format unharmed.
fn raw_bytes(path: &std::path::Path) -> String {
    path.as_os_str().as_encoded_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}
