//! X13: Parquet files that were made to hurt. Each costs itself alone, is named with what is wrong, and takes no memory it only claims.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::machine::shell;
use crate::place::{Place, text};

/// Two columns, `text` and `other`, of so many rows.
fn write(path: &Path, compression: Compression, dictionary: bool, rows: usize) {
    let schema = parse_message_type("message m { required binary text (UTF8); required binary other (UTF8); }").unwrap();
    let properties = WriterProperties::builder().set_compression(compression).set_dictionary_enabled(dictionary).build();
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), Arc::new(schema), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let values: Vec<ByteArray> = (0..rows).map(|n| ByteArray::from(text(&format!("n{n}x"), 20).into_bytes())).collect();
    while let Some(mut column) = group.next_column().unwrap() {
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A number as a field, one after the field before it.
fn number(value: i64) -> Vec<u8> {
    [vec![0x15], varint((value << 1 ^ value >> 63) as u64)].concat()
}

enum Kind {
    Data { values: i64 },
    Dictionary { entries: i64 },
}

fn page_header(kind: &Kind, unpacked: i64, packed: i64) -> Vec<u8> {
    let sizes = [number(unpacked), number(packed)].concat();
    match kind {
        Kind::Data { values } => {
            [number(0), sizes, vec![0x2c], number(*values), number(0), number(3), number(3), vec![0, 0]].concat()
        }
        Kind::Dictionary { entries } => [number(2), sizes, vec![0x4c], number(*entries), number(0), vec![0, 0]].concat(),
    }
}

/// Replaces the first page of a column by one that claims so much; its size stays, so that the footer still fits.
fn forge(path: &Path, column: usize, kind: &Kind, unpacked: impl Fn(i64) -> i64) {
    let (start, end) = {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let chunk = reader.metadata().row_group(0).column(column).clone();
        let all = chunk.byte_range();
        match kind {
            Kind::Dictionary { .. } => (chunk.dictionary_page_offset().unwrap() as usize, chunk.data_page_offset() as usize),
            Kind::Data { .. } => (all.0 as usize, (all.0 + all.1) as usize),
        }
    };
    let mut bytes = fs::read(path).unwrap();
    let header = (0..(end - start) as i64)
        .map(|packed| (packed, page_header(kind, unpacked(packed), packed)))
        .find(|(packed, header)| header.len() + *packed as usize == end - start);
    let (_, header) = header.unwrap();
    bytes[start..start + header.len()].copy_from_slice(&header);
    fs::write(path, bytes).unwrap();
}

fn with_footer(footer: &[u8]) -> Vec<u8> {
    [b"PAR1", footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

/// A schema with a text column, then what follows the number of rows.
fn footer(children: i64, rest: &[u8]) -> Vec<u8> {
    let root = [vec![0x48, 1, b'm'], number(children), vec![0]].concat();
    let column = [number(6), vec![0x25, 0], b"\x18\x04text\x00".to_vec()].concat();
    [number(1), vec![0x19, 0x2c], root, column, vec![0x16, 2], rest.to_vec(), vec![0]].concat()
}

fn list(size: u64) -> Vec<u8> {
    [vec![0x19, 0xfc], varint(size)].concat()
}

/// Each in a folder with three good documents, with less memory than it claims.
#[test]
fn x13_hostile_files_are_skipped_by_name() {
    let place = Place::with_documents();
    let good = place.at("good.parquet");
    write(&good, Compression::UNCOMPRESSED, false, 50);
    let whole = fs::read(&good).unwrap();
    let at = |name: &str| place.at(format!("in/{name}.parquet"));
    let huge = i64::from(i32::MAX);
    place.write("in/list.parquet", with_footer(&[0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0, 0]));
    place.write("in/cut.parquet", &whole[..whole.len() - 40]);
    place.write("in/footer-cut.parquet", [&whole[..whole.len() - 60], &whole[whole.len() - 8..]].concat());
    let mut longer = whole.clone();
    longer[whole.len() - 8..whole.len() - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    place.write("in/footer-long.parquet", longer);
    place.write("in/groups.parquet", with_footer(&footer(1, &list(i32::MAX as u64))));
    place.write("in/groups-real.parquet", with_footer(&footer(1, &[list(40_000), vec![0; 40_000]].concat())));
    place.write("in/groups-negative.parquet", with_footer(&footer(1, &list(1 << 31))));
    place.write("in/children.parquet", with_footer(&footer(huge, &list(0))));
    let nested = [vec![0x48, 1, b'm'], number(1), vec![0]].concat().repeat(50_000);
    place.write(
        "in/deep.parquet",
        with_footer(&[number(1), vec![0x19, 0xfc], varint(50_000), nested, vec![0x16, 2, 0x19, 0x0c, 0]].concat()),
    );
    place.write("in/structures.parquet", with_footer(&[0x1c; 100_000]));
    write(&at("dictionary"), Compression::UNCOMPRESSED, true, 50);
    forge(&at("dictionary"), 0, &Kind::Dictionary { entries: huge }, |packed| packed);
    write(&at("dictionary-short"), Compression::UNCOMPRESSED, true, 50);
    forge(&at("dictionary-short"), 0, &Kind::Dictionary { entries: 2 }, |packed| packed);
    write(&at("dictionary-negative"), Compression::UNCOMPRESSED, true, 50);
    forge(&at("dictionary-negative"), 0, &Kind::Dictionary { entries: -1 }, |packed| packed);
    for (name, compression) in [
        ("snappy", Compression::SNAPPY),
        ("zstd", Compression::ZSTD(Default::default())),
        ("gzip", Compression::GZIP(Default::default())),
        ("lz4", Compression::LZ4_RAW),
    ] {
        write(&at(name), compression, false, 50);
        forge(&at(name), 0, &Kind::Data { values: 50 }, |_| huge);
    }
    write(&at("negative"), Compression::SNAPPY, false, 50);
    forge(&at("negative"), 0, &Kind::Data { values: 50 }, |_| -1);
    let files: Vec<String> = place.listing("in").into_iter().filter(|name| name.ends_with(".parquet")).collect();
    let command = "ulimit -v 1500000; $ONEFOLD scan in --threads 2 --out out; exit $?";
    shell(place.path(), command).run().exits(3);
    assert_eq!(place.documents().len(), 3);
    let skipped = place.skipped();
    for name in files {
        let reason = skipped.iter().find(|(input, _)| *input == format!("in/{name}")).map(|(_, reason)| reason.as_str());
        assert!(matches!(reason, Some("damaged")), "{name}: {skipped:?}");
        // Named on the command line, it is the whole input.
        let command = format!("ulimit -v 1500000; $ONEFOLD scan in/{name} --threads 2 --out alone; exit $?");
        shell(place.path(), &command).run().exits(4).says(&[&format!("in/{name}")]);
    }
    let remarks = fs::read_to_string(place.at("out/skipped.jsonl")).unwrap();
    for words in [
        "row group 1, column 'text': a bomb",
        "a list of 2147483647 items",
        "40000 row groups",
        "a dictionary of 2147483647 entries",
        "row 1 (row group 1)",
    ] {
        assert!(remarks.contains(words), "'{words}' is not in {remarks}");
    }
}

/// A page too large for memory is no bomb if it is really that large; still it must not end the process.
#[test]
fn x13_a_page_that_does_not_fit_into_memory_is_skipped() {
    let place = Place::with_documents();
    let path = place.at("in/large.parquet");
    write(&path, Compression::SNAPPY, false, 50_000);
    forge(&path, 0, &Kind::Data { values: 50_000 }, |packed| (packed * 700).min(i32::MAX.into()));
    shell(place.path(), "ulimit -v 1000000; $ONEFOLD scan in --threads 2 --out out; exit $?").run().exits(3);
    let skipped = place.skipped();
    assert!(skipped.iter().any(|(input, _)| input == "in/large.parquet"), "{skipped:?}");
    assert!(fs::read_to_string(place.at("out/skipped.jsonl")).unwrap().contains("do not fit into memory"));
}

#[test]
fn x13_a_schema_without_text_says_what_it_has() {
    let place = Place::new();
    write(&place.at("x.parquet"), Compression::SNAPPY, true, 5);
    place.scan("x.parquet --text-column body").exits(4).says(&["x.parquet", "missing_text", "no column 'body'", "text, other"]);
}

/// A column that the scan had no reason to read: the kept documents can't be copied, and that is said.
#[test]
fn x13_a_hostile_column_beside_the_text_is_no_danger() {
    let place = Place::with_documents();
    write(&place.at("in/x.parquet"), Compression::SNAPPY, false, 50);
    forge(&place.at("in/x.parquet"), 1, &Kind::Data { values: 50 }, |_| i64::from(i32::MAX));
    place.scan("in").exits(0);
    let before = place.listing("");
    let command = "ulimit -v 1500000; $ONEFOLD scan in --threads 2 --out other --write-kept kept; exit $?";
    shell(place.path(), command).run().exits(5).says(&["E0504", "in/x.parquet", "column 'other'", "a bomb"]);
    assert_eq!(place.listing(""), before);
}

/// Every byte of a small file wrong in two ways.
#[test]
fn x13_no_flipped_byte_ends_the_run() {
    let place = Place::with_documents();
    for (kind, dictionary) in [("plain", false), ("dictionary", true)] {
        write(&place.at("good.parquet"), Compression::UNCOMPRESSED, dictionary, 2);
        let whole = fs::read(place.at("good.parquet")).unwrap();
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= [0xff, 0x10][at % 2];
            place.write(&format!("in/{kind}-{at}.parquet"), flipped);
        }
    }
    let command = "ulimit -v 1500000; $ONEFOLD scan in --threads 2 --out out --no-report; exit $?";
    shell(place.path(), command).run().exits(3);
}
