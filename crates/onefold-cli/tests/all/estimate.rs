//! `scan --estimate`: what it predicts is near what comes, and it leaves nothing behind.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::machine::{shared, shell};
use crate::place::{Place, row, text};

/// The estimate of an input as JSON; nothing may be there afterwards that was not there before.
fn estimate(place: &Place, input: &Path, options: &str) -> Value {
    let before = place.listing("");
    let words = ["scan".as_ref(), input.as_os_str(), "--estimate".as_ref(), "--json".as_ref()];
    let ran = place.onefold(words).args(options.split_whitespace()).run().exits(0);
    assert_eq!(place.listing(""), before);
    assert_eq!(ran.stderr, "");
    ran.json()
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("no number '{name}' in {value}"))
}

#[track_caller]
fn near(found: f64, truth: f64) {
    assert!((found / truth - 1.0).abs() < 0.2, "{found} for {truth}");
}

/// Three real collections in one file of 45 MB, more than a sample holds; and how many rows it has.
fn large(place: &Place) -> Option<(Vec<u8>, usize)> {
    let mut rows = Vec::new();
    for name in ["debdocs_slice", "revisions_sitepolicy", "webis_s3_terabyte"] {
        rows.extend(fs::read(shared(&format!("{name}/docs.jsonl"))?).unwrap());
    }
    let count = rows.iter().filter(|&&byte| byte == b'\n').count();
    place.write("rows.jsonl", &rows);
    Some((rows, count))
}

#[test]
fn lines_are_counted_from_a_sample() {
    let place = Place::new();
    let Some((rows, count)) = large(&place) else { return };
    let found = estimate(&place, Path::new("rows.jsonl"), "--memory 96MiB");
    assert!(number(&found, "sampled_bytes") < 0.9 * rows.len() as f64 && found["sampled_all"] == false, "{found}");
    near(number(&found, "documents"), count as f64);
    assert!(number(&found, "disk_bytes") > 8.0 * number(&found, "shingles"), "it does not fit: {found}");
    assert_eq!(number(&estimate(&place, Path::new("rows.jsonl"), "--memory 4GiB"), "disk_bytes"), 0.0);
}

#[test]
fn packed_lines_are_counted_from_their_beginning() {
    let place = Place::new();
    let Some((rows, count)) = large(&place) else { return };
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&rows).unwrap();
    let packed = place.write("rows.jsonl.gz", encoder.finish().unwrap());
    let found = estimate(&place, &packed, "");
    assert!(number(&found, "sampled_bytes") < number(&found, "bytes"), "{found}");
    near(number(&found, "documents"), count as f64);
}

#[test]
fn files_are_counted_from_some_of_them() {
    let place = Place::new();
    let Some(folder) = shared("debdocs_slice/html") else { return };
    let found = estimate(&place, &folder, "");
    assert_eq!(found["sampled_all"], false, "{found}");
    near(number(&found, "documents"), 2019.0);
}

#[test]
fn what_fits_into_the_sample_is_counted_exactly() {
    let place = Place::new();
    let Some(table) = shared("revisions_sitepolicy/docs.parquet") else { return };
    let found = estimate(&place, &table, "");
    assert_eq!((&found["sampled_all"], number(&found, "documents")), (&Value::Bool(true), 1030.0));
    place.onefold(["scan".as_ref(), table.as_os_str(), "--out".as_ref(), "out".as_ref(), "--quiet".as_ref()]).run().exits(0);
    let written: u64 = ["documents.parquet", "state.parquet", "report.html"]
        .iter()
        .map(|name| fs::metadata(place.at("out").join(name)).unwrap().len())
        .sum();
    let expected = number(&found, "result_bytes");
    assert!(expected < 2.0 * written as f64 && expected > 0.5 * written as f64, "{expected} for {written}");
}

/// The least memory is what the scan itself insists on, and some more for words that are shorter than these.
#[test]
fn a_scan_works_with_the_least_memory_and_not_with_less() {
    let place = Place::new();
    place.write("rows.jsonl", row("a", &"some words ".repeat(800_000)) + &row("b", &text("b", 40)));
    let least = number(&estimate(&place, Path::new("rows.jsonl"), ""), "memory_least_bytes") as u64;
    assert!(least > 128 << 20, "{least}");
    place.scan(&format!("rows.jsonl --quiet --memory {least}")).exits(0);
    place.scan(&format!("rows.jsonl --quiet --overwrite --memory {}", least / 10 * 6)).exits(8).says(&["memory"]);
    let ran = place.onefold(["scan", "rows.jsonl", "--estimate", "--memory", "100MiB"]).run().exits(0);
    assert!(ran.stdout.contains("for want of memory"), "{}", ran.stdout);
}

#[test]
fn what_can_be_read_only_once_is_refused() {
    let place = Place::with_documents();
    place.onefold(["scan", "in", "-", "--estimate"]).input("").run().exits(2).says(&["'-'", "read only once"]);
    shell(place.path(), "mkfifo pipe; $ONEFOLD scan pipe --estimate").run().exits(2).says(&["'pipe'", "read only once"]);
    assert!(!place.at("onefold-result").exists());
}

#[test]
fn nothing_is_asked_for_and_nothing_is_written() {
    let place = Place::with_documents();
    let before = place.listing("");
    for options in
        ["", "--out out", "--out out --write-kept kept --exclude-list list", "--resume", "--quiet", "--against in/a.txt"]
    {
        let ran = place.onefold(["scan", "in", "--estimate"]).args(options.split_whitespace()).run().exits(0);
        assert_eq!((ran.stderr.as_str(), ran.stdout.is_empty()), ("", options == "--quiet"), "{options}");
        assert_eq!(place.listing(""), before, "{options}");
    }
    place.onefold(["scan", "in"]).run().exits(2).says(&["--out"]);
}

#[test]
fn where_there_is_no_document_there_is_nothing_to_estimate() {
    let place = Place::new();
    place.write("in/zeros", [0; 100]);
    place.onefold(["scan", "in", "--estimate"]).run().exits(4).says(&["no document"]);
    place.onefold(["scan", "missing", "--estimate"]).run().exits(2).says(&["missing"]);
}
