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

/// Writes a table.
pub(super) fn write(table: &dyn Table, out: &mut (dyn Write + Send)) -> io::Result<()> {
    write_groups(table, out).map_err(as_io)
}

fn write_groups(table: &dyn Table, out: &mut (dyn Write + Send)) -> Result<()> {
    let mut writer = SerializedFileWriter::new(out, schema(table.columns())?, Arc::new(properties(table.columns())))?;
    for first in (0..table.rows()).step_by(ROW_GROUP) {
        let rows = first..table.rows().min(first + ROW_GROUP);
        table.load(rows.clone()).map_err(|e| ParquetError::External(Box::new(io::Error::other(e))))?;
        let mut group = writer.next_row_group()?;
        let mut at = 0;
        while let Some(mut column) = group.next_column()? {
            for first in rows.clone().step_by(CELLS) {
                let cells = (first..rows.end.min(first + CELLS)).map(|row| table.cell(row, at));
                write_cells(column.untyped(), cells, table.columns()[at].nullable)?;
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

fn write_cells<'a>(writer: &mut ColumnWriter<'_>, cells: impl Iterator<Item = Cell<'a>>, nullable: bool) -> Result<()> {
    let mut levels = Vec::with_capacity(CELLS);
    let (mut texts, mut bools, mut integers, mut reals) = (Texts::default(), Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        levels.push(i16::from(cell != Cell::Null));
        match cell {
            Cell::Null => (),
            Cell::Text(text) => texts.push(text),
            Cell::Bool(value) => bools.push(value),
            Cell::Integer(value) => integers.push(value),
            Cell::Real(value) => reals.push(value),
        }
    }
    let levels = nullable.then_some(levels.as_slice());
    match writer {
        ColumnWriter::ByteArrayColumnWriter(writer) => writer.write_batch(&texts.finish(), levels, None),
        ColumnWriter::BoolColumnWriter(writer) => writer.write_batch(&bools, levels, None),
        ColumnWriter::Int64ColumnWriter(writer) => writer.write_batch(&integers, levels, None),
        ColumnWriter::DoubleColumnWriter(writer) => writer.write_batch(&reals, levels, None),
        _ => Err(ParquetError::General("unexpected column type".into())),
    }
    .map(|_| ())
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
        if let Cow::Borrowed(text) = &text {
            self.recent.resize(1 << RECENT_BITS, (0, 0));
            let address = text.as_ptr() as usize;
            let slot = mix(address as u64) >> (u64::BITS - RECENT_BITS);
            let (known, nth) = &mut self.recent[slot as usize];
            if *known == address
                && let Some(&(start, length)) = self.ranges.get(*nth)
                && length == text.len()
            {
                return self.ranges.push((start, length));
            }
            (*known, *nth) = (address, self.ranges.len());
        }
        self.ranges.push((self.bytes.len(), text.len()));
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn finish(self) -> Vec<ByteArray> {
        let all = ByteArray::from(self.bytes);
        self.ranges.into_iter().map(|(start, length)| all.slice(start, length)).collect()
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
