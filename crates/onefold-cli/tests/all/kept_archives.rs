//! `--write-kept` and web archives: records as they are stored, packed as they were.

use std::collections::HashSet;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use onefold::warc::{Limits, Tally, WarcItem, WarcReader};

use crate::kept::{gzip, kept_records, plain, scans_clean, zstd};
use crate::machine;
use crate::place::{Place, text};

fn record(kind: &str, number: u32, body: &str) -> String {
    let (head, content_type) = match kind {
        "response" => ("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", "application/http"),
        _ => ("", "text/plain"),
    };
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:x:{number}>\r\nWARC-Target-URI: http://example.org/{number}\r\n\
         WARC-Date: 2020-02-29T12:00:00Z\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{head}{body}\r\n\r\n",
        head.len() + body.len()
    )
}

/// Information, request and page, copy of the page, a revisit, something of no known type, and another page.
fn records() -> Vec<String> {
    vec![
        record("warcinfo", 1, "software: none"),
        record("request", 2, "GET / HTTP/1.1\r\n\r\n"),
        record("response", 3, &text("a", 40)),
        record("response", 4, &text("a", 40).to_uppercase()),
        record("revisit", 5, ""),
        record("surprise", 6, &text("s", 40)),
        record("response", 7, &text("c", 40)),
        record("metadata", 8, "fetch: 12"),
    ]
}

type Pack = fn(&[u8]) -> Vec<u8>;

fn concat(parts: &[String], pack: Pack) -> Vec<u8> {
    parts.iter().flat_map(|part| pack(part.as_bytes())).collect()
}

/// Members of one record stay as they are, byte for byte; where one holds many, each record gets its own.
#[test]
fn records_are_copied_as_they_are_stored() {
    let records = records();
    let whole = records.concat();
    let cases: [(&str, Vec<u8>, Option<Pack>); 5] = [
        ("x.warc", whole.clone().into_bytes(), Some(|bytes| bytes.to_vec())),
        ("members.warc.gz", concat(&records, gzip), Some(gzip)),
        ("frames.warc.zst", concat(&records, zstd), Some(zstd)),
        ("one.warc.gz", gzip(whole.as_bytes()), None),
        ("one.warc.zst", zstd(whole.as_bytes()), None),
    ];
    for (name, bytes, pack) in cases {
        let place = Place::new();
        place.write(name, &bytes);
        place.scan(&format!("{name} --write-kept kept")).exits(3);
        let kept = kept_records(&place, name);
        assert!(kept.len() == 2 && kept[1] == 7, "{kept:?}");
        let stays = |number: usize| matches!(number, 1 | 2 | 5 | 8) || kept.contains(&(number as u64));
        let expected: Vec<String> = (1..).zip(&records).filter(|(n, _)| stays(*n)).map(|(_, r)| r.clone()).collect();
        let written = fs::read(place.at(format!("kept/{name}"))).unwrap();
        assert_eq!(String::from_utf8(plain(&written)).unwrap(), expected.concat(), "{name}");
        if let Some(pack) = pack {
            assert!(written == concat(&expected, pack), "{name}: stored bytes differ");
        }
        let tally = tally(&place.at(format!("kept/{name}")));
        assert_eq!((tally.records, tally.content, tally.aliases, tally.skipped), (6, 2, 1, 0), "{name}");
        scans_clean(&place, "kept");
    }
}

fn items(path: &Path) -> (Vec<WarcItem>, Tally) {
    let limits = Limits { record_bytes: 1 << 28, body_bytes: 1 << 28 };
    let mut reader = WarcReader::new(Box::new(BufReader::new(fs::File::open(path).unwrap())), limits);
    let items = reader.by_ref().map(|item| item.unwrap()).collect();
    (items, reader.tally())
}

fn tally(path: &Path) -> Tally {
    items(path).1
}

fn archives(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_string_lossy().to_string();
        if path.is_dir() {
            archives(&path, found);
        } else if [".warc", ".arc", ".warc.gz", ".arc.gz", ".warc.zst"].iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

/// Every sample archive from which a document is kept: the copy has all its records but the removed and skipped ones, and its pages
/// are the same, body for body.
#[test]
fn every_sample_archive_loses_only_what_was_removed() {
    let Some(samples) = machine::shared("warc") else { return };
    let mut found = Vec::new();
    archives(&samples, &mut found);
    found.sort();
    let mut copied = 0;
    for path in found {
        let place = Place::new();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        fs::copy(&path, place.at(&name)).unwrap();
        let code = place.onefold(["scan", &name, "--out", "out", "--write-kept", "kept"]).run().code;
        if code == 4 {
            assert!(!place.at("kept").exists());
            continue;
        }
        assert!(code == 0 || code == 3, "{name}: exit {code}");
        let kept: HashSet<u64> = kept_records(&place, &name).into_iter().collect();
        let (before, counted) = items(&path);
        let (after, recounted) = items(&place.at(format!("kept/{name}")));
        let bodies = |items: Vec<WarcItem>, of: &dyn Fn(u64) -> bool| -> Vec<(Option<String>, Vec<u8>)> {
            let pages = items.into_iter().filter_map(|item| if let WarcItem::Content(page) = item { Some(page) } else { None });
            pages.filter(|page| of(page.place.number)).map(|page| (page.uri, page.body)).collect()
        };
        assert!(bodies(after, &|_| true) == bodies(before, &|number| kept.contains(&number)), "{name}");
        assert_eq!(recounted.content, kept.len() as u64, "{name}");
        assert_eq!(recounted.aliases, counted.aliases, "{name}");
        let unread = counted.skipped;
        assert!(
            counted.records - recounted.records <= counted.content - recounted.content + unread,
            "{name}: {counted:?} {recounted:?}"
        );
        copied += 1;
    }
    assert!(copied > 10, "{copied}");
}

/// A page of a damaged member has no stored bytes that could be copied; it is packed again.
#[test]
fn a_page_before_a_fault_is_kept() {
    let place = Place::new();
    let records = records();
    let mut members: Vec<Vec<u8>> = records.iter().map(|record| gzip(record.as_bytes())).collect();
    // The checksum of the last page.
    let at = members[6].len() - 6;
    members[6][at] ^= 0xff;
    place.write("x.warc.gz", members.concat());
    place.scan("x.warc.gz --write-kept kept").exits(3);
    let kept = kept_records(&place, "x.warc.gz");
    assert!(kept.contains(&7), "{kept:?}");
    let written = plain(&fs::read(place.at("kept/x.warc.gz")).unwrap());
    assert!(String::from_utf8(written).unwrap().contains(&records[6]), "the page is whole");
    scans_clean(&place, "kept");
}
