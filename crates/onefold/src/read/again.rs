//! Reading inputs a second time: a field of every row, or the text of one document.

use std::collections::HashSet;
use std::io::{self, BufRead, Read, Seek};
use std::path::{Path, PathBuf};

use super::catalog::{FileKind, RowFormat, kind_of_argument};
use super::delimited::DelimitedRows;
use super::document::page_text;
use super::fields::FieldRow;
use super::jsonl::{FieldReader, Parsed};
use super::open;
use super::warc::{Limits, WarcItem, WarcReader};
use crate::plan::{Columns, Plan};
use crate::report::Row;

/// A field of every row of a file, with the number of the row; rows that have none are left out.
pub fn read_column(path: &Path, column: &str) -> io::Result<Vec<(u64, String)>> {
    let mut values = Vec::new();
    for_each_row(
        path,
        column,
        |_| true,
        |number, value| {
            match value {
                Parsed::Text(text) => values.push((number, text.into_owned())),
                Parsed::Integer(value) => values.push((number, value.to_string())),
                Parsed::Real(value) => values.push((number, value.to_string())),
                _ => (),
            }
            true
        },
    )?;
    Ok(values)
}

/// Where a document is: what the state table says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPlace {
    /// The file.
    pub path: PathBuf,
    /// The line of a row, from 1; 0 is the whole file.
    pub record: u64,
    /// First byte of the row in the file without its compression.
    pub offset: u64,
}

impl TextPlace {
    /// From a row of the state table; a path that is not UTF-8 is taken from its bytes.
    pub fn from_state(row: &Row) -> TextPlace {
        let raw = row.text("raw_path");
        let bytes =
            (0..raw.len() / 2).filter_map(|at| u8::from_str_radix(raw.get(2 * at..2 * at + 2)?, 16).ok()).collect::<Vec<u8>>();
        let path = if bytes.is_empty() { row.text("file").into() } else { path_of_bytes(bytes) };
        let whole = |column: &str| row.text(column).parse().unwrap_or(0);
        TextPlace { path, record: whole("record"), offset: whole("offset") }
    }
}

#[cfg(unix)]
fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

/// The texts of documents, in the order asked for; `None` for those that can't be read any more. Each file is read once.
pub fn read_texts(places: &[TextPlace], columns: &Columns) -> Vec<Option<String>> {
    let mut texts = vec![None; places.len()];
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&at| &places[at]);
    for same_file in order.chunk_by(|&a, &b| places[a].path == places[b].path) {
        let path = &places[same_file[0]].path;
        if read_plain_lines(path, columns, places, same_file, &mut texts).is_some() {
            continue;
        }
        let wanted: Vec<(u64, usize)> = same_file.iter().map(|&at| (places[at].record, at)).collect();
        for &(_, at) in wanted.iter().filter(|(record, _)| *record == 0) {
            texts[at] = read_file(path).ok();
        }
        read_rows(path, columns, wanted.into_iter().filter(|(record, _)| *record > 0), &mut texts);
    }
    texts
}

/// The text of a file, as a scan would see it.
pub fn read_file(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    open::open_regular(path, true)?.read_to_end(&mut bytes)?;
    let extracted = crate::extract::extract(&bytes, &path.to_string_lossy());
    extracted.map(|extracted| extracted.text).map_err(|refused| io::Error::other(format!("{}: {}", refused.code, refused.detail)))
}

/// Fills in the texts of rows of JSONL that is not compressed, without reading what lies between them; `None` where it is something else.
fn read_plain_lines(
    path: &Path,
    columns: &Columns,
    places: &[TextPlace],
    wanted: &[usize],
    texts: &mut [Option<String>],
) -> Option<()> {
    // A document of a folder is a whole file, whatever its first line looks like.
    if wanted.iter().any(|&at| places[at].record == 0) || !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    if !matches!(kind_of_argument(path), Ok(FileKind::Rows(RowFormat::Jsonl))) {
        return None;
    }
    let mut file = open::open_regular(path, true).ok()?;
    if open::Packing::of_file(&mut file).ok()? != open::Packing::Plain {
        return None;
    }
    let fields = FieldReader::new(&[&columns.text]);
    let mut reader = io::BufReader::new(file);
    let mut row = Vec::new();
    for &at in wanted {
        row.clear();
        reader.seek(io::SeekFrom::Start(places[at].offset)).ok()?;
        reader.read_until(b'\n', &mut row).ok()?;
        let bytes = row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&row);
        let found = fields.read(bytes.trim_ascii()).ok().and_then(|mut found| found.pop());
        texts[at] = if let Some(Parsed::Text(text)) = found { Some(text.into_owned()) } else { None };
    }
    Some(())
}

