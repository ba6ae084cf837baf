//! Stage 11: the outcome → a result folder.
//!
//! In: an [`Outcome`](crate::Outcome). Out: tables, the list of what was skipped, and last the manifest `run.json`. Invariant: no manifest, no
//! result; a reader that finds one finds every file it names, unchanged. Cost: one sequential write and a digest of it. Drops
//! nothing: every document has a row.

mod expand;
mod folder;
mod format;
mod manifest;
#[cfg(feature = "parquet")]
mod parquet;
mod saved;
pub mod table;
mod tables;

pub use expand::{ExpandedPair, PairsTable};
pub use folder::ResultFolder;
pub use format::{Format, Row};
pub use manifest::{FileDigest, Manifest};
pub use saved::SavedResult;

use crate::error::Result;
use crate::exec::Exec;
use crate::run::Outcome;

/// Takes the outcome of a run.
pub trait Sink {
    /// Called before any work: what can't be written should fail now.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// A folder of its own, which is no input even where it lies inside one.
    fn own_folder(&self) -> Option<&std::path::Path> {
        None
    }

    /// Takes the outcome.
    fn accept(&mut self, outcome: &Outcome, exec: &Exec<'_>) -> Result<()>;
}

/// For callers that only want the [`Outcome`] itself.
#[derive(Debug, Default)]
pub struct Discard;

impl Sink for Discard {
    fn accept(&mut self, _outcome: &Outcome, _exec: &Exec<'_>) -> Result<()> {
        Ok(())
    }
}
