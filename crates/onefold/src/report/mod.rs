//! Stage 11: the outcome → a result folder.
//!
//! In: an [`Outcome`](crate::Outcome). Out: tables, the list of what was skipped, and last the manifest `run.json`. Invariant: no manifest, no
//! result; a reader that finds one finds every file it names, unchanged. Cost: one sequential write and a digest of it. Drops
//! nothing: every document has a row.

mod expand;
mod folder;
mod format;
mod kept;
mod manifest;
#[cfg(feature = "parquet")]
mod parquet;
mod saved;
pub mod table;
mod tables;

pub use expand::{ExpandedPair, PairsTable};
pub use folder::{ResultFolder, check_out_folder, replace_file, replace_file_with};
pub use format::{Format, Row};
pub use kept::KeptFolder;
pub use manifest::{FileDigest, Manifest};
pub use saved::SavedResult;

use crate::document::InputFile;
use crate::error::Result;
use crate::exec::Exec;
use crate::run::Outcome;

/// Takes the outcome of a run.
pub trait Sink: Send {
    /// Called before any work: what can't be written should fail now.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// Whether something former may be replaced.
    fn replaces(&self) -> bool {
        false
    }

    /// Folders of its own, which are no inputs even where they lie inside one.
    fn own_folders(&self) -> Vec<std::path::PathBuf> {
        Vec::new()
    }

    /// Called when the inputs are known (those of a reference are not named) and nothing of them has been read: what can't be done with them should fail now.
    fn review(&self, _inputs: &[InputFile]) -> Result<()> {
        Ok(())
    }

    /// About how many bytes a result of so many documents, whose ids have so many bytes, will take, without its pairs.
    fn bytes_to_write(&self, _documents: u64, _id_bytes: u64) -> u64 {
        0
    }

    /// How many bytes of inputs [`Sink::accept`] will read again, for those who watch.
    fn bytes_to_read(&self, _outcome: &Outcome) -> Option<u64> {
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
