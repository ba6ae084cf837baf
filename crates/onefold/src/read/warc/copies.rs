//! The records of an archive as they lie in the file, for copying.

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::ops::Range;

use super::item::Limits;
use super::reader::Records;
use super::unpacked::Unpacked;
use crate::read::open::Packing;

/// A record to be copied, or not.
#[derive(Debug)]
pub(crate) struct Copied {
    /// As in [`Place`](super::Place).
    pub(crate) number: u64,
    /// As in [`Place`](super::Place).
    pub(crate) offset: u64,
    /// A document. Others are about the crawl, or say that a page was found unchanged.
    pub(crate) content: bool,
    /// Its bytes.
    pub(crate) bytes: CopiedBytes,
}

/// Where the bytes of a record are.
#[derive(Debug)]
pub(crate) enum CopiedBytes {
    /// In the file, where they are this record and nothing else.
    Stored(Range<u64>),
    /// Here, unpacked: in the file they share a member with others, or the member is damaged.
    Unpacked(Vec<u8>),
}

/// Reads an archive as [`WarcReader`](super::WarcReader) does, numbers and all, and opens no page.
///
/// What could not be read comes not, and neither do records of unknown types: they were told as skipped.
pub(crate) struct Copies {
    records: Records,
    ended: bool,
}

impl Copies {
    pub(crate) fn new(reader: Box<dyn BufRead + Send>, limits: Limits) -> Self {
        let mut records = Records::new(Unpacked::open(reader, limits.record_bytes), limits);
        records.copies = Some(VecDeque::new());
        Copies { records, ended: false }
    }

    /// What the file is packed with.
    pub(crate) fn packing(&self) -> Packing {
        self.records.stream.packing()
    }
}

/// An error comes last: what could be read before it has come.
impl Iterator for Copies {
    type Item = io::Result<Copied>;

    fn next(&mut self) -> Option<io::Result<Copied>> {
        loop {
            self.records.items.clear();
            if let Some(copied) = self.records.copies.as_mut().and_then(VecDeque::pop_front) {
                return Some(Ok(copied));
            }
            if self.ended {
                return self.records.stream.take_fault().map(Err);
            }
            self.ended = !self.records.step();
        }
    }
}
