//! Parquet: the kept rows of every column, level by level; schema, key-value metadata and codecs are those of the original.
//!
//! Row groups stay row groups, so none is larger than it was. Of a column only some rows are held at a time.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::Job;
use super::output::Output;
use crate::document::Locator;
use crate::error::{Error, Result};
use crate::read::{Reopened, check_pages, guarded};

/// Bytes of a column that are held at a time, as far as the size of its rows can be guessed.
const HELD: u64 = 8 << 20;
/// Rows that are held at a time, however small they are.
const MOST_ROWS: u64 = 4096;

/// Copies the kept rows.
pub(super) fn copy(job: &Job<'_>, reopened: &Reopened, mut output: Output) -> Result<Output> {
    let stored = reopened.stored().map_err(|e| job.changed(e))?;
    let copied = guarded(|| copy_groups(job, stored, output.file()?)).map_err(|e| job.unreadable(e))?;
    match copied {
        Ok(()) => Ok(output),
        Err(Failure::Read(e)) => Err(job.unreadable(e)),
        Err(Failure::Write(e)) => Err(output.failed(e)),
        Err(Failure::Other(e)) => Err(e),
    }
}

/// Which side failed.
enum Failure {
    Read(ParquetError),
    Write(io::Error),
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

fn unwritten(error: ParquetError) -> Failure {
    Failure::Write(crate::report::parquet::as_io(error))
}

fn copy_groups(job: &Job<'_>, stored: std::fs::File, out: &mut (dyn Write + Send)) -> std::result::Result<(), Failure> {
    let pages = stored.try_clone().map_err(|e| job.changed(e))?;
    let reader = SerializedFileReader::new(stored).map_err(Failure::Read)?;
    let metadata = reader.metadata();
    // Of most columns nothing has been looked at so far.
    check_pages(&pages, metadata, metadata.file_metadata().schema(), u64::MAX).map_err(|e| job.unreadable(e))?;
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties(metadata))).map_err(unwritten)?;
    let (mut first, mut left) = (1, job.kept);
    for at in 0..metadata.num_row_groups() {
        let rows = first..first + u64::try_from(metadata.row_group(at).num_rows()).unwrap_or(0);
        let (kept, later) = left.split_at(left.partition_point(|place| place.record < rows.end));
        if !kept.is_empty() {
            let group = reader.get_row_group(at).map_err(Failure::Read)?;
            let mut to = writer.next_row_group().map_err(unwritten)?;
            copy_group(job, &*group, &rows, kept, &mut to)?;
            to.close().map_err(unwritten)?;
        }
        (first, left) = (rows.end, later);
    }
    match left.first() {
        Some(place) => Err(job.moved(place.record).into()),
        None => writer.close().map(|_| ()).map_err(unwritten),
    }
}

/// What the writer is told so that the file is like the original.
fn properties(metadata: &ParquetMetaData) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_created_by("onefold".into())
        .set_key_value_metadata(metadata.file_metadata().key_value_metadata().cloned());
    if let Some(group) = metadata.row_groups().first() {
        // Rows keep their order.
        builder = builder.set_sorting_columns(group.sorting_columns().cloned());
        for column in group.columns() {
            builder = builder.set_column_compression(column.column_path().clone(), column.compression());
        }
    }
    builder.build()
}

fn copy_group<W: Write + Send>(
    job: &Job<'_>,
    group: &dyn RowGroupReader,
    rows: &Range<u64>,
    kept: &[Locator],
    to: &mut SerializedRowGroupWriter<'_, W>,
) -> std::result::Result<(), Failure> {
    let mut at = 0;
    while let Some(mut column) = to.next_column().map_err(unwritten)? {
        let from = group.get_column_reader(at).map_err(Failure::Read)?;
        let filter = Filter { job, rows: rows.clone(), kept, about: group.metadata().column(at) };
        filter.column(from, column.untyped())?;
        column.close().map_err(unwritten)?;
        at += 1;
    }
    Ok(())
}

/// A column of a row group, of which some rows are kept.
struct Filter<'a> {
    job: &'a Job<'a>,
    rows: Range<u64>,
    kept: &'a [Locator],
    about: &'a ColumnChunkMetaData,
}

