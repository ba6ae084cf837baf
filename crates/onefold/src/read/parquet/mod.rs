//! Parquet: the wanted columns of every row, and no other column is decoded.

mod cursor;
mod delta;
mod plausible;
mod thrift;

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;

use super::fields::FieldRow;
use super::jsonl::Parsed;
use crate::document::Flags;

/// The rows of a file, wanted fields only.
pub(super) struct ParquetRows {
    rows: RowIter<'static>,
    columns: Vec<String>,
    number: u64,
    /// The last row of each row group, for messages.
    groups: Vec<u64>,
}

impl ParquetRows {
    /// Reads the schema; a file without the first of `columns` is refused, naming the columns it has.
    ///
    /// A page that takes more than `longest` bytes is an error of the kind `OutOfMemory`.
    pub(super) fn new(file: File, columns: &[&str], longest: u64) -> io::Result<Self> {
        let columns: Vec<String> = columns.iter().copied().map(String::from).collect();
        plausible::footer(&file)?;
        let stored = file.try_clone()?;
        let reader = guarded(|| SerializedFileReader::new(file))?.map_err(damaged)?;
        let projection = project(reader.metadata().file_metadata().schema(), &columns)?;
        guarded(|| check_pages(&stored, reader.metadata(), &projection, longest))??;
        let at_once = rows_at_once(reader.metadata(), longest);
        let mut last = 0;
        let rows_of = |group: &RowGroupMetaData| u64::try_from(group.num_rows()).unwrap_or(0);
        let groups = reader.metadata().row_groups().iter().map(|group| {
            last += rows_of(group);
            last
        });
        let groups = groups.collect();
        let rows = guarded(|| RowIter::from_file_into(Box::new(reader)).project(Some(projection)))?.map_err(damaged)?;
        let rows = rows.with_batch_size(at_once);
        Ok(ParquetRows { rows, columns, number: 0, groups })
    }

    /// How many rows the file says it has.
    pub(super) fn total(&self) -> u64 {
        self.groups.last().copied().unwrap_or(0)
    }
}

/// How many rows are decoded together: few enough to take no more than `longest` bytes, if all columns are wanted.
fn rows_at_once(metadata: &ParquetMetaData, longest: u64) -> usize {
    const MOST: u64 = 1024;
    let fitting = |group: &RowGroupMetaData| {
        let (bytes, rows) = (group.total_byte_size().max(1) as u64, group.num_rows().max(1) as u64);
        longest / (bytes / rows).max(1)
    };
    metadata.row_groups().iter().map(fitting).fold(MOST, u64::min).max(1) as usize
}

/// Looks at the pages of the wanted top-level fields before they are decoded. One that takes more than `longest` bytes is refused.
pub(crate) fn check_pages(file: &File, metadata: &ParquetMetaData, wanted: &Type, longest: u64) -> io::Result<()> {
    let is_wanted =
        |path: &[String]| wanted.get_fields().iter().any(|field| Some(field.name()) == path.first().map(String::as_str));
    for (number, group) in metadata.row_groups().iter().enumerate() {
        for column in group.columns().iter().filter(|column| is_wanted(column.column_path().parts())) {
            let checked = check_chunk(file, column, longest);
            let place = || format!("row group {}, column '{}'", number + 1, column.column_path().string());
            checked.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", place())))?;
        }
    }
    Ok(())
}

fn check_chunk(file: &File, column: &ColumnChunkMetaData, longest: u64) -> io::Result<()> {
    let (start, length) = column.byte_range();
    // Only pages in these encodings are worth unpacking twice.
    if plausible::pages(file, start..start.saturating_add(length), longest)? { delta::pages(file, column) } else { Ok(()) }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread, now, is caught and becomes an error: then it need not be shown.
pub fn panic_is_caught() -> bool {
    GUARDED.get()
}

/// A damaged file must not end the run: the decoder's assertions become errors.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done.map_err(|_| cursor::wrong("the file is damaged"))
}

fn damaged(error: ParquetError) -> io::Error {
    cursor::wrong(error.to_string())
}

/// The top-level fields that hold wanted columns.
fn project(schema: &Type, columns: &[String]) -> io::Result<Type> {
    let holds = |name: &str| columns.iter().any(|column| column == name || column.split('.').next() == Some(name));
    let has_first = schema
        .get_fields()
        .iter()
        .any(|field| [&columns[0], columns[0].split('.').next().unwrap_or_default()].contains(&field.name()));
    if !has_first {
        let names: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
        let problem = format!("no column '{}'; the file has: {}", columns[0], names.join(", "));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let wanted = schema.get_fields().iter().filter(|field| holds(field.name())).map(Arc::clone).collect();
    Type::group_type_builder(schema.name()).with_fields(wanted).build().map_err(damaged)
}

impl Iterator for ParquetRows {
    type Item = io::Result<FieldRow>;

    fn next(&mut self) -> Option<io::Result<FieldRow>> {
        self.number += 1;
        let group = self.groups.partition_point(|&last| last < self.number) + 1;
        let failed = |error: &dyn std::fmt::Display| cursor::wrong(format!("row {} (row group {group}): {error}", self.number));
        match guarded(|| self.rows.next()) {
            Err(error) => Some(Err(failed(&error))),
            Ok(None) => None,
            Ok(Some(Err(error))) => Some(Err(failed(&error))),
            Ok(Some(Ok(row))) => {
                let values = self.columns.iter().map(|column| find(&row, column)).collect();
                Some(Ok(FieldRow { values, flags: Flags::default(), offset: 0 }))
            }
        }
    }
}

/// The field named so, or the field inside a field.
fn find(row: &Row, column: &str) -> Parsed<'static> {
    let named = |row: &Row, name: &str| row.get_column_iter().find(|(field, _)| *field == name).map(|(_, field)| field.clone());
    if let Some(field) = named(row, column) {
        return parsed(&field);
    }
    let mut names = column.split('.');
    let mut found = names.next().and_then(|name| named(row, name));
    for name in names {
        found = match found {
            Some(Field::Group(inner)) => named(&inner, name),
            _ => None,
        };
    }
    found.as_ref().map_or(Parsed::Missing, parsed)
}

fn parsed(field: &Field) -> Parsed<'static> {
    match field {
        Field::Null => Parsed::Missing,
        Field::Str(text) => Parsed::Text(Cow::Owned(text.clone())),
        Field::Bytes(bytes) => Parsed::Text(Cow::Owned(String::from_utf8_lossy(bytes.data()).into_owned())),
        Field::Byte(value) => Parsed::Integer((*value).into()),
        Field::Short(value) => Parsed::Integer((*value).into()),
        Field::Int(value) => Parsed::Integer((*value).into()),
        Field::Long(value) => Parsed::Integer((*value).into()),
        Field::UByte(value) => Parsed::Integer((*value).into()),
        Field::UShort(value) => Parsed::Integer((*value).into()),
        Field::UInt(value) => Parsed::Integer((*value).into()),
        Field::ULong(value) => Parsed::Integer((*value).into()),
        Field::Float(value) => Parsed::Real((*value).into()),
        Field::Double(value) => Parsed::Real(*value),
        Field::Date(days) => Parsed::Integer(i128::from(*days) * 86_400),
        Field::TimestampMillis(value) => Parsed::Integer((*value / 1000).into()),
        Field::TimestampMicros(value) => Parsed::Integer((*value / 1_000_000).into()),
        _ => Parsed::Other("another type"),
    }
}
