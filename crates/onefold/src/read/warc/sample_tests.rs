//! Every sample archive at hand: how many records it has, and what the pages are.
//!
//! Records, documents and aliases are those of warcio 1.8.1 and FastWARC 1.1.0 (`pip install warcio fastwarc`) wherever one of
//! them reads the file; `ours` marks files that neither reads to the end, counted by hand. Digests are FNV-1a 64 over the bodies as
//! warcio's `content_stream()` gives them, each followed by 0xff.

use std::path::{Path, PathBuf};

use super::*;

pub(super) const LIMITS: Limits = Limits { record_bytes: 64 << 20, body_bytes: 64 << 20 };

/// Where the samples are, if they are here.
pub(super) fn sample(name: &str) -> Option<PathBuf> {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var("ONEFOLD_SHARED_DATA").unwrap_or_else(|_| here.into());
    let folder = Path::new(&folder).join("warc");
    if !folder.exists() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{} is missing", folder.display());
        println!("SKIPPED: {} is missing", folder.display());
        return None;
    }
    Some(folder.join(name))
}

pub(super) fn read(bytes: &[u8]) -> (Vec<WarcItem>, Tally) {
    read_with(bytes, LIMITS)
}

pub(super) fn read_with(bytes: &[u8], limits: Limits) -> (Vec<WarcItem>, Tally) {
    let mut reader = WarcReader::new(Box::new(io::Cursor::new(bytes.to_vec())), limits);
    let items = reader.by_ref().map(|item| item.unwrap()).collect();
    (items, reader.tally())
}

pub(super) fn documents(items: &[WarcItem]) -> Vec<&ContentRecord> {
    items.iter().filter_map(|item| if let WarcItem::Content(record) = item { Some(record) } else { None }).collect()
}

/// Reasons in order, `!` before those of skips.
pub(super) fn reasons(items: &[WarcItem]) -> Vec<String> {
    let reason = |item: &WarcItem| match item {
        WarcItem::Flagged(notice) => Some(notice.reason.to_owned()),
        WarcItem::Skipped(notice) => Some(format!("!{}", notice.reason)),
        _ => None,
    };
    items.iter().filter_map(reason).collect()
}

