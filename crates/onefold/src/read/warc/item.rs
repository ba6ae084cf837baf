//! What comes out of an archive.

use std::ops::Range;

/// One thing found in an archive.
#[derive(Debug)]
pub enum WarcItem {
    /// A record that is a document.
    Content(ContentRecord),
    /// A record that says that a page was still the same.
    Alias(Revisit),
    /// A document is there, but something is wrong with it or near it.
    Flagged(Notice),
    /// A document, or what may have been one, is not there.
    Skipped(Notice),
}

/// Where a record lies.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The number of the record in the file, from 1; records of every kind count.
    pub number: u64,
    /// Where the record, or the member it lies in, begins in the file as stored.
    pub offset: u64,
    /// The stored bytes that are this record and nothing else, if there are such: they can be copied as they are.
    pub stored: Option<Range<u64>>,
}

/// A document.
#[derive(Debug)]
pub struct ContentRecord {
    /// Where it lies.
    pub place: Place,
    /// `WARC-TREC-ID`.
    pub trec_id: Option<String>,
    /// `WARC-Record-ID`, without angle brackets.
    pub record_id: Option<String>,
    /// The target URI, without angle brackets.
    pub uri: Option<String>,
    /// The date as written: ISO 8601 in WARC, 14 digits in ARC, or nonsense.
    pub date: Option<String>,
    /// The type of the body in lower case, without parameters.
    pub media_type: Option<String>,
    /// The character set that the server named.
    pub charset: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The body: no header, no chunks, no encoding.
    pub body: Vec<u8>,
    /// The body is not whole.
    pub truncated: bool,
}

/// Another name of a document.
#[derive(Debug)]
pub struct Revisit {
    /// Where it lies.
    pub place: Place,
    /// `WARC-Record-ID`, without angle brackets.
    pub record_id: Option<String>,
    /// The target URI, without angle brackets.
    pub uri: Option<String>,
    /// The date as written.
    pub date: Option<String>,
    /// The record id of the document.
    pub refers_to: Option<String>,
    /// The target URI of the document.
    pub refers_to_uri: Option<String>,
    /// The date of the document.
    pub refers_to_date: Option<String>,
}

/// Something to tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// Where in the file as stored: the record's, or the member's that it lies in.
    pub offset: u64,
    /// The number of the record, if it is about one.
    pub number: Option<u64>,
    /// One word for it.
    pub reason: &'static str,
    /// The particulars.
    pub detail: String,
}

/// What an archive was found to hold.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Tally {
    /// Records of every kind.
    pub records: u64,
    /// Documents.
    pub content: u64,
    /// Revisits.
    pub aliases: u64,
    /// Items of [`WarcItem::Flagged`].
    pub flagged: u64,
    /// Items of [`WarcItem::Skipped`].
    pub skipped: u64,
}

/// What may be held in memory.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Larger records are passed over.
    pub record_bytes: u64,
    /// Larger bodies are refused.
    pub body_bytes: u64,
}
