//! Parquet through the column writers of the `parquet` crate: four types do not need Arrow's tree of crates.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use super::format::Row;
use super::table::{Cell, Column, Kind, Table};
use crate::shingle::hash::mix;

/// Rows held in memory at a time.
const ROW_GROUP: usize = 1 << 16;
/// Cells that are handed to a column at a time: few enough to stay in the cache.
const CELLS: usize = 1 << 12;

/// Writes a table. Made for each kind of table: there are tens of millions of cells, and a call for each costs more than its value.
pub(super) fn write<T: Table + ?Sized>(table: &T, out: &mut (dyn Write + Send)) -> io::Result<()> {
    write_groups(table, out).map_err(as_io)
}

fn write_groups<T: Table + ?Sized>(table: &T, out: &mut (dyn Write + Send)) -> Result<()> {
    let mut writer = SerializedFileWriter::new(out, schema(table.columns())?, Arc::new(properties(table.columns())))?;
    for first in (0..table.rows()).step_by(ROW_GROUP) {
        let rows = first..table.rows().min(first + ROW_GROUP);
        table.load(rows.clone()).map_err(|e| ParquetError::External(Box::new(io::Error::other(e))))?;
        let mut group = writer.next_row_group()?;
        let (mut at, mut cells) = (0, Cells::default());
        while let Some(mut column) = group.next_column()? {
            for first in rows.clone().step_by(CELLS) {
                let some = first..rows.end.min(first + CELLS);
                some.for_each(|row| cells.push(table.cell(row, at)));
                cells.write(column.untyped(), table.columns()[at].nullable)?;
            }
            column.close()?;
            at += 1;
        }
        group.close()?;
    }
    writer.close().map(|_| ())
}

/// Rows are in the order of the first column: its least and greatest texts lead to a row. Those of others lead nowhere, and take time.
fn properties(columns: &[Column]) -> WriterProperties {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).set_created_by("onefold".into());
    let unordered = columns.iter().skip(1).filter(|column| column.kind == Kind::Text);
    unordered
        .fold(properties, |properties, column| {
            properties.set_column_statistics_enabled(ColumnPath::from(column.name), EnabledStatistics::None)
        })
        .build()
}

fn schema(columns: &[Column]) -> Result<TypePtr> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Bool => (Physical::BOOLEAN, None),
            Kind::Integer => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
        };
        let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(column.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>>>()?;
    Type::group_type_builder("onefold").with_fields(fields).build().map(Arc::new)
}

/// Cells of one column that are not yet written; one of the lists has the values, but for nulls.
#[derive(Default)]
struct Cells {
    /// One for each cell: 0 for a null, 1 for a value.
    levels: Vec<i16>,
    texts: Texts,
    bools: Vec<bool>,
    integers: Vec<i64>,
    reals: Vec<f64>,
}

impl Cells {
    #[inline]
    fn push(&mut self, cell: Cell<'_>) {
        self.levels.push(i16::from(!matches!(cell, Cell::Null)));
        match cell {
            Cell::Null => (),
            Cell::Text(text) => self.texts.push(text),
            Cell::Bool(value) => self.bools.push(value),
            Cell::Integer(value) => self.integers.push(value),
            Cell::Real(value) => self.reals.push(value),
        }
    }

    /// Writes all, and is empty again.
    fn write(&mut self, writer: &mut ColumnWriter<'_>, nullable: bool) -> Result<()> {
        let levels = nullable.then_some(self.levels.as_slice());
        match writer {
            ColumnWriter::ByteArrayColumnWriter(writer) => writer.write_batch(&self.texts.take(), levels, None),
            ColumnWriter::BoolColumnWriter(writer) => writer.write_batch(&self.bools, levels, None),
            ColumnWriter::Int64ColumnWriter(writer) => writer.write_batch(&self.integers, levels, None),
            ColumnWriter::DoubleColumnWriter(writer) => writer.write_batch(&self.reals, levels, None),
            _ => Err(ParquetError::General("unexpected column type".into())),
        }?;
        self.levels.clear();
        self.bools.clear();
        self.integers.clear();
        self.reals.clear();
        Ok(())
    }
}

/// Texts of a column, one behind the other: memory of its own for each cell would cost more than the writing. Rows name the same few
/// documents again and again, so a text that was there lately is not copied again.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    /// Where each begins, and its length.
    ranges: Vec<(usize, usize)>,
    /// By its address: where a borrowed text lies, and its number.
    recent: Vec<(usize, usize)>,
}

/// As many texts as these bits can tell apart are looked for among those of before.
const RECENT_BITS: u32 = 10;

impl Texts {
    fn push(&mut self, text: Cow<'_, str>) {
        if let Cow::Borrowed(text) = &text
            && let Some(range) = self.known(text)
        {
            return self.ranges.push(range);
        }
        self.ranges.push((self.bytes.len(), text.len()));
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Where the text is already, if it was there lately; otherwise it will be the next.
    fn known(&mut self, text: &str) -> Option<(usize, usize)> {
        if self.recent.is_empty() {
            self.recent.resize(1 << RECENT_BITS, (0, 0));
        }
        let address = text.as_ptr() as usize;
        let slot = mix(address as u64) >> (u64::BITS - RECENT_BITS);
        let (known, nth) = std::mem::replace(&mut self.recent[slot as usize], (address, self.ranges.len()));
        let &(start, length) = self.ranges.get(nth)?;
        (known == address && length == text.len()).then_some((start, length))
    }

    /// All texts; nothing is left. The next will be about as long.
    fn take(&mut self) -> Vec<ByteArray> {
        let room = Vec::with_capacity(self.bytes.len());
        let all = ByteArray::from(std::mem::replace(&mut self.bytes, room));
        self.recent.clear();
        self.ranges.drain(..).map(|(start, length)| all.slice(start, length)).collect()
    }
}

/// Reads a table.
pub(super) fn read(path: &Path) -> io::Result<Vec<Row>> {
    let reader = SerializedFileReader::new(File::open(path)?).map_err(as_io)?;
    let rows = reader.get_row_iter(None).map_err(as_io)?;
    rows.map(|row| row.map(|row| as_row(&row)).map_err(as_io)).collect()
}

fn as_row(row: &parquet::record::Row) -> Row {
    let value = |field: &Field| match field {
        Field::Null => None,
        Field::Str(text) => Some(text.clone()),
        Field::Bytes(bytes) => Some(String::from_utf8_lossy(bytes.data()).into_owned()),
        Field::Double(value) => Some(value.to_string()),
        other => Some(other.to_string()),
    };
    Row(row.get_column_iter().filter_map(|(name, field)| Some((name.clone(), value(field)?))).collect())
}

pub(super) fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
