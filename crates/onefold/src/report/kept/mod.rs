//! The kept documents, in files like those they came from.
//!
//! In: the verdicts, and the inputs, which are read a second time. Out: a folder with a file for each input that has a kept document,
//! under the same name. Invariant: a record is byte for byte what it was (in Parquet: value for value); the folder appears whole or
//! not at all, and nothing that was there before is touched. Cost: one more pass over the inputs, memory for one record. Drops: removed
//! documents, inputs that were skipped, blank lines; an input of which nothing is kept has no file.

mod archive;
mod claim;
mod delimited;
mod lines;
mod mirror;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod whole;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub(super) use claim::{Claim, check_target, missing_folders};
pub(super) use mirror::review;

use crate::document::{Collection, InputFile, Locator};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::plan::Plan;
use crate::read::{Again, FileKind, Reopened, RowFormat};
use crate::run::{Outcome, Stage};
use output::Output;

/// A folder of kept documents that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFolder {
    /// Where it is.
    pub folder: String,
    /// How many files are in it.
    pub files: u64,
    /// How many documents.
    pub documents: u64,
    /// The size of the files.
    pub bytes: u64,
}

/// An input that is read a second time, and what of it is kept.
struct Job<'a> {
    input: &'a InputFile,
    again: &'a Again,
    /// The kept documents, by record.
    kept: &'a [Locator],
    plan: &'a Plan,
    exec: &'a Exec<'a>,
}

impl Job<'_> {
    /// The input can't be read as it was.
    fn changed(&self, problem: impl std::fmt::Display) -> Error {
        Error::Changed { path: self.input.name.clone(), problem: problem.to_string() }
    }

    /// A part of the input that nobody had to read before can't be read, changed or not.
    #[cfg(feature = "parquet")]
    fn unreadable(&self, problem: impl std::fmt::Display) -> Error {
        Error::Unreadable { path: self.input.name.clone(), problem: problem.to_string() }
    }

    /// A kept record is not where it was.
    fn moved(&self, record: u64) -> Error {
        self.changed(format_args!("record {record} is not where it was"))
    }

    fn reopen(&self) -> Result<Reopened> {
        let path = self.input.path.as_deref().ok_or_else(|| Error::Bug("an input without a path is read again".into()))?;
        Reopened::open(path, self.again).map_err(|e| self.changed(e))
    }
}

/// The kept documents by place, those of one file together.
fn kept_places(outcome: &Outcome) -> Vec<Locator> {
    let mut places: Vec<Locator> =
        outcome.documents().filter(|(_, verdict)| verdict.kept).map(|(document, _)| document.locator).collect();
    places.sort_unstable();
    places
}

/// How many bytes of the inputs are read again.
pub(super) fn bytes_to_read(outcome: &Outcome) -> u64 {
    let places = kept_places(outcome);
    places.chunk_by(|a, b| a.file == b.file).map(|same| outcome.collection.files[same[0].file as usize].bytes).sum()
}

/// Writes the kept documents into the folder that `claim` holds; it is published later. Says `folder` in messages.
pub(super) fn write(outcome: &Outcome, claim: &Claim, folder: &Path, exec: &Exec<'_>) -> Result<KeptFolder> {
    let mut written = KeptFolder { folder: folder.display().to_string(), files: 0, documents: 0, bytes: 0 };
    for kept in kept_places(outcome).chunk_by(|a, b| a.file == b.file) {
        exec.check()?;
        let job = job(&outcome.collection, kept, &outcome.plan, exec)?;
        let relative = mirror::target(job.input);
        let output = Output::create(&claim.staging().join(&relative), folder.join(&relative))?;
        written.bytes += copy(&job, output)?;
        written.files += 1;
        written.documents += kept.len() as u64;
    }
    Ok(written)
}

fn job<'a>(collection: &'a Collection, kept: &'a [Locator], plan: &'a Plan, exec: &'a Exec<'a>) -> Result<Job<'a>> {
    let input = &collection.files[kept[0].file as usize];
    let again = input.again.as_ref().ok_or_else(|| input.read_once(mirror::ACTION))?;
    Ok(Job { input, again, kept, plan, exec })
}

/// Copies what is kept of a file; how many bytes that made.
fn copy(job: &Job<'_>, output: Output) -> Result<u64> {
    let mut reopened = job.reopen()?;
    let output = match job.again.kind {
        FileKind::Document => whole::copy(job, &reopened, output)?,
        FileKind::Rows(RowFormat::Jsonl) => lines::copy(job, &mut reopened, output)?,
        FileKind::Rows(RowFormat::Delimited(delimiter)) => delimited::copy(job, &mut reopened, delimiter, output)?,
        FileKind::Rows(RowFormat::Warc) => archive::copy(job, &reopened, output)?,
        #[cfg(feature = "parquet")]
        FileKind::Rows(RowFormat::Parquet) => parquet::copy(job, &reopened, output)?,
        #[cfg(not(feature = "parquet"))]
        FileKind::Rows(RowFormat::Parquet) => return Err(Error::Bug("Parquet was read without the feature".into())),
    };
    // Whoever wrote to it while it was copied may have mixed old and new.
    reopened.check().map_err(|e| job.changed(e))?;
    let metadata = reopened.metadata().map_err(|e| job.changed(e))?;
    let bytes = output.finish(&metadata, job.again.kind == FileKind::Document)?;
    job.exec.observer.advance(Stage::Report, job.input.bytes);
    Ok(bytes)
}
