//! `--write-kept` and Parquet: the same schema, metadata and codecs, and the kept rows value for value.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::metadata::{KeyValue, ParquetMetaData, SortingColumn};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Row;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::kept::{kept_records, scans_clean};
use crate::machine;
use crate::place::{Place, text};

/// Every physical type, nulls, lists (of lists), maps and groups.
const SCHEMA: &str = "message everything {
    required binary id (UTF8);
    required binary text (UTF8);
    required boolean flag;
    optional int32 small (INTEGER(16, true));
    optional int64 time (TIMESTAMP(MICROS, true));
    optional int96 old_time;
    optional float single;
    optional double score;
    optional fixed_len_byte_array(3) code;
    optional group tags (LIST) { repeated group list { optional binary element (UTF8); } }
    optional group matrix (LIST) { repeated group list {
        optional group element (LIST) { repeated group list { optional int32 element; } } } }
    optional group counts (MAP) { repeated group key_value { required binary key (UTF8); optional int32 value; } }
    optional group meta { optional binary url (UTF8); required group deep { repeated double n; } }
}";

/// What a column holds in a row: (definition, repetition) for each value or null, and how many values that are.
fn levels(column: usize, row: usize) -> Vec<(i16, i16)> {
    match column {
        0..=2 => vec![(0, 0)],
        3..=8 => vec![(i16::from(!(row + column).is_multiple_of(3)), 0)],
        // A list: null, empty, with a null in it, with three elements.
        9 => [vec![(0, 0)], vec![(1, 0)], vec![(2, 0), (3, 1)], vec![(3, 0), (3, 1), (3, 1)]][row % 4].clone(),
        10 => {
            let rows =
                [vec![(0, 0)], vec![(1, 0)], vec![(2, 0), (3, 1), (4, 1), (5, 2)], vec![(5, 0), (5, 2), (5, 1), (4, 2), (2, 1)]];
            rows[row % 4].clone()
        }
        // Keys and values of a map go together.
        11 => [vec![(0, 0)], vec![(1, 0)], vec![(2, 0), (2, 1)]][row % 3].clone(),
        12 => [vec![(0, 0)], vec![(1, 0)], vec![(3, 0), (2, 1)]][row % 3].clone(),
        13 => vec![([0, 1, 2][row % 3], 0)],
        _ => [vec![(0, 0)], vec![(1, 0)], vec![(2, 0), (2, 1)]][row % 3].clone(),
    }
}

/// The level of a value that is there.
const FULL: [i16; 15] = [0, 0, 0, 1, 1, 1, 1, 1, 1, 3, 5, 2, 3, 2, 2];

fn write_column(writer: &mut ColumnWriter<'_>, column: usize, rows: std::ops::Range<usize>) {
    let all: Vec<(usize, (i16, i16))> =
        rows.flat_map(|row| levels(column, row).into_iter().map(move |level| (row, level))).collect();
    let definition: Vec<i16> = all.iter().map(|(_, (definition, _))| *definition).collect();
    let repetition: Vec<i16> = all.iter().map(|(_, (_, repetition))| *repetition).collect();
    // A number that is different for every value.
    let numbers: Vec<usize> =
        (0..).zip(&all).filter(|(_, (_, level))| level.0 == FULL[column]).map(|(at, (row, _))| row * 31 + at).collect();
    let rows: Vec<usize> = all.iter().filter(|(_, level)| level.0 == FULL[column]).map(|(row, _)| *row).collect();
    let bytes = |text: String| ByteArray::from(text.into_bytes());
    let (d, r) = (Some(definition.as_slice()), Some(repetition.as_slice()));
    let written = match writer {
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            let values: Vec<ByteArray> = match column {
                0 => rows.iter().map(|row| bytes(format!("id{row:04}"))).collect(),
                // Of five rows the second is a copy of the first.
                1 => {
                    rows.iter().map(|row| bytes(text(&format!("n{}x", if row % 5 == 1 { row - 1 } else { *row }), 30))).collect()
                }
                _ => numbers.iter().map(|n| bytes(format!("v{n}"))).collect(),
            };
            writer.write_batch(&values, d, r)
        }
        ColumnWriter::BoolColumnWriter(writer) => {
            writer.write_batch(&numbers.iter().map(|n| n % 2 == 0).collect::<Vec<_>>(), d, r)
        }
        ColumnWriter::Int32ColumnWriter(writer) => {
            writer.write_batch(&numbers.iter().map(|n| -(*n as i32)).collect::<Vec<_>>(), d, r)
        }
        ColumnWriter::Int64ColumnWriter(writer) => {
            writer.write_batch(&numbers.iter().map(|n| *n as i64 * 1_000_000_007).collect::<Vec<_>>(), d, r)
        }
        ColumnWriter::Int96ColumnWriter(writer) => {
            let values: Vec<Int96> = numbers.iter().map(|n| Int96::from(vec![*n as u32, 7, 2_440_588])).collect();
            writer.write_batch(&values, d, r)
        }
        ColumnWriter::FloatColumnWriter(writer) => {
            writer.write_batch(&numbers.iter().map(|n| *n as f32 / 3.0).collect::<Vec<_>>(), d, r)
        }
        ColumnWriter::DoubleColumnWriter(writer) => {
            writer.write_batch(&numbers.iter().map(|n| *n as f64 / 7.0).collect::<Vec<_>>(), d, r)
        }
        ColumnWriter::FixedLenByteArrayColumnWriter(writer) => {
            let code = |n: &usize| FixedLenByteArray::from(vec![*n as u8, (*n >> 8) as u8, 255]);
            writer.write_batch(&numbers.iter().map(code).collect::<Vec<_>>(), d, r)
        }
    };
    written.unwrap();
}

