//! The words of a collection, as hashes.

use rayon::prelude::*;

use crate::document::{DocIndex, Document};
use crate::error::Result;
use crate::exec::Exec;
use crate::normalize::{Tokenizer, Tokens};

/// The words of documents, one document after the other.
#[derive(Clone, Debug, Default)]
pub struct Sequences {
    words: Vec<u64>,
    /// Where each document ends.
    ends: Vec<usize>,
}

/// Documents that are cut into words before their words are put behind the others.
const BATCH: usize = 1024;

impl Sequences {
    /// The words of documents, in their order.
    pub fn of_documents(documents: &[Document], exec: &Exec<'_>) -> Result<Sequences> {
        let pool = exec.pool()?;
        let mut sequences = Sequences::default();
        for batch in documents.chunks(BATCH) {
            exec.check()?;
            let cut = |(tokenizer, tokens): &mut (Tokenizer, Tokens), document: &Document| {
                tokenizer.tokenize(&document.text, tokens);
                tokens.hashes().to_vec()
            };
            let words: Vec<Vec<u64>> = pool.install(|| batch.par_iter().map_init(Default::default, cut).collect());
            words.iter().for_each(|words| sequences.push(words));
        }
        Ok(sequences)
    }

    /// Adds a document.
    pub fn push(&mut self, words: &[u64]) {
        self.words.extend_from_slice(words);
        self.ends.push(self.words.len());
    }

    /// How many documents there are.
    pub fn documents(&self) -> usize {
        self.ends.len()
    }

    /// How many words they have.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// The words of a document.
    pub fn of(&self, document: DocIndex) -> &[u64] {
        &self.words[self.start(document)..self.ends[document as usize]]
    }

    /// Words before a document.
    pub(super) fn start(&self, document: DocIndex) -> usize {
        (document as usize).checked_sub(1).map_or(0, |before| self.ends[before])
    }
}
