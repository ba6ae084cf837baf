//! Reading inputs a second time: a field of every row, or the text of one document.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

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

/// Where a document is: what the state table says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPlace {
    /// The file.
    pub path: PathBuf,
    /// The line of a row, from 1; 0 is the whole file.
    pub record: u64,
}

/// The texts of documents, in the order asked for; `None` for those that can't be read any more. Each file is read once.
pub fn read_texts(places: &[TextPlace], columns: &Columns) -> Vec<Option<String>> {
    let mut texts = vec![None; places.len()];
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&at| &places[at]);
    for same_file in order.chunk_by(|&a, &b| places[a].path == places[b].path) {
        let path = &places[same_file[0]].path;
        let wanted: Vec<(u64, usize)> = same_file.iter().map(|&at| (places[at].record, at)).collect();
        for &(_, at) in wanted.iter().filter(|(record, _)| *record == 0) {
            texts[at] = read_whole(path);
        }
        read_rows(path, columns, wanted.into_iter().filter(|(record, _)| *record > 0), &mut texts);
    }
    texts
}

fn read_whole(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open::open_regular(path, true).ok()?.read_to_end(&mut bytes).ok()?;
    crate::extract::extract(&bytes, &path.to_string_lossy()).ok().map(|extracted| extracted.text)
}

/// Fills in the texts of rows, `wanted` by their numbers.
fn read_rows(path: &Path, columns: &Columns, wanted: impl Iterator<Item = (u64, usize)>, texts: &mut [Option<String>]) {
    let fields = FieldReader::new(&[&columns.text]);
    let mut wanted = wanted.peekable();
    // A file that has become unreadable leaves its texts out; the caller shows that.
    let _ = for_each_row(path, |number, row| {
        while let Some((_, at)) = wanted.next_if(|(record, _)| *record == number) {
            texts[at] = match fields.read(row).ok().and_then(|mut found| found.pop()) {
                Some(Parsed::Text(found)) => Some(found.into_owned()),
                _ => None,
            };
        }
        wanted.peek().is_some()
    });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_in_the_order_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let (rows, page) = (folder.path().join("rows.jsonl"), folder.path().join("page.html"));
        std::fs::write(&rows, "{\"text\":\"one\"}\n\n{\"text\":\"three\"}\n{\"body\":1}\n").unwrap();
        std::fs::write(&page, "<html><p>page").unwrap();
        let place = |path: &Path, record| TextPlace { path: path.into(), record };
        let asked = [
            place(&rows, 3),
            place(&page, 0),
            place(&rows, 1),
            place(&rows, 3),
            place(&rows, 4),
            place(&folder.path().join("gone"), 1),
        ];
        let found = read_texts(&asked, &Columns::default());
        assert_eq!(found, [Some("three".into()), Some("page".into()), Some("one".into()), Some("three".into()), None, None]);
    }
}
