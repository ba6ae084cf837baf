//! The sets of a collection, in memory.

use std::collections::HashSet;

use onefold::{Collection, Digest, Error, HashSets};
use serde::Serialize;

/// Shingle sets with the sizes of their documents, in the order of ids.
#[derive(Debug, Default)]
pub struct Shelf {
    /// Of each document.
    pub sets: HashSets,
    /// Words of each document (Y4).
    pub words: Vec<u32>,
}

/// A collection in a few numbers (Y3, Y6).
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Documents that were read.
    pub documents: u64,
    /// Those that say word for word what another does; one of each stays.
    pub copies: u64,
    /// Those that are left.
    pub remaining: u64,
    /// Documents of those with too few words for a shingle.
    pub without_shingles: u64,
    /// Bytes of all texts.
    pub bytes: u64,
    /// Words of an average document.
    pub mean_words: f64,
    /// Distinct shingles of the remaining documents, each counted in every document that has it.
    pub shingles: u64,
}

impl Shelf {
    /// All documents of a collection, or one of each that say the same (Y3).
    pub fn new(collection: &Collection, copies: bool) -> Result<Shelf, Error> {
        let mut seen: HashSet<Digest> = HashSet::new();
        let mut shelf = Shelf::default();
        let mut buffer = Vec::new();
        for entry in &collection.documents {
            if copies || seen.insert(entry.digest) {
                shelf.sets.push(collection.shingles(entry.shingles, &mut buffer)?.iter().copied());
                shelf.words.push(entry.tokens);
            }
        }
        Ok(shelf)
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The collection that it was made from, without copies.
    pub fn summary(&self, collection: &Collection) -> Summary {
        let documents = collection.documents.len() as u64;
        let words: u64 = collection.documents.iter().map(|entry| u64::from(entry.tokens)).sum();
        Summary {
            documents,
            copies: documents - self.len() as u64,
            remaining: self.len() as u64,
            without_shingles: self.sets.iter().filter(|set| set.is_empty()).count() as u64,
            bytes: collection.texts.iter().map(|text| text.len() as u64).sum(),
            mean_words: words as f64 / documents.max(1) as f64,
            shingles: self.sets.total() as u64,
        }
    }
}
