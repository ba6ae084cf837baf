//! Distinct shingle sets: a template copied ten thousand times costs one.

use rayon::prelude::*;

use crate::document::{Collection, Digest, DocIndex, Flags, ShingleRef};
use crate::error::Result;

/// A distinct set: its place in the order of sizes.
pub type SetIndex = u32;

/// What makes the sets of two documents one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sameness {
    /// The same shingles.
    Shingles,
    /// Also the same words in the same order: shingles do not tell how often a passage is repeated.
    Words,
}

/// The distinct sets of a collection by (size, hash, content), each with the documents that have it.
///
/// Documents without shingles stand first: those with the same few tokens share a set of size 0, a document without text
/// has one of its own. They never enter the join.
#[derive(Debug, Default)]
pub struct Sets {
    refs: Vec<ShingleRef>,
    sizes: Vec<u32>,
    documents: Vec<DocIndex>,
    starts: Vec<usize>,
    /// Documents from here on belong to the reference.
    inputs: DocIndex,
}

impl Sets {
    /// Collapses equal sets.
    pub fn collapse(collection: &Collection, sameness: Sameness) -> Result<Sets> {
        let mut order: Vec<DocIndex> = (0..collection.documents.len() as DocIndex).collect();
        let key = |&d: &DocIndex| {
            let set = collection.documents[d as usize].shingles;
            (set.len, set.hash, d)
        };
        order.par_sort_unstable_by_key(key);
        let mut sets = Sets { inputs: collection.inputs() as DocIndex, ..Sets::default() };
        for alike in order.chunk_by(|&a, &b| alike(collection, a, b)) {
            match sameness {
                Sameness::Shingles => sets.push_distinct(collection, alike.to_vec())?,
                Sameness::Words => sets.push_by_words(collection, alike.to_vec()),
            }
        }
        sets.starts.push(sets.documents.len());
        Ok(sets)
    }

    /// From groups of documents that are known to have equal sets; their shingles are not there to be looked at.
    pub fn from_groups(collection: &Collection, mut groups: Vec<Vec<DocIndex>>) -> Sets {
        let size = |group: &Vec<DocIndex>| collection.documents[group[0] as usize].shingles.len;
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort_unstable_by_key(|group| (size(group), group[0]));
        let mut sets = Sets { inputs: collection.inputs() as DocIndex, ..Sets::default() };
        groups.into_iter().for_each(|group| sets.push(collection, group));
        sets.starts.push(sets.documents.len());
        sets
    }

    /// From places of sets that belong to no document; their numbers stand for documents. Equal ones stay apart.
    pub fn of_refs(refs: &[ShingleRef]) -> Sets {
        let mut order: Vec<DocIndex> = (0..refs.len() as DocIndex).collect();
        order.par_sort_unstable_by_key(|&number| (refs[number as usize].len, refs[number as usize].hash, number));
        let in_order = || order.iter().map(|&number| refs[number as usize]);
        Sets {
            refs: in_order().collect(),
            sizes: in_order().map(|set| set.len).collect(),
            starts: (0..=order.len()).collect(),
            inputs: order.len() as DocIndex,
            documents: order,
        }
    }

    fn push(&mut self, collection: &Collection, group: Vec<DocIndex>) {
        let set = collection.documents[group[0] as usize].shingles;
        self.refs.push(set);
        self.sizes.push(set.len);
        self.starts.push(self.documents.len());
        self.documents.extend(group);
    }

    /// Adds the documents of equal size and hash, which are one set unless hashes collide.
    fn push_distinct(&mut self, collection: &Collection, mut rest: Vec<DocIndex>) -> Result<()> {
        let digest = |&document: &DocIndex| collection.documents[document as usize].digest;
        if rest[1..].iter().all(|other| digest(other) == digest(&rest[0])) {
            self.push(collection, rest);
            return Ok(());
        }
        let mut groups: Vec<(Content, Vec<DocIndex>)> = Vec::new();
        while let Some(&first) = rest.first() {
            let content = content(collection, first)?;
            let (mut same, mut other) = (vec![first], Vec::new());
            for &document in &rest[1..] {
                let side = if equal(collection, &content, document)? { &mut same } else { &mut other };
                side.push(document);
            }
            groups.push((content, same));
            rest = other;
        }
        // Colliding sets, should there ever be any, are told apart by content and not by who came first.
        groups.sort_by(|(a, _), (b, _)| a.cmp(b));
        groups.into_iter().for_each(|(_, group)| self.push(collection, group));
        Ok(())
    }

    /// Adds the documents of equal size and hash; those with other words are other sets.
    fn push_by_words(&mut self, collection: &Collection, mut alike: Vec<DocIndex>) {
        let digest = |document: DocIndex| collection.documents[document as usize].digest;
        let same = |&a: &DocIndex, &b: &DocIndex| digest(a) == digest(b);
        alike.sort_unstable_by_key(|&document| (digest(document), document));
        alike.chunk_by(same).for_each(|group| self.push(collection, group.to_vec()));
    }

    /// Where each set's shingles are.
    pub fn refs(&self) -> &[ShingleRef] {
        &self.refs
    }

    /// Number of shingles of each set, rising.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.refs.len()
    }

    /// The documents that have a set, by id; one of the reference comes last.
    pub fn documents(&self, set: SetIndex) -> &[DocIndex] {
        &self.documents[self.starts[set as usize]..self.starts[set as usize + 1]]
    }

    /// Whether there is a reference.
    pub fn has_reference(&self) -> bool {
        (self.inputs as usize) < self.documents.len()
    }

    /// Whether only documents of the reference have it.
    pub fn is_reference(&self, set: SetIndex) -> bool {
        self.documents[self.starts[set as usize]] >= self.inputs
    }

    /// Whether two sets are to be compared: the reference is not compared with itself.
    pub fn comparable(&self, a: SetIndex, b: SetIndex) -> bool {
        !(self.is_reference(a) && self.is_reference(b))
    }

    /// The set of each document.
    pub fn of_documents(&self, documents: usize) -> Vec<SetIndex> {
        let mut set_of = vec![0; documents];
        for set in 0..self.len() as SetIndex {
            self.documents(set).iter().for_each(|&document| set_of[document as usize] = set);
        }
        set_of
    }

    /// First set with at least `size` shingles.
    pub fn first_of_size(&self, size: u32) -> SetIndex {
        self.sizes.partition_point(|&s| s < size) as SetIndex
    }
}

fn alike(collection: &Collection, a: DocIndex, b: DocIndex) -> bool {
    let (x, y) = (&collection.documents[a as usize], &collection.documents[b as usize]);
    let same = x.shingles.len == y.shingles.len && x.shingles.hash == y.shingles.hash;
    same && !x.flags.has(Flags::NO_TEXT) && !y.flags.has(Flags::NO_TEXT)
}

/// The shingles of a document, and its digest.
type Content = (Vec<u64>, Digest);

fn content(collection: &Collection, document: DocIndex) -> Result<Content> {
    let entry = &collection.documents[document as usize];
    Ok((collection.shingles(entry.shingles, &mut Vec::new())?.to_vec(), entry.digest))
}

fn equal(collection: &Collection, (shingles, digest): &Content, document: DocIndex) -> Result<bool> {
    let entry = &collection.documents[document as usize];
    if entry.digest == *digest {
        return Ok(true);
    }
    Ok(!shingles.is_empty() && collection.shingles(entry.shingles, &mut Vec::new())? == shingles)
}
