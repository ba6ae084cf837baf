//! Word edit distances of candidates, where these decide.

use super::ordered::Ordered;
use super::sets::SetIndex;
use crate::document::Entry;
use crate::error::Result;
use crate::threshold::Tolerance;
use crate::verify::edit::{Normalizer, edit_distance_at_most};

/// How far apart sets are by the words of their documents, which are the same for all documents of a set.
#[derive(Clone, Copy)]
pub struct Edits<'a> {
    ordered: &'a Ordered<'a>,
    documents: &'a [Entry],
    limit: Tolerance,
}

impl<'a> Edits<'a> {
    /// Distances up to a share of the longer document.
    pub fn new(ordered: &'a Ordered<'a>, documents: &'a [Entry], limit: Tolerance) -> Edits<'a> {
        Edits { ordered, documents, limit }
    }

    /// The words of a set, in order; the buffer is for those that are not in memory.
    pub(super) fn words<'b>(&'b self, set: SetIndex, buffer: &'b mut Vec<u64>) -> Result<&'b [u64]> {
        self.ordered.words(self.document(set), buffer)
    }

    /// Whether a set with these words is near enough to another.
    pub(super) fn are_few(&self, words: &[u64], other: SetIndex, buffer: &mut Vec<u64>) -> Result<bool> {
        let (size, other_size) = (words.len() as u32, self.document(other).tokens);
        // What one has more than the other must be inserted.
        if size.abs_diff(other_size) > self.limit.most(size.max(other_size)) {
            return Ok(false);
        }
        Ok(self.distance(words, self.words(other, buffer)?).is_some())
    }

    /// The distance as a share of the longer document; none above the limit.
    pub fn share(&self, a: SetIndex, b: SetIndex) -> Result<Option<f64>> {
        if a == b {
            return Ok(Some(0.0));
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let (a, b) = (self.words(a, &mut first)?, self.words(b, &mut second)?);
        Ok(self.distance(a, b).map(|distance| Normalizer::Longer.share(distance, a.len(), b.len())))
    }

    fn distance(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        edit_distance_at_most(a, b, self.limit.most(a.len().max(b.len()) as u32))
    }

    fn document(&self, set: SetIndex) -> &Entry {
        &self.documents[self.ordered.sets().documents(set)[0] as usize]
    }
}
