//! The reference of `--against`: of its documents with equal shingle sets one is enough.

use crate::document::{Collection, DocIndex, Flags};
use crate::error::Result;
use crate::join::{Sameness, Sets};
use crate::rank::{KeepRules, Ranking};

/// Drops the documents of the reference that can stand for none, because they have no text or a better-ranked one is
/// the same.
pub(crate) fn thin(collection: &mut Collection, keep: &KeepRules, sameness: Sameness) -> Result<()> {
    let inputs = collection.inputs() as DocIndex;
    if inputs as usize == collection.documents.len() {
        return Ok(());
    }
    let sets = Sets::collapse(collection, sameness)?;
    let ranking = Ranking::new(collection, keep);
    let mut needed: Vec<bool> = (0..collection.documents.len()).map(|document| document < inputs as usize).collect();
    for set in 0..sets.len() as u32 {
        let reference = sets.documents(set).iter().copied().filter(|&document| document >= inputs);
        if let Some(best) = reference.min_by_key(|&document| ranking.position(document)) {
            needed[best as usize] = !collection.documents[best as usize].flags.has(Flags::NO_TEXT);
        }
    }
    drop(ranking);
    let mut needed = needed.into_iter();
    collection.documents.retain(|_| needed.next().unwrap_or(true));
    Ok(())
}
