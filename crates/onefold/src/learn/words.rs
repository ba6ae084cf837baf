//! How many documents have each word, and which words too many have (W4). Counted in a pass of its own, before anything is shingled.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::exec::Memory;
use crate::normalize::CommonWords;

/// What a word takes in the table, also while that grows.
const BYTES_OF_WORD: u64 = 40;
/// The table may take this part of the memory.
const SHARE: u64 = 4;

/// How many documents have each word, by its hash.
#[derive(Debug, Default)]
pub(crate) struct Frequencies {
    documents: u64,
    of: HashMap<u64, u32>,
    /// The words of one document.
    distinct: Vec<u64>,
}

impl Frequencies {
    /// Counts the words of a document, each once.
    pub(crate) fn add(&mut self, words: &[u64]) {
        self.documents += 1;
        self.distinct.clear();
        self.distinct.extend_from_slice(words);
        self.distinct.sort_unstable();
        self.distinct.dedup();
        self.distinct.iter().for_each(|&word| *self.of.entry(word).or_default() += 1);
    }

    /// Takes over what was counted elsewhere, and leaves that empty.
    pub(crate) fn take(&mut self, other: &mut Frequencies, memory: Memory) -> Result<()> {
        self.documents += std::mem::take(&mut other.documents);
        for (word, documents) in other.of.drain() {
            *self.of.entry(word).or_default() += documents;
        }
        let words = self.of.len() as u64;
        if words * BYTES_OF_WORD > memory.limit().unwrap_or(u64::MAX) / SHARE {
            return Err(Error::out_of_memory(format!("counting {words} different words or more"), memory));
        }
        Ok(())
    }

    /// The words with ln(N/n) below a bound.
    pub(crate) fn common(&self, min_idf: f64) -> CommonWords {
        let is_common = |documents: u32| (self.documents as f64 / f64::from(documents)).ln() < min_idf;
        let common = self.of.iter().filter(|(_, documents)| is_common(**documents));
        CommonWords::new(common.map(|(word, _)| *word).collect(), self.documents, self.of.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_common_by_the_documents_that_have_them() {
        let mut all = Frequencies::default();
        for document in 0..100u64 {
            let mut one = Frequencies::default();
            // Word 1 is in all documents, word 2 in every second, word 3 in every tenth, any other in one; however often.
            let words = [1, 1, 1 + u64::from(document % 2 == 0), 1 + 2 * u64::from(document % 10 == 0), 1000 + document];
            one.add(&words);
            all.take(&mut one, Memory::UNLIMITED).unwrap();
        }
        let left_out = |min_idf: f64| all.common(min_idf).left_out();
        assert_eq!(
            [0.01, 0.69, 0.7, 2.3, 2.31, 4.6, 4.61].map(left_out),
            [1, 1, 2, 2, 3, 3, 103],
            "ln 2 is 0.693, ln 10 2.303, ln 100 4.605"
        );
        assert_eq!(all.common(1.0).distinct(), 103);
    }
}
