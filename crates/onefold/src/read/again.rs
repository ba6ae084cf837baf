//! Reading inputs a second time: a field of every row, or the text of one document.

use std::io::{self, BufRead, Read};
use std::path::Path;

use super::jsonl::{FieldReader, Parsed};
use super::open;
use crate::plan::Columns;

/// A field of every row of a JSONL file, with the number of its line; rows that have none are left out.
pub fn read_column(path: &Path, column: &str) -> io::Result<Vec<(u64, String)>> {
    let fields = FieldReader::new(&[column]);
    let mut values = Vec::new();
    for_each_row(path, |number, row| {
        match fields.read(row).ok().and_then(|mut found| found.pop()) {
            Some(Parsed::Text(text)) => values.push((number, text.into_owned())),
            Some(Parsed::Integer(value)) => values.push((number, value.to_string())),
            Some(Parsed::Real(value)) => values.push((number, value.to_string())),
            _ => (),
        }
        true
    })?;
    Ok(values)
}

/// The text of a document: of a row, or of the whole file where `record` is 0. `None` where it can't be read any more.
pub fn read_text(path: &Path, record: u64, columns: &Columns) -> Option<String> {
    if record == 0 {
        let mut bytes = Vec::new();
        open::open_regular(path, true).ok()?.read_to_end(&mut bytes).ok()?;
        return crate::extract::extract(&bytes, &path.to_string_lossy()).ok().map(|extracted| extracted.text);
    }
    let fields = FieldReader::new(&[&columns.text]);
    let mut text = None;
    for_each_row(path, |number, row| {
        if number == record {
            text = match fields.read(row).ok().and_then(|mut found| found.pop()) {
                Some(Parsed::Text(found)) => Some(found.into_owned()),
                _ => None,
            };
        }
        number < record
    })
    .ok()?;
    text
}

/// Calls `each` with the number and bytes of every line until it says no.
fn for_each_row(path: &Path, mut each: impl FnMut(u64, &[u8]) -> bool) -> io::Result<()> {
    let mut reader = open::open(path)?;
    let mut row = Vec::new();
    for number in 1.. {
        row.clear();
        if reader.read_until(b'\n', &mut row)? == 0 {
            break;
        }
        let bytes = if number == 1 { row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&row) } else { &row };
        if !each(number, bytes.trim_ascii()) {
            break;
        }
    }
    Ok(())
}
