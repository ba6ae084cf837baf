//! A row whose fields come ready: from delimited text or from Parquet.

use super::jsonl::Parsed;
use crate::document::Flags;

/// The wanted fields of a row, in the order of the wanted columns.
#[derive(Debug)]
pub(super) struct FieldRow {
    pub(super) values: Vec<Parsed<'static>>,
    pub(super) flags: Flags,
    /// First byte of the row in the decompressed file, where rows have one.
    pub(super) offset: u64,
}

impl FieldRow {
    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let text = |value: &Parsed<'_>| if let Parsed::Text(text) = value { text.len() } else { 0 };
        self.values.iter().map(text).sum::<usize>() + size_of::<Self>()
    }
}
