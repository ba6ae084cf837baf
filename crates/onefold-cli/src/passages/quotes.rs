//! Words of documents, as they were compared.

use std::ops::Range;

use onefold::{DocIndex, Document, Tokenizer, Tokens};

/// Cuts documents into words again, the last one only once.
pub struct Quotes<'a> {
    documents: &'a [Document],
    tokenizer: Tokenizer,
    tokens: Tokens,
    bounds: Vec<Range<usize>>,
    last: Option<DocIndex>,
}

impl<'a> Quotes<'a> {
    /// Nothing is cut yet.
    pub fn new(documents: &'a [Document]) -> Self {
        Quotes { documents, tokenizer: Tokenizer::default(), tokens: Tokens::default(), bounds: Vec::new(), last: None }
    }

    /// Words from somewhere on, with spaces between.
    pub fn quote(&mut self, document: DocIndex, word: usize, words: usize) -> String {
        if self.last != Some(document) {
            self.tokenizer.tokenize(&self.documents[document as usize].text, &mut self.tokens);
            self.bounds = self.tokens.bounds();
            self.last = Some(document);
        }
        let all = &self.bounds[word.min(self.bounds.len())..(word + words).min(self.bounds.len())];
        let bytes = all.first().zip(all.last()).map_or(0..0, |(first, last)| first.start..last.end);
        String::from_utf8_lossy(&self.tokens.canonical()[bytes]).into_owned()
    }
}