fn digest(items: &[WarcItem]) -> u64 {
    let bytes = documents(items).into_iter().flat_map(|record| record.body.iter().copied().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// File, records, documents, aliases, notices, digest of the bodies (0: no reference).
type Row = (&'static str, u64, u64, u64, &'static [&'static str], u64);

const FORMAT: &str = "iipc/src/test/resources/org/archive/format/";

const IIPC: &[Row] = &[
    // `ours`: warcio stops at the missing line end after the version block.
    ("arc/IAH-20080430204825-00000-blackbook-truncated.arc", 9, 8, 0, &[], 0),
    ("gzip/IAH-urls-wget.warc.gz", 36, 19, 0, &[], 0xcfc6_d701_59e7_caa8),
    ("gzip/abcd.gz", 0, 0, 0, &["!not_an_archive"], 0),
    ("gzip/double-single-inflate-error.gz", 0, 0, 0, &["damaged", "!not_an_archive"], 0),
    ("gzip/empty.gz", 0, 0, 0, &["!not_an_archive"], 0),
    ("gzip/hi-2.gz", 0, 0, 0, &["!not_an_archive"], 0),
    ("gzip/hi.gz", 0, 0, 0, &["!not_an_archive"], 0),
    ("warc/IAH-urls-wget.warc", 36, 19, 0, &[], 0xcfc6_d701_59e7_caa8),
    ("warc/mutliple-headers.warc", 1, 1, 0, &[], 0xd0c0_b7d9_3ccb_133a),
    // FastWARC finds all eight; one Content-Length is four too high.
    ("../resource/html/link-extraction-test.warc", 8, 7, 0, &["wrong_length"], 0),
];

const RESILIPARSE: &[Row] = &[
    ("block-sized-records.warc", 3, 0, 0, &["!unknown_type", "!unknown_type", "!unknown_type"], 0),
    ("block-sized-records.warc.gz", 3, 0, 0, &["!unknown_type", "!unknown_type", "!unknown_type"], 0),
    ("block-sized-records.warc.lz4", 0, 0, 0, &["!unsupported_compression"], 0),
    ("clipped.warc.gz", 1, 1, 0, &["truncated"], 0x46df_e12a_693e_d515),
    ("clueweb-quirk.warc.gz", 30, 29, 0, &[], 0xebd0_b285_5f48_191d),
    ("warcfile.warc", 50, 16, 0, &[], 0x82ee_9bf3_ec5d_a329),
    ("warcfile.warc.gz", 50, 16, 0, &[], 0x82ee_9bf3_ec5d_a329),
    ("warcfile.warc.lz4", 0, 0, 0, &["!unsupported_compression"], 0),
];

const EXAMPLE: u64 = 0x88b2_6ed8_8926_a8da;

const WARCIO: &[Row] = &[
    // `ours`: the lengths -1 and abc are none, so those two pages are lost; warcio gives three empty pages.
    ("bad.arc", 4, 1, 0, &["bad_length", "!bad_length", "!bad_length"], 0),
    // One gzip member for all: warcio refuses, FastWARC reads.
    ("example-bad-non-chunked.warc.gz", 6, 1, 1, &[], EXAMPLE),
    ("example-bad.warc.gz.bad", 6, 2, 1, &[], 0),
    ("example-digest.warc", 4, 0, 0, &[], 0),
    ("example-iana.org-chunked.warc", 3, 1, 0, &[], 0x8578_5cc5_bfab_e2e6),
    ("example-resource.warc.gz", 3, 1, 0, &[], 0x8565_5a24_bda7_2641),
    ("example-space-in-target-uri.warc.gz", 2, 1, 0, &[], 0x2c2e_1257_4c10_8a03),
    // The length counts twelve bytes that are not there; warcio says nothing.
    ("example-space-in-url.arc", 2, 1, 0, &["truncated"], 0x6c54_7ef1_0b65_104a),
    // A length is two bytes short and the last record is cut.
    ("example-trunc.warc", 4, 1, 0, &["wrong_length"], EXAMPLE),
    ("example-wget-bad-target-uri.warc.gz", 6, 3, 0, &[], 0xc432_1b0d_df46_2c1c),
    ("example-wrong-chunks.warc.gz", 2, 1, 0, &[], 0),
    ("example.arc", 2, 1, 0, &[], EXAMPLE),
    ("example.arc.gz", 2, 1, 0, &[], EXAMPLE),
    ("example.warc", 6, 1, 1, &[], EXAMPLE),
    ("example.warc.gz", 6, 1, 1, &[], EXAMPLE),
    ("post-test.warc.gz", 6, 3, 0, &[], 0x0339_882c_c18b_e8ce),
];

fn check(folder: &str, rows: &[Row]) {
    for (name, records, content, aliases, expected, bodies) in rows {
        let Some(path) = sample(&format!("{folder}{name}")) else { return };
        let (items, tally) = read(&std::fs::read(&path).unwrap());
        let found = (tally.records, tally.content, tally.aliases, reasons(&items));
        let expected: Vec<String> = expected.iter().map(|reason| (*reason).to_owned()).collect();
        assert_eq!(found, (*records, *content, *aliases, expected), "{name}");
        if *bodies != 0 {
            assert_eq!(format!("{:016x}", digest(&items)), format!("{bodies:016x}"), "{name}");
        }
        check_ranges(&std::fs::read(&path).unwrap(), &items, name);
    }
}

/// The stored bytes of a record, read alone, are the same record.
fn check_ranges(bytes: &[u8], items: &[WarcItem], name: &str) {
    for record in documents(items) {
        let Some(range) = record.place.stored.clone() else { continue };
        let (alone, _) = read(&bytes[range.start as usize..range.end as usize]);
        let alone = documents(&alone);
        assert_eq!(alone.len(), 1, "{name} {:?}", record.place);
        assert_eq!((&alone[0].body, &alone[0].uri), (&record.body, &record.uri), "{name} {:?}", record.place);
    }
}

#[test]
fn samples_of_the_archive() {
    check(FORMAT, IIPC);
}

#[test]
fn samples_of_resiliparse() {
    check("resiliparse/tests/data/", RESILIPARSE);
}

#[test]
fn samples_of_warcio() {
    check("warcio/test/data/", WARCIO);
}

#[test]
fn every_sample_is_in_a_table() {
    let Some(root) = sample("") else { return };
    let mut folders = vec![root];
    let tables: Vec<&str> = [IIPC, RESILIPARSE, WARCIO].concat().iter().map(|row| row.0).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_name().unwrap().to_string_lossy().into_owned();
            if entry.is_dir() {
                folders.push(entry);
            } else if name.contains(".arc") || name.contains(".warc") || name.ends_with(".gz") {
                assert!(tables.iter().any(|row| row.rsplit('/').next() == Some(&name)), "{name}");
            }
        }
    }
}

#[test]
fn what_a_record_says_about_itself() {
    let Some(path) = sample("resiliparse/tests/data/clueweb-quirk.warc.gz") else { return };
    let (items, _) = read(&std::fs::read(path).unwrap());
    let first = documents(&items)[0];
    assert_eq!(first.trec_id.as_deref(), Some("clueweb09-ja0016-50-00000"));
    assert_eq!(first.uri.as_deref(), Some("http://www.uraharajuku.st/shopdetail/001005000005/019/000/order/"));
    assert_eq!(first.date.as_deref(), Some("2008-10-294T05:21:46-0700"));
    assert_eq!((first.media_type.as_deref(), first.charset.as_deref()), (Some("text/html"), Some("EUC-JP")));
    assert_eq!((first.status, first.truncated, first.place.number), (Some(200), false, 2));
}

#[test]
fn uris_with_brackets_and_spaces() {
    let Some(path) = sample("warcio/test/data/example-wget-bad-target-uri.warc.gz") else { return };
    let (items, _) = read(&std::fs::read(path).unwrap());
    assert_eq!(documents(&items)[0].uri.as_deref(), Some("http://example.com/"));
    let Some(path) = sample("warcio/test/data/example-space-in-target-uri.warc.gz") else { return };
    let (items, _) = read(&std::fs::read(path).unwrap());
    assert_eq!(documents(&items)[0].uri.as_deref(), Some("file:///example with spaces.png"));
}
