//! X13: Parquet pages that hold the number of their values among their values, and lie about it.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::machine::shell;
use crate::place::{Place, text};

/// How a file is written.
struct Form {
    name: &'static str,
    encoding: Encoding,
    version: WriterVersion,
    compression: Compression,
    schema: &'static str,
}

impl Form {
    fn properties(&self) -> WriterProperties {
        WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_encoding(self.encoding)
            .set_writer_version(self.version)
            .set_compression(self.compression)
            .set_data_page_row_count_limit(20)
            .set_write_batch_size(10)
            .build()
    }
}

const REQUIRED: &str = "message m { required binary text (UTF8); }";
const OPTIONAL: &str = "message m { optional binary text (UTF8); }";
const NESTED: &str = "message m { optional group doc { required binary text (UTF8); } }";

/// A column of texts that are there, and, if it may, a null after every third.
fn write(path: &Path, form: &Form, values: &[ByteArray]) {
    let levels: Vec<i16> = (0..values.len()).flat_map(|n| if n % 3 == 2 { vec![1, 0] } else { vec![1] }).collect();
    write_column(path, form.schema, form.properties(), values, (form.schema != REQUIRED).then_some(levels.as_slice()));
}

fn write_column(path: &Path, schema: &str, properties: WriterProperties, values: &[ByteArray], levels: Option<&[i16]>) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

fn texts(count: usize) -> Vec<ByteArray> {
    (0..count).map(|n| ByteArray::from(text(&format!("n{n}x"), 20).into_bytes())).collect()
}

fn forms(compressions: &[(&'static str, Compression)]) -> Vec<(String, Form)> {
    let mut forms = Vec::new();
    for (encoding, encoding_name) in [(Encoding::DELTA_LENGTH_BYTE_ARRAY, "length"), (Encoding::DELTA_BYTE_ARRAY, "bytes")] {
        for (version, version_name) in [(WriterVersion::PARQUET_1_0, "1"), (WriterVersion::PARQUET_2_0, "2")] {
            for (schema, name) in [(REQUIRED, "required"), (OPTIONAL, "optional"), (NESTED, "nested")] {
                for &(packed, compression) in compressions {
                    let form = Form { name, encoding, version, compression, schema };
                    forms.push((format!("{encoding_name}-{version_name}-{name}-{packed}"), form));
                }
            }
        }
    }
    forms
}

fn column(form: &Form) -> &'static str {
    if form.name == "nested" { "doc.text" } else { "text" }
}

#[test]
fn x13_delta_pages_that_do_not_lie_are_read() {
    let packed = [("plain", Compression::UNCOMPRESSED), ("snappy", Compression::SNAPPY)];
    for (name, form) in forms(&packed) {
        let place = Place::new();
        // More than one block of lengths, more than one page.
        write(&place.at("x.parquet"), &form, &texts(300));
        let nulls = if form.schema == REQUIRED { 0 } else { 100 };
        place.scan(&format!("x.parquet --text-column {}", column(&form))).exits(if nulls > 0 { 3 } else { 0 });
        assert_eq!(place.documents().len(), 300, "{name}");
        let skipped = place.skipped();
        assert!(skipped.len() == nulls && skipped.iter().all(|(_, reason)| reason == "missing_text"), "{name}: {skipped:?}");
    }
}

/// One page with lengths in several blocks of several widths, to be walked as the decoder walks them.
#[test]
fn x13_long_delta_pages_are_read() {
    let place = Place::new();
    let values: Vec<ByteArray> = (0..1500_usize)
        .map(|n| ByteArray::from([text("same", n % 7 * (n % 211)), text(&format!("n{n}x"), 5)].join(" ").into_bytes()))
        .collect();
    let properties = WriterProperties::builder().set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BYTE_ARRAY);
    write_column(&place.at("x.parquet"), REQUIRED, properties.build(), &values, None);
    place.scan("x.parquet").exits(0);
    assert_eq!(place.documents().len(), 1500);
}

/// Where lists of so many lengths begin: blocks of 128 in 4 parts, then the count.
fn lists(bytes: &[u8], count: u8) -> Vec<usize> {
    bytes.windows(4).enumerate().filter(|(_, window)| *window == [0x80, 0x01, 4, count]).map(|(at, _)| at).collect()
}

/// The first and the last list of each file with a count of 2³¹-1, in less memory than that takes.
#[test]
fn x13_delta_pages_that_claim_more_are_skipped_by_name() {
    let place = Place::with_documents();
    let mut names = Vec::new();
    for (name, form) in forms(&[("plain", Compression::UNCOMPRESSED)]) {
        if form.name == "nested" {
            continue;
        }
        write(&place.at("good.parquet"), &form, &texts(10));
        let whole = fs::read(place.at("good.parquet")).unwrap();
        let found = lists(&whole, 10);
        assert_eq!(found.len(), if form.encoding == Encoding::DELTA_BYTE_ARRAY { 2 } else { 1 }, "{name}");
        for (number, at) in found.into_iter().enumerate() {
            let mut forged = whole.clone();
            forged[at + 3..at + 8].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0x07]);
            names.push(format!("in/{name}-{number}.parquet"));
            place.write(&names[names.len() - 1], forged);
        }
    }
    shell(place.path(), "ulimit -v 1500000; $ONEFOLD scan in --threads 2 --out out; exit $?").run().exits(3);
    assert_eq!(place.documents().len(), 3);
    let skipped = place.skipped();
    let expected: Vec<_> = names.iter().map(|name| (name.clone(), "damaged".to_string())).collect();
    assert!(expected.iter().all(|one| skipped.contains(one)), "{skipped:?}");
    let remarks = fs::read_to_string(place.at("out/skipped.jsonl")).unwrap();
    let words = "row group 1, column 'text': the lengths of a page are damaged: 2147483647 of them for ";
    assert_eq!(remarks.matches(words).count(), names.len(), "{remarks}");
}

/// Few bytes that are gigabytes of values, each a copy of the one before it.
#[test]
fn x13_delta_values_that_do_not_fit_into_memory_are_skipped() {
    let place = Place::with_documents();
    let long = ByteArray::from(text("long", 200_000).into_bytes());
    // One page, although the writer counts the bytes of all values.
    let properties = WriterProperties::builder().set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BYTE_ARRAY);
    let properties = properties.set_data_page_size_limit(64 << 20).build();
    write_column(&place.at("in/copies.parquet"), REQUIRED, properties, &vec![long; 1000], None);
    shell(place.path(), "ulimit -v 1500000; $ONEFOLD scan in --threads 2 --out out; exit $?").run().exits(3);
    let skipped = place.skipped();
    assert!(skipped.iter().any(|(input, _)| input == "in/copies.parquet"), "{skipped:?}");
    assert!(fs::read_to_string(place.at("out/skipped.jsonl")).unwrap().contains("do not fit into memory"));
}
