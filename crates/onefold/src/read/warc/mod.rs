//! WARC and ARC archives → documents, as crawlers really write them.
//!
//! In: the bytes of a file as stored. Out: [`WarcItem`]s in the order of the file. Invariant: every record is a document, another name
//! of one, something about the crawl, or told as skipped; a fault costs the record it lies in and no other. Cost: one pass, memory for
//! one record of at most [`Limits::record_bytes`]. Drops: requests, metadata, the crawler's own notes.
//!
//! The way of a byte: `stored` (the file) → `gzip`, `zstandard` (members) → `unpacked` (segments without holes) → `heading` (`record`,
//! `arc`: headers) → `extent` (where a record really ends) → `reader` → `http`, `encoding` (the page).

mod arc;
mod copies;
mod encoding;
mod extent;
mod fields;
mod gzip;
mod heading;
mod http;
mod item;
mod member;
mod members;
mod reader;
mod record;
mod stored;
mod unpacked;
mod window;
mod zstandard;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod sample_tests;

use std::io::{self, BufRead};

pub(crate) use copies::{Copied, CopiedBytes, Copies};
pub use item::{ContentRecord, Limits, Notice, Place, Revisit, Tally, WarcItem};

use reader::Records;
use unpacked::Unpacked;

/// Reads an archive item by item.
pub struct WarcReader {
    records: Records,
    tally: Tally,
    ended: bool,
}

impl WarcReader {
    /// Takes the bytes of the file as stored; packing and dialect are told by the bytes.
    pub fn new(reader: Box<dyn BufRead + Send>, limits: Limits) -> Self {
        WarcReader {
            records: Records::new(Unpacked::open(reader, limits.record_bytes), limits),
            tally: Tally::default(),
            ended: false,
        }
    }

    /// What has been found so far.
    pub fn tally(&self) -> Tally {
        Tally { records: self.records.number(), ..self.tally }
    }

    fn count(&mut self, item: WarcItem) -> WarcItem {
        let counter = match &item {
            WarcItem::Content(_) => &mut self.tally.content,
            WarcItem::Alias(_) => &mut self.tally.aliases,
            WarcItem::Flagged(_) => &mut self.tally.flagged,
            WarcItem::Skipped(_) => &mut self.tally.skipped,
        };
        *counter += 1;
        item
    }

    /// At the end: the fault of the reader below, or that there was nothing at all.
    fn last(&mut self) -> Option<io::Result<WarcItem>> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        if let Some(fault) = self.records.stream.take_fault() {
            return Some(Err(fault));
        }
        if self.records.number() > 0 || self.tally.skipped > 0 {
            return None;
        }
        let notice = Notice { offset: 0, number: None, reason: "not_an_archive", detail: "no WARC or ARC record in it".into() };
        Some(Ok(self.count(WarcItem::Skipped(notice))))
    }
}

/// An error comes last: what could be read before it has come.
impl Iterator for WarcReader {
    type Item = io::Result<WarcItem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.records.items.pop_front() {
                return Some(Ok(self.count(item)));
            }
            if self.ended || !self.records.step() {
                return match self.records.items.pop_front() {
                    Some(item) => Some(Ok(self.count(item))),
                    None => self.last(),
                };
            }
        }
    }
}
