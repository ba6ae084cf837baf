//! CSV and TSV: a header names the columns, a quoted field may hold line ends.

use std::borrow::Cow;
use std::io;

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
    /// Reads the header; a file without the first of `columns` is refused, naming the columns it has.
    pub(super) fn new(reader: Plain, delimiter: u8, columns: &[&str]) -> io::Result<Self> {
        let mut reader =
            csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(QuoteCount { inner: reader, quotes: 0 });
        let header = reader.byte_headers()?.clone();
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
        match self.reader.read_byte_record(&mut self.record) {
            Ok(false) => {
                self.ended = true;
                let unclosed = swallowing && self.reader.get_ref().quotes % 2 == 1;
                unclosed.then(|| {
                    Err(io::Error::new(io::ErrorKind::InvalidData, "a quote is not closed: the last row holds what follows it"))
                })
            }
            Err(error) => Some(Err(error.into())),
            Ok(true) => Some(Ok(self.row())),
        }
    }
}

/// Counts the quotes that pass.
struct QuoteCount {
    inner: Plain,
    quotes: u64,
}

impl io::Read for QuoteCount {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
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
        DelimitedRows::new(reader, delimiter, &["text", "id", "url", "time", "score", "source"])?.collect()
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

    #[test]
    fn bytes_that_are_not_text_are_flagged() {
        assert!(rows(b"text\na\xff\n", b',').unwrap()[0].flags.has(Flags::LOSSY));
    }
}