/// Fills in the texts of rows, `wanted` by their numbers.
fn read_rows(path: &Path, columns: &Columns, wanted: impl Iterator<Item = (u64, usize)> + Clone, texts: &mut [Option<String>]) {
    let mut wanted = wanted.peekable();
    if wanted.peek().is_none() {
        return;
    }
    let numbers: HashSet<u64> = wanted.clone().map(|(record, _)| record).collect();
    // A file that has become unreadable leaves its texts out; the caller shows that.
    let _ = for_each_row(
        path,
        &columns.text,
        |number| numbers.contains(&number),
        |number, value| {
            while let Some((_, at)) = wanted.next_if(|(record, _)| *record == number) {
                texts[at] = if let Parsed::Text(text) = &value { Some(text.to_string()) } else { None };
            }
            wanted.peek().is_some()
        },
    );
}

/// Calls `each` with the number of a row and one of its fields until it says no; rows that are not `wanted` need not come.
fn for_each_row(
    path: &Path,
    column: &str,
    wanted: impl FnMut(u64) -> bool,
    mut each: impl FnMut(u64, Parsed<'_>) -> bool,
) -> io::Result<()> {
    // A pipe was read once and for all; opening it again could wait for ever.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let numbered = |rows: &mut dyn Iterator<Item = io::Result<FieldRow>>, each: &mut dyn FnMut(u64, Parsed<'_>) -> bool| {
        for (number, row) in (1..).zip(rows) {
            if !each(number, row?.values.pop().unwrap_or(Parsed::Missing)) {
                break;
            }
        }
        Ok(())
    };
    match kind_of_argument(path)? {
        FileKind::Rows(RowFormat::Delimited(delimiter)) => {
            numbered(&mut DelimitedRows::new(open::open(path)?, delimiter, &[column], u64::MAX)?, &mut each)
        }
        #[cfg(feature = "parquet")]
        FileKind::Rows(RowFormat::Parquet) => {
            numbered(&mut super::parquet::ParquetRows::new(open::open_regular(path, true)?, &[column], u64::MAX)?, &mut each)
        }
        FileKind::Rows(RowFormat::Warc) => for_each_page(path, each),
        _ => for_each_line(path, column, wanted, each),
    }
}

/// The texts of an archive's pages; they have no columns.
fn for_each_page(path: &Path, mut each: impl FnMut(u64, Parsed<'_>) -> bool) -> io::Result<()> {
    let limits = Limits { record_bytes: Plan::default().max_document_bytes, body_bytes: Plan::default().max_document_bytes };
    let stored = io::BufReader::new(open::open_regular(path, true)?);
    for item in WarcReader::new(Box::new(stored), limits) {
        if let WarcItem::Content(record) = item? {
            let text = page_text(&record).map_or(Parsed::Missing, |page| Parsed::Text(page.text.into()));
            if !each(record.place.number, text) {
                break;
            }
        }
    }
    Ok(())
}

fn for_each_line(
    path: &Path,
    column: &str,
    mut wanted: impl FnMut(u64) -> bool,
    mut each: impl FnMut(u64, Parsed<'_>) -> bool,
) -> io::Result<()> {
    let fields = FieldReader::new(&[column]);
    let mut reader = open::open(path)?;
    let mut row = Vec::new();
    for number in 1.. {
        row.clear();
        if reader.read_until(b'\n', &mut row)? == 0 {
            break;
        }
        if !wanted(number) {
            continue;
        }
        let bytes = if number == 1 { row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&row) } else { &row };
        let value = fields.read(bytes.trim_ascii()).ok().and_then(|mut found| found.pop());
        if !each(number, value.unwrap_or(Parsed::Missing)) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_in_the_order_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let (rows, page) = (folder.path().join("rows.jsonl"), folder.path().join("page.html"));
        std::fs::write(&rows, "{\"text\":\"one\"}\n\n{\"text\":\"three\"}\n{\"body\":1}\n").unwrap();
        std::fs::write(&page, "<html><p>page").unwrap();
        let place = |path: &Path, record| TextPlace { path: path.into(), record, offset: [0, 0, 0, 16, 33][record as usize] };
        let asked = [
            place(&rows, 3),
            place(&page, 0),
            place(&rows, 1),
            place(&rows, 3),
            place(&rows, 4),
            place(&folder.path().join("gone"), 1),
        ];
        let found = read_texts(&asked, &Columns::default());
        let note = folder.path().join("note.txt");
        std::fs::write(&note, "{\"text\":\"one\"}\nand more\n").unwrap();
        let whole = read_texts(&[place(&note, 0)], &Columns::default());
        assert_eq!(whole, [Some("{\"text\":\"one\"}\nand more\n".into())], "a whole file that begins like rows");
        assert_eq!(found, [Some("three".into()), Some("page".into()), Some("one".into()), Some("three".into()), None, None]);
    }
}
