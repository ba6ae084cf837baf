//! Parquet: the wanted columns of every row, and no other column is decoded.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::errors::ParquetError;
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
}

impl ParquetRows {
    /// Reads the schema; a file without the first of `columns` is refused, naming the columns it has.
    pub(super) fn new(file: File, columns: &[&str]) -> io::Result<Self> {
        let columns: Vec<String> = columns.iter().copied().map(String::from).collect();
        let reader = guarded(|| SerializedFileReader::new(file))?.map_err(damaged)?;
        let projection = project(reader.metadata().file_metadata().schema(), &columns)?;
        let rows = guarded(|| RowIter::from_file_into(Box::new(reader)).project(Some(projection)))?.map_err(damaged)?;
        Ok(ParquetRows { rows, columns, number: 0 })
    }
}

/// A damaged file must not end the run: the decoder's assertions become errors.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| io::Error::other("the file is damaged"))
}

fn damaged(error: ParquetError) -> io::Error {
    io::Error::other(error.to_string())
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
        let failed = |error: &dyn std::fmt::Display| io::Error::other(format!("row {}: {error}", self.number));
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
