//! The header of a record, whatever the dialect says it in.

use super::{arc, record};

/// WARC or ARC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Dialect {
    Warc,
    Arc,
}

/// What a record is to us.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A document.
    Content,
    /// Another name of a document.
    Revisit,
    /// Something about the crawl.
    About,
    /// A type that nobody has told us about.
    Unknown(String),
}

/// Whether the block is an HTTP message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Http {
    /// The header says so.
    Yes,
    /// The block tells.
    Perhaps,
    /// A page may well begin with `HTTP/`.
    No,
}

/// What a record's header says.
#[derive(Debug)]
pub(super) struct Heading {
    pub(super) kind: Kind,
    /// The length of the block, or what is written in its place.
    pub(super) length: Result<u64, String>,
    pub(super) http: Http,
    /// The record says itself that its content is not whole.
    pub(super) truncated: bool,
    pub(super) record_id: Option<String>,
    pub(super) trec_id: Option<String>,
    pub(super) uri: Option<String>,
    pub(super) date: Option<String>,
    /// The type of the block; for HTTP the type that was found by looking at the payload.
    pub(super) content_type: Option<String>,
    pub(super) refers_to: [Option<String>; 3],
}

/// How far a header goes.
#[derive(Debug, PartialEq)]
pub(super) enum HeaderEnd {
    /// It is whole; the block begins here.
    At(usize),
    /// Another record begins here, before the header has ended.
    Broken(usize),
    /// More bytes are needed.
    Open,
}

impl Dialect {
    /// So many bytes tell whether a header begins.
    pub(super) fn probe(self) -> usize {
        match self {
            Dialect::Warc => 128,
            Dialect::Arc => arc::LONGEST_LINE,
        }
    }

    /// How many line ends stand between two records.
    pub(super) fn trailing_line_ends(self) -> usize {
        match self {
            Dialect::Warc => 2,
            Dialect::Arc => 1,
        }
    }

    /// Whether a header begins here, when one is expected.
    pub(super) fn continues(self, bytes: &[u8]) -> bool {
        match self {
            Dialect::Warc => record::continues(bytes),
            Dialect::Arc => arc::begins(bytes),
        }
    }

    /// Whether a header begins here, when anything may be here.
    pub(super) fn begins(self, bytes: &[u8]) -> bool {
        match self {
            Dialect::Warc => record::begins(bytes),
            Dialect::Arc => arc::begins(bytes),
        }
    }

    /// The next place from here that deserves a look.
    pub(super) fn candidate(self, bytes: &[u8], from: usize) -> Option<usize> {
        match self {
            Dialect::Warc => memchr::memmem::find(bytes.get(from..)?, record::MAGIC).map(|at| from + at),
            Dialect::Arc if from == 0 || bytes.get(from - 1) == Some(&b'\n') => Some(from),
            Dialect::Arc => memchr::memchr(b'\n', bytes.get(from..)?).map(|at| from + at + 1),
        }
    }

    /// How far the header at the start of the bytes goes.
    pub(super) fn header_end(self, bytes: &[u8], ended: bool) -> HeaderEnd {
        match self {
            Dialect::Warc => record::header_end(bytes, ended),
            Dialect::Arc => memchr::memchr(b'\n', bytes).map_or(HeaderEnd::Open, |end| HeaderEnd::At(end + 1)),
        }
    }

    /// Reads a whole header.
    pub(super) fn parse(self, header: &[u8]) -> Heading {
        match self {
            Dialect::Warc => record::parse(header),
            Dialect::Arc => arc::parse(header),
        }
    }
}

/// A length in plain digits; anything else is given back as it is written.
pub(super) fn length(written: &[u8]) -> Result<u64, String> {
    let digits = !written.is_empty() && written.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(written).ok().filter(|_| digits).and_then(|text| text.parse().ok());
    number.ok_or_else(|| super::fields::text(&written[..written.len().min(40)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_digits() {
        assert_eq!(length(b"0017"), Ok(17));
        for wrong in ["", "-1", "+5", "1e3", "0x10", "12 ", "99999999999999999999999", "abc"] {
            assert_eq!(length(wrong.as_bytes()), Err(wrong.to_owned()));
        }
    }

    #[test]
    fn candidates_of_both_dialects() {
        assert_eq!(Dialect::Warc.candidate(b"xx WARC/1", 1), Some(3));
        assert_eq!(Dialect::Warc.candidate(b"WARC/1", 1), None);
        assert_eq!(Dialect::Arc.candidate(b"a\nb", 0), Some(0));
        assert_eq!(Dialect::Arc.candidate(b"a\nb", 1), Some(2));
        assert_eq!(Dialect::Arc.candidate(b"a\nb", 2), Some(2));
        assert_eq!(Dialect::Arc.candidate(b"a\nb", 3), None);
    }
}