impl Filter<'_> {
    fn column(&self, from: ColumnReader, to: &mut ColumnWriter<'_>) -> std::result::Result<(), Failure> {
        use {ColumnReader as R, ColumnWriter as W};
        match (from, to) {
            (R::BoolColumnReader(from), W::BoolColumnWriter(to)) => self.values(from, to),
            (R::Int32ColumnReader(from), W::Int32ColumnWriter(to)) => self.values(from, to),
            (R::Int64ColumnReader(from), W::Int64ColumnWriter(to)) => self.values(from, to),
            (R::Int96ColumnReader(from), W::Int96ColumnWriter(to)) => self.values(from, to),
            (R::FloatColumnReader(from), W::FloatColumnWriter(to)) => self.values(from, to),
            (R::DoubleColumnReader(from), W::DoubleColumnWriter(to)) => self.values(from, to),
            (R::ByteArrayColumnReader(from), W::ByteArrayColumnWriter(to)) => self.values(from, to),
            (R::FixedLenByteArrayColumnReader(from), W::FixedLenByteArrayColumnWriter(to)) => self.values(from, to),
            _ => Err(Error::Bug("a column is read as one type and written as another".into()).into()),
        }
    }

    fn values<T: DataType>(
        &self,
        mut from: ColumnReaderImpl<T>,
        to: &mut ColumnWriterImpl<'_, T>,
    ) -> std::result::Result<(), Failure> {
        let descriptor = self.about.column_descr();
        let mut batch = Batch::<T>::new(descriptor.max_def_level(), descriptor.max_rep_level());
        let mut row = self.rows.start;
        while row < self.rows.end {
            self.job.exec.check()?;
            let most = self.rows_at_once().min(self.rows.end - row);
            let found = batch.read(&mut from, most as usize).map_err(Failure::Read)?;
            if found == 0 {
                return Err(self.job.changed(format_args!("column '{}' ends early", self.about.column_path().string())).into());
            }
            let after = row + found as u64;
            let kept = &self.kept[self.kept.partition_point(|p| p.record < row)..self.kept.partition_point(|p| p.record < after)];
            batch.retain(kept.iter().map(|place| (place.record - row) as usize));
            batch.write(to).map_err(unwritten)?;
            row = after;
        }
        Ok(())
    }

    fn rows_at_once(&self) -> u64 {
        let bytes = u64::try_from(self.about.uncompressed_size()).unwrap_or(0) / (self.rows.end - self.rows.start).max(1);
        (HELD / bytes.max(1)).clamp(1, MOST_ROWS)
    }
}

/// Some rows of a column: a level for each value or null, and the values.
struct Batch<T: DataType> {
    /// The definition level of a value that is there.
    full: i16,
    has_repetition: bool,
    definition: Vec<i16>,
    repetition: Vec<i16>,
    values: Vec<T::T>,
}

impl<T: DataType> Batch<T> {
    fn new(full: i16, repetition: i16) -> Self {
        let has_repetition = repetition > 0;
        Batch { full, has_repetition, definition: Vec::new(), repetition: Vec::new(), values: Vec::new() }
    }

    /// Reads so many rows, whole ones; says how many there were.
    fn read(&mut self, from: &mut ColumnReaderImpl<T>, most: usize) -> parquet::errors::Result<usize> {
        self.definition.clear();
        self.repetition.clear();
        self.values.clear();
        let definition = (self.full > 0).then_some(&mut self.definition);
        let repetition = self.has_repetition.then_some(&mut self.repetition);
        from.read_records(most, definition, repetition, &mut self.values).map(|(rows, ..)| rows)
    }

    /// Drops all rows but these, which are given in order and counted from 0.
    fn retain(&mut self, kept: impl Iterator<Item = usize>) {
        let levels = if self.full > 0 { self.definition.len() } else { self.values.len() };
        let mut kept = kept.peekable();
        let (mut row, mut value, mut to_level, mut to_value) = (None, 0, 0, 0);
        for level in 0..levels {
            if !self.has_repetition || self.repetition[level] == 0 {
                row = Some(row.map_or(0, |row: usize| row + 1));
                while kept.next_if(|&kept| Some(kept) < row).is_some() {}
            }
            let (is_kept, has_value) = (kept.peek().copied() == row, self.full == 0 || self.definition[level] == self.full);
            if is_kept {
                for levels in [&mut self.definition, &mut self.repetition].into_iter().filter(|levels| !levels.is_empty()) {
                    levels[to_level] = levels[level];
                }
                to_level += 1;
            }
            if is_kept && has_value {
                self.values.swap(to_value, value);
                to_value += 1;
            }
            value += usize::from(has_value);
        }
        self.definition.truncate(to_level);
        self.repetition.truncate(to_level);
        self.values.truncate(to_value);
    }

    fn write(&self, to: &mut ColumnWriterImpl<'_, T>) -> parquet::errors::Result<()> {
        let definition = (self.full > 0).then_some(self.definition.as_slice());
        let repetition = self.has_repetition.then_some(self.repetition.as_slice());
        to.write_batch(&self.values, definition, repetition).map(|_| ())
    }
}
