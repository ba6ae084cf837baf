//! Web archives and tables among the inputs: the same documents whatever they come in.

use std::fs;

use crate::machine;
use crate::place::Place;

/// Every sample archive is read or refused by name, and what is read is accounted for.
#[test]
fn every_sample_archive_is_read_or_refused_by_name() {
    let Some(samples) = machine::shared("warc") else { return };
    let place = Place::new();
    let folders =
        ["warcio/test/data", "resiliparse/tests/data", "iipc/src/test/resources/org/archive/format"].map(|f| samples.join(f));
    let mut command = vec!["scan".to_string()];
    command.extend(folders.iter().map(|f| f.display().to_string()));
    command.extend(["--out", "out", "--json", "--format", "jsonl"].map(String::from));
    let summary = place.onefold(command).run().exits(3).json();
    let count = |name: &str| summary[name].as_u64().unwrap();
    assert_eq!(count("seen"), count("kept") + count("removed") + count("skipped"));
    assert!(count("documents") > 50, "{summary}");
    let reasons = &summary["skipped_by_reason"];
    assert!(reasons["unsupported_compression"].as_u64() >= Some(2), "lz4 is refused by name: {reasons}");
    let rows = fs::read_to_string(place.at("out/documents.jsonl")).unwrap();
    assert!(rows.contains("\"http://www.iana.org/"), "pages are called by their addresses");
}

/// The same page three times in one crawl: three documents, told apart by number, and no mistake of anyone.
#[test]
fn a_repeated_address_gets_a_number() {
    let place = Place::new();
    let page = "<html><body><p>one two three four five six seven eight nine ten</p></body></html>";
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
    let record = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/\r\nWARC-Date: 2020-02-29T12:00:00Z\r\n\
         Content-Type: application/http\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    );
    place.write("crawl.warc", record.repeat(3));
    place.scan("crawl.warc").exits(0);
    let ids: Vec<String> = place.documents().into_keys().collect();
    assert_eq!(ids, ["http://example.org/", "http://example.org/#2", "http://example.org/#3"]);
    let shown =
        place.onefold(["compare", "http://example.org/", "http://example.org/#3", "--result", "out"]).run().exits(0).stdout;
    assert!(shown.contains("the words are the same"), "{shown}");
}

/// A table is the same collection as JSONL, CSV, TSV (compressed or not) and Parquet.
#[test]
fn tables_give_the_same_answer_in_every_format() {
    let Some(revisions) = machine::shared("revisions_sitepolicy") else { return };
    let place = Place::new();
    let jsonl = fs::read_to_string(revisions.join("docs.jsonl")).unwrap();
    place.write("docs.jsonl", &jsonl);
    fs::copy(revisions.join("docs.parquet"), place.at("docs.parquet")).unwrap();
    let field = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_string();
    let rows: Vec<serde_json::Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let quoted = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
    for (name, comma) in [("docs.csv", ","), ("docs.tsv", "\t")] {
        let lines = rows.iter().map(|row| format!("{}{comma}{}\r\n", quoted(field(row, "text")), quoted(field(row, "id"))));
        place.write(name, format!("text{comma}id\r\n{}", lines.collect::<String>()));
    }
    place.scan("docs.jsonl --format csv").exits(0);
    let expected = fs::read(place.at("out/pairs.csv")).unwrap();
    for name in ["docs.csv", "docs.tsv", "docs.parquet"] {
        place.scan(&format!("{name} --format csv --overwrite")).exits(0);
        assert!(fs::read(place.at("out/pairs.csv")).unwrap() == expected, "{name}");
    }
}

#[test]
fn a_table_without_the_text_column_says_what_it_has() {
    let place = Place::with_documents();
    place.write("table.csv", "id,body\n1,some words\n");
    place.onefold(["scan", "table.csv", "--out", "other"]).run().exits(4).says(&["table.csv", "no column 'text'", "id, body"]);
    place.write("in/table.csv", "id,body\n1,some words\n");
    place.scan("in").exits(0);
    assert!(place.documents().contains_key("in/table.csv"), "in a folder it is a document like any other");
}

/// X13: a damaged file costs itself alone.
#[test]
fn x13_damaged_parquet_is_skipped_with_a_reason() {
    let Some(revisions) = machine::shared("revisions_sitepolicy") else { return };
    let place = Place::with_documents();
    let whole = fs::read(revisions.join("docs.parquet")).unwrap();
    place.write("in/cut.parquet", &whole[..whole.len() / 2]);
    place.write("in/tiny.parquet", "PAR1");
    let mut flipped = whole.clone();
    let middle = flipped.len() - 200;
    flipped[middle..middle + 20].fill(0xff);
    place.write("in/flipped.parquet", flipped);
    place.scan("in").exits(3);
    assert!(place.documents().len() >= 3);
    let skipped: Vec<String> = place.skipped().into_iter().map(|(input, _)| input).collect();
    assert!(["in/cut.parquet", "in/tiny.parquet"].iter().all(|name| skipped.contains(&name.to_string())), "{skipped:?}");
}
