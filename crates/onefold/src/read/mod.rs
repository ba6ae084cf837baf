//! Stage 1: inputs → bytes with identity.
//!
//! In: folders, files, streams, documents in memory. Out: documents in the order of a worker's convenience, each with a locator
//! (file, line) that later stages order by. Invariant: every input is a document or a [`Skipped`] with a reason, whatever order it comes in; a file with two names is read once. Cost: one
//! sequential pass. Drops: what is not a regular file, cannot be read, or is too large, each reported.
//!
//! Stages 1–4 are one pass over the bytes, driven by [`ingest()`].

mod again;
mod assemble;
mod by_id;
mod catalog;
mod count;
mod delimited;
mod document;
mod effort;
mod feed;
mod fields;
mod ingest;
mod interruptible;
mod jsonl;
mod keep;
mod lines;
mod open;
#[cfg(feature = "parquet")]
mod parquet;
mod plain_json;
mod reopen;
mod resume;
mod sample;
mod specials;
mod time;
mod unescape;
pub mod warc;

pub use again::{TextPlace, read_column, read_file, read_texts};
pub use ingest::ingest;
pub use jsonl::{FieldReader, Parsed};
#[cfg(feature = "parquet")]
pub use parquet::panic_is_caught;

pub(crate) use catalog::{FileKind, RowFormat, cleaned};
pub(crate) use delimited::RawRecords;
pub(crate) use keep::{bytes_of_documents, least_memory, memory_to_hold};
pub(crate) use lines::RawLines;
pub(crate) use open::Packing;
#[cfg(feature = "parquet")]
pub(crate) use parquet::{check_pages, guarded};
pub(crate) use reopen::{Again, Reopened};
pub(crate) use sample::{Amounts, Sample, sample};

use crate::document::{Document, InputFile};

/// One thing to read.
pub enum Input {
    /// A file or folder.
    Path(std::path::PathBuf),
    /// JSONL from a stream.
    Stream {
        /// What it is called in ids and messages.
        name: String,
        /// The bytes.
        reader: Box<dyn std::io::Read + Send>,
    },
    /// Documents in memory.
    Documents(Vec<Document>),
}

/// What to read, in any order.
#[derive(Default)]
pub struct Source {
    /// The collection.
    pub inputs: Vec<Input>,
    /// Documents that the collection is compared with, too; they stay, and are not compared with one another.
    pub against: Vec<Input>,
}

impl From<Vec<Input>> for Source {
    fn from(inputs: Vec<Input>) -> Source {
        Source { inputs, against: Vec::new() }
    }
}

/// An input that is no file of the catalogue: a stream, or documents in memory under the name "".
fn unlisted(name: &str, reference: bool) -> InputFile {
    let (path, aliases, again) = (None, Vec::new(), None);
    InputFile { name: name.into(), path, aliases, argument: name.into(), bytes: 0, reference, again }
}
