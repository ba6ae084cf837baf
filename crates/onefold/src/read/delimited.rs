//! CSV and TSV: a header names the columns, a quoted field may hold line ends.

use std::borrow::Cow;
use std::io::{self, BufRead};

use super::fields::FieldRow;
use super::jsonl::Parsed;
use super::open::Plain;
use crate::document::Flags;

/// The rows of a file, wanted fields only.
pub(super) struct DelimitedRows {
    reader: csv::Reader<QuoteCount>,
    record: csv::ByteRecord,
    ended: bool,
    /// For each wanted column its place in a record.
    places: Vec<Option<usize>>,
}

impl DelimitedRows {
    /// Reads the header; a file without the first of `columns` is refused, naming the columns it has. A record that is longer than `longest`
    /// bytes by more than a buffer is an error of the kind `OutOfMemory`.
    pub(super) fn new(reader: Plain, delimiter: u8, columns: &[&str], longest: u64) -> io::Result<Self> {
        let mut reader = dialect(delimiter).from_reader(QuoteCount { inner: reader, quotes: 0, passed: 0, longest });
        let header = reader.byte_headers().map_err(as_io)?.clone();
        let names: Vec<Cow<'_, str>> = header.iter().map(|name| String::from_utf8_lossy(name.trim_ascii())).collect();
        let place = |wanted: &str| names.iter().position(|name| name == wanted);
        let places: Vec<Option<usize>> = columns.iter().map(|wanted| place(wanted)).collect();
        if let Some(None) = places.first() {
            let problem = format!("no column '{}'; the header has: {}", columns[0], names.join(", "));
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        Ok(DelimitedRows { reader, record: csv::ByteRecord::new(), ended: false, places })
    }
}

impl Iterator for DelimitedRows {
    type Item = io::Result<FieldRow>;

    fn next(&mut self) -> Option<io::Result<FieldRow>> {
        if self.ended {
            return None;
        }
        // A quote that is never closed swallows the rest of the file into the last field, line ends and all.
        let swallowing = self.record.iter().any(|field| field.contains(&b'\n'));
        self.reader.get_mut().passed = 0;
        match self.reader.read_byte_record(&mut self.record) {
            Ok(false) => {
                self.ended = true;
                let unclosed = swallowing && self.reader.get_ref().quotes % 2 == 1;
                unclosed.then(|| {
                    Err(io::Error::new(io::ErrorKind::InvalidData, "a quote is not closed: the last row holds what follows it"))
                })
            }
            Err(error) => Some(Err(as_io(error))),
            Ok(true) => Some(Ok(self.row())),
        }
    }
}

/// The reader's own error, where it is one.
fn as_io(error: csv::Error) -> io::Error {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => io::Error::other(text),
    }
}

/// How fields are told from one another.
fn dialect(delimiter: u8) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder.delimiter(delimiter).flexible(true);
    builder
}

/// The records of a file as they stand in it, line ends and quotes and all; the header is the first.
pub(crate) struct RawRecords {
    reader: csv::Reader<Held>,
    record: csv::ByteRecord,
    /// The bytes of the record at hand.
    raw: Vec<u8>,
}

impl RawRecords {
    pub(crate) fn new(reader: Plain, delimiter: u8) -> Self {
        let held = Held { inner: reader, bytes: Vec::new(), offset: 0 };
        let reader = dialect(delimiter).has_headers(false).from_reader(held);
        RawRecords { reader, record: csv::ByteRecord::new(), raw: Vec::new() }
    }

    /// Reads the next record and says where it was found, as rows of [`DelimitedRows`] are placed; `None` at the end.
    pub(crate) fn advance(&mut self) -> io::Result<Option<u64>> {
        let start = self.reader.position().byte();
        self.reader.get_mut().forget_before(start);
        if !self.reader.read_byte_record(&mut self.record)? {
            return Ok(None);
        }
        let end = self.reader.position().byte();
        self.raw.clear();
        let held = self.reader.get_mut();
        // Blank lines, and the second half of a line end, are passed over on the way to a record.
        let found = held.range(start, end).iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.raw.extend_from_slice(&held.range(start, end)[found..]);
        if self.raw.last() == Some(&b'\r') && held.byte_at(end)? == Some(b'\n') {
            self.raw.push(b'\n');
        }
        Ok(Some(start))
    }

    /// The record that was read last, with its line end.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.raw
    }
}

/// Holds what passes, until it is forgotten.
struct Held {
    inner: Plain,
    bytes: Vec<u8>,
    /// Where the held bytes begin in the stream.
    offset: u64,
}

impl Held {
    fn forget_before(&mut self, offset: u64) {
        let count = ((offset - self.offset) as usize).min(self.bytes.len());
        self.bytes.drain(..count);
        self.offset += count as u64;
    }

    fn range(&self, start: u64, end: u64) -> &[u8] {
        let place = |offset: u64| (offset.saturating_sub(self.offset) as usize).min(self.bytes.len());
        &self.bytes[place(start)..place(end)]
    }

