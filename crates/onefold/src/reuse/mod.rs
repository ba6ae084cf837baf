//! Which parts documents share: common passages of at least so many words, and those that are repeated most.
//!
//! In: the words of documents, as hashes. Out: the maximal common passages of any two documents, with positions, and the passages that stand in
//! most documents. Invariant: a passage is listed exactly if two documents share it, it can't grow at either end, it has at least
//! [`words`](ReuseSettings::words) words, and a run of that many of them stands in at most [`max_places`](ReuseSettings::max_places) places; the order is one
//! of documents and positions, whatever the threads. Cost: a few sorts of what winnowing leaves of the words, then work in proportion to what is
//! listed. Drops: pairs of places of a run that stands in more (10,000 pages of a template would be 50 million pairs); such runs are counted, and
//! lie in repeated passages, which are all listed.

mod pairs;
mod repeated;
mod runs;
mod sequences;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use pairs::SharedPassage;
pub use repeated::RepeatedPassage;
pub use runs::Place;
pub use sequences::Sequences;

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::run::Stage;
use runs::Runs;

/// What counts as a shared passage, and how much is said of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReuseSettings {
    /// The fewest words of a passage.
    pub words: u32,
    /// Runs of that many words that stand in more places are not paired up.
    pub max_places: u32,
    /// How many of the most repeated passages are wanted.
    pub top: usize,
}

impl Default for ReuseSettings {
    fn default() -> Self {
        ReuseSettings { words: 25, max_places: 100, top: 20 }
    }
}

impl ReuseSettings {
    /// An error where a setting is outside what it may be.
    pub fn validate(&self) -> Result<()> {
        if !(1..=10_000).contains(&self.words) {
            return Err(Error::setting("words", "from 1 to 10000", self.words.to_string()));
        }
        if self.max_places < 2 {
            return Err(Error::setting("max-places", "at least 2", self.max_places.to_string()));
        }
        Ok(())
    }
}

/// What documents share.
#[derive(Clone, Debug)]
pub struct Reuse {
    /// Documents that were looked at.
    pub documents: u64,
    /// Their words.
    pub words: u64,
    /// Of these: words inside a passage that another document has, paired up or not.
    pub shared_words: u64,
    /// Pairs of documents with a listed passage.
    pub pairs: u64,
    /// By documents, then by position.
    pub passages: Vec<SharedPassage>,
    /// In most documents first: as many as were asked for, and all that were not paired up.
    pub repeated: Vec<RepeatedPassage>,
    /// What was not paired up.
    pub left_out: LeftOut,
}

/// Runs of words that stand in too many places to be paired up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Distinct ones.
    pub runs: u64,
    /// The places of all of them.
    pub places: u64,
}

/// Finds the passages that documents share.
pub fn reuse(sequences: &Sequences, settings: &ReuseSettings, exec: &Exec<'_>) -> Result<Reuse> {
    settings.validate()?;
    exec.pool()?.install(|| {
        let runs = exec.stage(Stage::Fingerprint, None, || Runs::find(sequences, settings, exec))?;
        exec.stage(Stage::Join, None, || {
            let passages = pairs::passages(sequences, &runs, exec)?;
            let repeated = repeated::most_repeated(sequences, &runs, settings.top, exec)?;
            Ok(Reuse {
                documents: sequences.documents() as u64,
                words: sequences.words() as u64,
                shared_words: runs.covered_words(),
                pairs: passages.chunk_by(|a, b| (a.first, a.second) == (b.first, b.second)).count() as u64,
                passages,
                repeated,
                left_out: runs.left_out(),
            })
        })
    })
}
