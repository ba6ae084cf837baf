//! Stage 1: inputs → bytes with identity.
//!
//! In: folders, files, streams, documents in memory. Out: documents in the order of a worker's convenience, each with a locator
//! (file, line) that later stages order by. Invariant: every input is a document or a [`Skipped`] with a reason, whatever order it comes in; a file with two names is read once. Cost: one
//! sequential pass. Drops: what is not a regular file, cannot be read, or is too large, each reported.
//!
//! Stages 1–4 are one pass over the bytes, driven by [`ingest()`].

mod again;
mod assemble;
mod catalog;
mod delimited;
mod document;
mod feed;
mod fields;
mod ingest;
mod interruptible;
mod jsonl;
mod lines;
mod open;
#[cfg(feature = "parquet")]
mod parquet;
mod plain_json;
mod time;
pub mod warc;

pub use again::{TextPlace, read_column, read_file, read_texts};
pub use ingest::ingest;
pub use jsonl::{FieldReader, Parsed};

use crate::document::Document;

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
pub type Source = Vec<Input>;
