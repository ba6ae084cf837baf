//! Writing and reading tables: Parquet, JSONL, CSV.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::table::{Cell, Table};

/// How tables are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Columns, typed and compressed.
    #[default]
    Parquet,
    /// One JSON object a line.
    Jsonl,
    /// Comma-separated, with a header.
    Csv,
}

impl Format {
    /// The ending of file names.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Jsonl => "jsonl",
            Format::Csv => "csv",
        }
    }

    /// About how many bytes the rows of so many documents take, of whose ids each has three: as measured with ids and addresses of 70 bytes.
    pub(super) fn bytes_of_documents(self, documents: u64, id_bytes: u64) -> u64 {
        match self {
            Format::Parquet => 10 * documents + id_bytes / 2,
            Format::Jsonl => 250 * documents + 3 * id_bytes,
            Format::Csv => 100 * documents + 3 * id_bytes,
        }
    }

    /// Writes a table.
    pub fn write<T: Table>(self, table: &T, out: &mut (dyn Write + Send)) -> io::Result<()> {
        match self {
            #[cfg(feature = "parquet")]
            Format::Parquet => super::parquet::write(table, out),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(io::Error::other("built without the feature 'parquet'")),
            Format::Jsonl => write_jsonl(table, out),
            Format::Csv => write_csv(table, out),
        }
    }

    /// Reads a table that [`Format::write`] wrote.
    pub fn read(self, path: &Path) -> io::Result<Vec<Row>> {
        match self {
            #[cfg(feature = "parquet")]
            Format::Parquet => super::parquet::read(path),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(io::Error::other("built without the feature 'parquet'")),
            Format::Jsonl => read_jsonl(path),
            Format::Csv => read_csv(path),
        }
    }
}

/// A row that was read back; nulls are absent, numbers and truth values are as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(pub HashMap<String, String>);

impl Row {
    /// A value as text; empty where there is none.
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).map_or("", String::as_str)
    }

    /// A value as text, where there is one.
    pub fn optional(&self, column: &str) -> Option<&str> {
        self.0.get(column).map(String::as_str)
    }

    /// A value as a number.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.0.get(column)?.parse().ok()
    }

    /// A value as yes or no.
    pub fn truth(&self, column: &str) -> bool {
        self.text(column) == "true"
    }
}

/// The numbers of all rows, each loaded before it comes.
fn in_groups(table: &dyn Table) -> impl Iterator<Item = io::Result<usize>> {
    const GROUP: usize = 1 << 14;
    (0..table.rows()).map(|row| {
        if row % GROUP == 0 {
            table.load(row..table.rows().min(row + GROUP)).map_err(io::Error::other)?;
        }
        Ok(row)
    })
}

fn write_jsonl(table: &dyn Table, out: &mut dyn Write) -> io::Result<()> {
    for row in in_groups(table) {
        let row = row?;
        for (at, column) in table.columns().iter().enumerate() {
            write!(out, "{}\"{}\":", if at == 0 { "{" } else { "," }, column.name)?;
            match table.cell(row, at) {
                Cell::Null => out.write_all(b"null")?,
                Cell::Text(text) => serde_json::to_writer(&mut *out, &text)?,
                Cell::Bool(value) => write!(out, "{value}")?,
                Cell::Integer(value) => write!(out, "{value}")?,
                Cell::Real(value) => serde_json::to_writer(&mut *out, &value)?,
            }
        }
        out.write_all(b"}\n")?;
    }
    Ok(())
}

fn read_jsonl(path: &Path) -> io::Result<Vec<Row>> {
    let read = |line: io::Result<String>| {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line?)?;
        let values = object.into_iter().filter(|(_, value)| !value.is_null());
        Ok(Row(values.map(|(name, value)| (name, value.as_str().map_or_else(|| value.to_string(), String::from))).collect()))
    };
    BufReader::new(std::fs::File::open(path)?).lines().map(read).collect()
}

fn write_csv(table: &dyn Table, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(table.columns().iter().map(|column| column.name))?;
    for row in in_groups(table) {
        let row = row?;
        for at in 0..table.columns().len() {
            match table.cell(row, at) {
                Cell::Null => writer.write_field("")?,
                Cell::Text(text) => writer.write_field(harmless(&text).as_bytes())?,
                Cell::Bool(value) => writer.write_field(value.to_string())?,
                Cell::Integer(value) => writer.write_field(value.to_string())?,
                Cell::Real(value) => writer.write_field(serde_json::to_string(&value)?)?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

/// A spreadsheet takes cells that begin so for formulas.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Text that no spreadsheet computes: an apostrophe goes before what looks like a formula, or like one made harmless.
fn harmless(text: &str) -> Cow<'_, str> {
    if text.trim_start_matches('\'').starts_with(FORMULA) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Takes back what [`harmless`] did. A number may begin with a sign, and has no apostrophe.
fn as_it_was(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if text.trim_start_matches('\'').starts_with(FORMULA) => text,
        _ => cell,
    }
}

fn read_csv(path: &Path) -> io::Result<Vec<Row>> {
    let mut reader = csv::Reader::from_path(path)?;
    let names = reader.headers()?.clone();
    let read = |record: csv::Result<csv::StringRecord>| {
        let record = record?;
        let values = names.iter().zip(record.iter()).filter(|(_, value)| !value.is_empty());
        Ok(Row(values.map(|(name, value)| (name.to_string(), as_it_was(value).to_string())).collect()))
    };
    reader.records().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::{Column, Kind, column, nullable};

    struct Sample;

    const COLUMNS: [Column; 4] =
        [column("id", Kind::Text), nullable("x", Kind::Real), column("n", Kind::Integer), column("keep", Kind::Bool)];
    const IDS: [&str; 5] = ["a,\"b\"\n", "=cmd", "文書\u{0}", "'=x", "'quoted'"];

    impl Table for Sample {
        fn columns(&self) -> &[Column] {
            &COLUMNS
        }
        fn rows(&self) -> usize {
            IDS.len()
        }
        fn cell(&self, row: usize, column: usize) -> Cell<'_> {
            match column {
                0 => Cell::text(IDS[row]),
                1 => Cell::optional((row > 0).then_some(1.0 / row as f64), Cell::Real),
                2 => Cell::Integer(row as i64 - 1),
                _ => Cell::Bool(row == 1),
            }
        }
    }

    #[test]
    fn numbers_read_back_to_the_last_bit() {
        let value = 56.0 / 57.0;
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<f64>(&text).unwrap().to_bits(), f64::to_bits(value));
    }

    #[test]
    fn every_format_reads_back_what_it_wrote() {
        let folder = tempfile::tempdir().unwrap();
        for format in [Format::Parquet, Format::Jsonl, Format::Csv] {
            let path = folder.path().join(format.extension());
            let mut file = std::fs::File::create(&path).unwrap();
            format.write(&Sample, &mut file).unwrap();
            let rows = format.read(&path).unwrap();
            assert_eq!(rows.len(), IDS.len());
            for (row, id) in rows.iter().zip(IDS) {
                assert_eq!(row.text("id"), id, "{format:?}");
            }
            assert_eq!(rows[0].number("x"), None);
            assert_eq!(rows[2].number("x"), Some(0.5));
            assert_eq!(rows[0].number("n"), Some(-1.0));
            assert_eq!([rows[0].truth("keep"), rows[1].truth("keep")], [false, true]);
        }
    }
}