fn metadata() -> Vec<KeyValue> {
    vec![
        KeyValue::new("ARROW:schema".to_string(), "/////+gAAAAQAAAA".to_string()),
        KeyValue::new("pandas".to_string(), "{\"index_columns\": []}".to_string()),
        KeyValue { key: "empty".into(), value: None },
    ]
}

fn write(path: &Path, groups: &[usize], version: WriterVersion, compression: Compression, dictionary: bool) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let sorted = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(compression)
        .set_column_compression(ColumnPath::from("id"), Compression::UNCOMPRESSED)
        .set_dictionary_enabled(dictionary)
        .set_key_value_metadata(Some(metadata()))
        .set_sorting_columns(Some(vec![sorted]))
        .set_data_page_row_count_limit(37)
        .build();
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
    let mut first = 0;
    for rows in groups {
        let mut group = writer.next_row_group().unwrap();
        let mut column = 0;
        while let Some(mut open) = group.next_column().unwrap() {
            write_column(open.untyped(), column, first..first + rows);
            open.close().unwrap();
            column += 1;
        }
        group.close().unwrap();
        first += rows;
    }
    writer.close().unwrap();
}

fn read(path: &Path) -> (Vec<Row>, ParquetMetaData) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
    (rows, reader.metadata().clone())
}

#[track_caller]
fn same_but_for_removed_rows(place: &Place, name: &str) {
    let (rows, before) = read(&place.at(name));
    let (found, after) = read(&place.at(format!("kept/{name}")));
    let kept = kept_records(place, name);
    let expected: Vec<Row> = kept.iter().map(|&record| rows[record as usize - 1].clone()).collect();
    assert!(!kept.is_empty() && kept.len() < rows.len());
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.to_string(), expected.to_string());
    }
    let (before_file, after_file) = (before.file_metadata(), after.file_metadata());
    assert_eq!(after_file.schema(), before_file.schema());
    assert_eq!(after_file.key_value_metadata(), before_file.key_value_metadata());
    for group in after.row_groups() {
        assert_eq!(group.sorting_columns(), before.row_group(0).sorting_columns());
        let codecs = |group: &parquet::file::metadata::RowGroupMetaData| -> Vec<String> {
            group.columns().iter().map(|column| format!("{:?}", column.compression())).collect()
        };
        assert_eq!(codecs(group), codecs(before.row_group(0)));
    }
}

#[test]
fn every_type_and_nesting_is_kept_value_for_value() {
    let zstd = Compression::ZSTD(Default::default());
    let gzip = Compression::GZIP(Default::default());
    for (version, compression, dictionary) in [
        (WriterVersion::PARQUET_1_0, Compression::SNAPPY, true),
        (WriterVersion::PARQUET_1_0, gzip, false),
        (WriterVersion::PARQUET_1_0, Compression::LZ4_RAW, true),
        (WriterVersion::PARQUET_1_0, Compression::LZ4, true),
        (WriterVersion::PARQUET_2_0, zstd, true),
        (WriterVersion::PARQUET_2_0, Compression::UNCOMPRESSED, false),
    ] {
        let place = Place::new();
        write(&place.at("x.parquet"), &[100, 1, 250], version, compression, dictionary);
        place.scan("x.parquet --write-kept kept").exits(0);
        same_but_for_removed_rows(&place, "x.parquet");
        scans_clean(&place, "kept");
        let again = place.result("second").documents().unwrap();
        let kept: Vec<String> = place.documents().into_iter().filter(|(_, row)| row.truth("keep")).map(|(id, _)| id).collect();
        assert_eq!(again.iter().map(|row| row.text("id").to_string()).collect::<Vec<_>>(), kept);
    }
}

/// More rows than are held at a time, and a row group that goes.
#[test]
fn many_rows_and_a_group_without_any_kept() {
    let place = Place::new();
    write(&place.at("x.parquet"), &[9_999, 1], WriterVersion::PARQUET_1_0, Compression::SNAPPY, true);
    // Its score makes it the better copy of the last row.
    place.write("other.jsonl", serde_json::json!({ "id": "x", "text": text("n9999x", 30), "score": 1e9 }).to_string());
    place.scan("x.parquet other.jsonl --write-kept kept").exits(0);
    let groups = read(&place.at("kept/x.parquet")).1.row_groups().len();
    assert_eq!(groups, 1, "a group of which nothing is kept is left out");
    same_but_for_removed_rows(&place, "x.parquet");
}

#[test]
fn a_real_table_loses_only_removed_rows() {
    let Some(revisions) = machine::shared("revisions_sitepolicy") else { return };
    let place = Place::new();
    std::fs::copy(revisions.join("docs.parquet"), place.at("docs.parquet")).unwrap();
    place.scan("docs.parquet --write-kept kept").exits(0);
    same_but_for_removed_rows(&place, "docs.parquet");
    scans_clean(&place, "kept");
}
