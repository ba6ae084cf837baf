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
        self.texts().map(<[u8]>::len).sum::<usize>() + size_of::<Self>()
    }

    /// Its texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.values.iter().filter_map(|value| if let Parsed::Text(text) = value { Some(text.as_bytes()) } else { None })
    }
}