    /// A byte that was held, or the first that was not read yet.
    fn byte_at(&mut self, offset: u64) -> io::Result<Option<u8>> {
        match self.bytes.get((offset - self.offset) as usize) {
            Some(&byte) => Ok(Some(byte)),
            None => Ok(self.inner.fill_buf()?.first().copied()),
        }
    }
}

impl io::Read for Held {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

/// Counts the quotes that pass, and the bytes of a record.
struct QuoteCount {
    inner: Plain,
    quotes: u64,
    /// Bytes that were read for the record at hand; the reader takes them a buffer at a time.
    passed: u64,
    longest: u64,
}

impl io::Read for QuoteCount {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.passed > self.longest {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let read = self.inner.read(buffer)?;
        self.passed += read as u64;
        self.quotes += memchr::memchr_iter(b'"', &buffer[..read]).count() as u64;
        Ok(read)
    }
}

impl DelimitedRows {
    fn row(&self) -> FieldRow {
        let mut flags = Flags::default();
        let mut value = |place: &Option<usize>| match place.and_then(|place| self.record.get(place)) {
            None => Parsed::Missing,
            Some(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                if let Cow::Owned(_) = text {
                    flags.set(Flags::LOSSY);
                }
                Parsed::Text(Cow::Owned(text.into_owned()))
            }
        };
        let values = self.places.iter().map(&mut value).collect();
        FieldRow { values, flags, offset: self.record.position().map_or(0, csv::Position::byte) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[u8], delimiter: u8) -> io::Result<Vec<FieldRow>> {
        let reader = Box::new(io::BufReader::new(io::Cursor::new(text.to_vec())));
        DelimitedRows::new(reader, delimiter, &["text", "id", "url", "time", "score", "source"], u64::MAX)?.collect()
    }

    fn text(row: &FieldRow, place: usize) -> &str {
        match &row.values[place] {
            Parsed::Text(text) => text,
            _ => "",
        }
    }

    #[test]
    fn quotes_line_ends_and_byte_order_marks() {
        let found = rows(b"\xef\xbb\xbfid,text,score\r\n1,\"two\nlines, \"\"quoted\"\"\",0.5\r\n2,plain\r\n", b',').unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((text(&found[0], 1), text(&found[0], 0), text(&found[0], 4)), ("1", "two\nlines, \"quoted\"", "0.5"));
        assert_eq!((text(&found[1], 0), &found[1].values[4]), ("plain", &Parsed::Missing));
        assert_eq!(text(&rows(b"text\tid\na b\tx", b'\t').unwrap()[0], 0), "a b");
    }

    #[test]
    fn a_missing_text_column_is_named() {
        let error = rows(b"id,body\n1,a\n", b',').unwrap_err().to_string();
        assert!(error.contains("'text'") && error.contains("id, body"), "{error}");
    }

    #[test]
    fn a_quote_that_is_never_closed_is_told() {
        let error = rows(b"id,text\n1,\"one\n2,two\n3,three\n", b',').unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert_eq!(rows(b"id,text\n1,\"one\ntwo\"\n2,5\"\n", b',').unwrap().len(), 2, "a stray quote is none");
        assert_eq!(rows(b"id,text\n1,\"one\ntwo\"\n", b',').unwrap().len(), 1);
    }

    /// Whatever the size of reads, raw records put together are the file without its blank lines, and lie where rows lie.
    #[test]
    fn raw_records_are_the_bytes_of_the_file() {
        let records: [&[u8]; 6] = [
            b"\xef\xbb\xbfid,text\r\n",
            b"1,\"two\r\nlines, \"\"quoted\"\"\"\r\n",
            b"2,plain\n",
            b"3,\"\"\r",
            b"4,\"a\nb\"\r\n",
            b"5,last",
        ];
        for blank in ["", "\n", "\r\n\r\n"] {
            let file = records.join(blank.as_bytes());
            let reader = |capacity| Box::new(io::BufReader::with_capacity(capacity, io::Cursor::new(file.clone())));
            let rows: Vec<u64> =
                DelimitedRows::new(reader(64), b',', &["text"], u64::MAX).unwrap().map(|row| row.unwrap().offset).collect();
            for capacity in [1, 2, 3, 7, 64] {
                let mut raw = RawRecords::new(reader(capacity), b',');
                let (mut found, mut offsets) = (Vec::new(), Vec::new());
                while let Some(offset) = raw.advance().unwrap() {
                    offsets.push(offset);
                    found.push(raw.bytes().to_vec());
                }
                // A line feed after a lone carriage return is its second half.
                let joined = if blank == "\n" { [records[3], b"\n"].concat() } else { records[3].to_vec() };
                assert_eq!(found[..3], records[..3], "{blank:?} {capacity}");
                assert_eq!((&found[3], &found[4..]), (&joined, &records[4..].iter().map(|r| r.to_vec()).collect::<Vec<_>>()[..]));
                assert_eq!(offsets[1..], rows);
            }
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_flagged() {
        assert!(rows(b"text\na\xff\n", b',').unwrap()[0].flags.has(Flags::LOSSY));
    }
}
