//! Archives that are cut, lie, or mean harm (WA1–WA6).

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::sample_tests::{LIMITS, documents, read, read_with, reasons, sample};
use super::*;

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A record with a length of our choice.
fn record_of(kind: &str, length: &str, more: &str, block: &str) -> String {
    let uri = format!("http://example.org/{}", block.len());
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\n{more}\
         Content-Type: application/http; msgtype=response\r\n{length}\r\n{block}\r\n\r\n"
    )
}

fn response(number: usize) -> String {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>page {number}</p> {}", "text ".repeat(50 + number));
    let length = format!("Content-Length: {}\r\n", block.len());
    record_of("response", &length, "", &block)
}

fn pages(count: usize) -> Vec<String> {
    (0..count).map(response).collect()
}

fn bodies(bytes: &[u8]) -> Vec<Vec<u8>> {
    documents(&read(bytes).0).into_iter().map(|record| record.body.clone()).collect()
}

// ---- WA1 ----

#[test]
fn wa1_clipped_at_every_byte() {
    let Some(path) = sample("warcio/test/data/example.warc.gz") else { return };
    let bytes = std::fs::read(path).unwrap();
    clip_everywhere(&bytes, &members(&bytes)[..6]);
    let five: Vec<Vec<u8>> = pages(5).iter().map(|page| gzip(page.as_bytes())).collect();
    clip_everywhere(&five.concat(), &five.iter().map(Vec::len).collect::<Vec<_>>());
}

/// The lengths of the members, told by their headers (good for these samples only).
fn members(bytes: &[u8]) -> Vec<usize> {
    let starts: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&[0x1f, 0x8b, 8, 0])).collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    starts.iter().zip(ends).map(|(start, end)| end - start).collect()
}

fn clip_everywhere(bytes: &[u8], lengths: &[usize]) {
    assert_eq!(lengths.iter().sum::<usize>(), bytes.len());
    let whole = read(bytes);
    let all = documents(&whole.0);
    for cut in 1..bytes.len() {
        let (items, tally) = read(&bytes[..cut]);
        let mut end = 0;
        let complete = lengths.iter().take_while(|length| (end += **length, end <= cut).1).count() as u64;
        assert!(tally.records >= complete, "{cut}");
        let before: Vec<_> = all.iter().filter(|record| record.place.number <= complete).collect();
        for (found, expected) in documents(&items).iter().zip(&before) {
            assert_eq!((&found.body, found.truncated), (&expected.body, expected.truncated), "{cut}");
        }
        assert!(documents(&items).len() >= before.len(), "{cut}");
        let at_boundary = lengths.iter().scan(0, |sum, length| (*sum += length, Some(*sum)).1).any(|end| end == cut);
        let told = items.iter().any(|item| match item {
            WarcItem::Flagged(notice) | WarcItem::Skipped(notice) => notice.detail == format!("truncated at offset {cut}"),
            _ => false,
        });
        assert_eq!(told, !at_boundary, "{cut}: {:?}", reasons(&items));
    }
}

#[test]
fn wa1_a_cut_page_is_marked() {
    let plain = pages(2).concat();
    let (items, _) = read(&plain.as_bytes()[..plain.len() - 100]);
    let found: Vec<bool> = documents(&items).iter().map(|record| record.truncated).collect();
    assert_eq!((found, reasons(&items)), (vec![false, true], vec!["truncated".to_owned()]));
}

// ---- WA2 ----

#[test]
fn wa2_every_packing_gives_the_same_pages() {
    let records = pages(5);
    let plain = records.concat();
    let expected = bodies(plain.as_bytes());
    assert_eq!(expected.len(), 5);
    let per_record: Vec<u8> = records.iter().flat_map(|record| gzip(record.as_bytes())).collect();
    let frames: Vec<u8> = records.iter().flat_map(|record| zstd::encode_all(record.as_bytes(), 3).unwrap()).collect();
    let blocks: Vec<u8> = plain.as_bytes().chunks(100).flat_map(gzip).collect();
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &frames].concat();
    let padded = [per_record.clone(), vec![0; 700]].concat();
    let whole_zstd = zstd::encode_all(plain.as_bytes(), 3).unwrap();
    for packed in [per_record, gzip(plain.as_bytes()), frames, whole_zstd, blocks, skippable, padded] {
        let (items, _) = read(&packed);
        assert_eq!((bodies(&packed), reasons(&items)), (expected.clone(), vec![]));
    }
}

#[test]
fn wa2_junk_after_and_between_members() {
    let packed: Vec<Vec<u8>> = pages(3).iter().map(|page| gzip(page.as_bytes())).collect();
    let junk = b"this is no member".to_vec();
    let (items, tally) = read(&[packed.concat(), junk.clone()].concat());
    assert_eq!((tally.content, reasons(&items)), (3, vec!["junk".to_owned()]));
    let (items, tally) = read(&[packed[0].clone(), junk, packed[1].clone(), packed[2].clone()].concat());
    assert_eq!((tally.content, reasons(&items)), (3, vec!["junk".to_owned()]));
}

#[test]
fn wa2_what_is_not_read_is_refused_by_name() {
    let frame = zstd::encode_all(response(1).as_bytes(), 3).unwrap();
    let dictionary = [&[0x5d, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0][..], &frame].concat();
    assert_eq!(reasons(&read(&dictionary).0), ["!needs_dictionary"]);
    for (bytes, reason) in [(&b"\x04\x22\x4d\x18rest"[..], "!unsupported_compression"), (b"BZh9", "!unsupported_compression")] {
        assert_eq!(reasons(&read(bytes).0), [reason]);
    }
    for bytes in [&b""[..], b"\n\n", b"%PDF-1.4 text", b"WARC", b"\x1f\x8b"] {
        assert_eq!(documents(&read(bytes).0).len(), 0);
        assert!(reasons(&read(bytes).0)[0].starts_with('!'), "{bytes:?}");
    }
}

#[test]
fn a_damaged_member_costs_itself_and_no_other() {
    let packed: Vec<Vec<u8>> = pages(5).iter().map(|page| gzip(page.as_bytes())).collect();
    let start = packed[0].len() + packed[1].len();
    for at in 0..packed[2].len() {
        let mut bytes = packed.concat();
        bytes[start + at] ^= 0x55;
        let (items, _) = read(&bytes);
        let found: Vec<_> = documents(&items).iter().map(|record| record.body.clone()).collect();
        for number in [0, 1, 3, 4] {
            let expected = bodies(pages(5)[number].as_bytes()).remove(0);
            assert!(found.contains(&expected), "byte {at}, page {number}: {:?}", reasons(&items));
        }
    }
}

// ---- WA3 ----

/// ClueWeb09 as it is: old version, bare line ends, an empty line before the length, a date that is none, any bytes in the URI.
fn clueweb(number: usize, wrong_by: i64) -> Vec<u8> {
    let block = format!("HTTP/1.1 200 OK\nContent-Type: text/html\n\n<p>page {number}</p>{}\n", "word ".repeat(200));
    let length = block.len() as i64 + wrong_by;
    let mut record = b"WARC/0.18\nWARC-Type: response\nWARC-Target-URI: http://example.org/\x08\xc3\x80\xff/".to_vec();
    let rest = format!("{number}\nWARC-Date: 2009-03-65T10:52:49-0800\nWARC-TREC-ID: clueweb09-en0000-00-0000{number}\n\n");
    record.extend_from_slice(rest.as_bytes());
    record.extend_from_slice(format!("Content-Length: {length}\n\n{block}\n\n").as_bytes());
    record
}

#[test]
fn wa3_clueweb_with_every_wrong_length() {
    for wrong_by in [0, 1, -1, 2, 3, 4, 200, -200, 1100, -1000] {
        let records: Vec<Vec<u8>> = (0..6).map(|number| clueweb(number, if number == 5 { 0 } else { wrong_by })).collect();
        for packed in [records.concat(), gzip(&records.concat()), records.iter().flat_map(|record| gzip(record)).collect()] {
            let (items, _) = read(&packed);
            let found = documents(&items);
            let ids: Vec<&str> = found.iter().filter_map(|record| record.trec_id.as_deref()).collect();
            assert_eq!(ids.len(), 6, "{wrong_by}: {:?}", reasons(&items));
            for (number, record) in found.iter().enumerate() {
                let text = String::from_utf8_lossy(&record.body);
                assert!(
                    text.starts_with(&format!("<p>page {number}</p>")) && text.trim_end().ends_with("word"),
                    "{wrong_by} {text}"
                );
                assert!(!text.contains("WARC/"), "{wrong_by}");
                assert_eq!(record.uri.as_deref(), Some(format!("http://example.org/\u{8}\u{c0}%FF/{number}").as_str()));
                assert_eq!(record.date.as_deref(), Some("2009-03-65T10:52:49-0800"));
            }
            let told = reasons(&items).iter().filter(|reason| *reason == "wrong_length").count();
            assert!(if wrong_by.abs() > 4 { told == 5 } else { wrong_by != 0 || told == 0 }, "{wrong_by}: {:?}", reasons(&items));
        }
    }
}

#[test]
fn wa3_the_notice_has_the_offset() {
    let (items, _) = read(&[clueweb(0, 0), clueweb(1, 200), clueweb(2, 0)].concat());
    let notice = items.iter().find_map(|item| if let WarcItem::Flagged(notice) = item { Some(notice) } else { None }).unwrap();
    assert_eq!((notice.offset, notice.number), (clueweb(0, 0).len() as u64, Some(2)));
}

// ---- WA5 ----

#[test]
fn wa5_lengths_that_are_none() {
    let cases = ["", "-5", "9999999999999", "1e3", "0x10", "10\r\nContent-Length: 11", "", "18446744073709551616", "12 bytes"];
    for written in cases {
        let length = if written.is_empty() { String::new() } else { format!("Content-Length: {written}\r\n") };
        let bad = record_of("response", &length, "", "HTTP/1.1 200 OK\r\n\r\nlost");
        for packed in [false, true] {
            let records = [response(1), bad.clone(), response(2)];
            let bytes: Vec<u8> =
                records.iter().flat_map(|r| if packed { gzip(r.as_bytes()) } else { r.clone().into_bytes() }).collect();
            let (items, tally) = read(&bytes);
            assert_eq!((tally.records, tally.content), (3, 2), "{written}");
            assert_eq!(reasons(&items), ["!bad_length"], "{written}");
        }
    }
}

#[test]
fn wa5_a_lost_request_is_only_flagged() {
    let (items, tally) = read([record_of("request", "", "", "GET / HTTP/1.0"), response(1)].concat().as_bytes());
    assert_eq!((tally.content, reasons(&items)), (1, vec!["bad_length".to_owned()]));
}

// ---- WA6 ----

#[test]
fn wa6_only_content_becomes_documents() {
    let block = "HTTP/1.1 200 OK\n\n<p>text";
    let length = format!("Content-Length: {}\r\n", block.len());
    for (kind, content) in
        [("response", 1), ("resource", 1), ("conversion", 1), ("request", 0), ("metadata", 0), ("continuation", 0)]
    {
        let (items, tally) = read(record_of(kind, &length, "", block).as_bytes());
        assert_eq!((tally.content, reasons(&items).len()), (content, 0), "{kind}");
        assert!(documents(&items).iter().all(|record| record.body == b"<p>text" && !record.truncated));
    }
    for header in ["WARC-Truncated: length\r\n", "WARC-Segment-Number: 1\r\n"] {
        let (items, _) = read(record_of("response", &length, header, block).as_bytes());
        assert!(documents(&items)[0].truncated);
    }
}

#[test]
fn wa6_a_revisit_is_an_alias() {
    let more = "WARC-Refers-To: <urn:uuid:1>\r\nWARC-Refers-To-Target-URI: http://first/\r\n";
    let (items, _) = read(record_of("revisit", "Content-Length: 0\r\n", more, "").as_bytes());
    let [WarcItem::Alias(alias)] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!((alias.refers_to.as_deref(), alias.refers_to_uri.as_deref()), (Some("urn:uuid:1"), Some("http://first/")));
}

#[test]
fn wa6_text_that_begins_like_http_stays_whole() {
    let block = "HTTP/1.1 is a protocol.\n\nIt has verbs.";
    let header =
        format!("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n", block.len());
    assert_eq!(bodies(format!("{header}{block}\r\n\r\n").as_bytes()), [block.as_bytes()]);
}

fn encoded(name: &str, body: &[u8]) -> Vec<u8> {
    let block = [format!("HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\n\r\n").as_bytes(), body].concat();
    let header = "WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\n";
    [format!("{header}Content-Length: {}\r\n\r\n", block.len()).as_bytes(), &block, b"\r\n\r\n"].concat()
}

#[test]
fn wa6_bombs_and_unknown_encodings_cost_one_page() {
    let bomb = gzip(&vec![b'a'; 30 << 20]);
    let cases = [(encoded("gzip", &bomb), "!bomb"), (encoded("br", &[0x1b, 0, 1, 2, 3]), "!unsupported_encoding")];
    for (bad, reason) in cases {
        let (items, tally) = read(&[response(1).into_bytes(), bad, response(2).into_bytes()].concat());
        assert_eq!((tally.content, reasons(&items)), (2, vec![reason.to_owned()]));
    }
}

#[test]
fn a_bomb_of_a_member_costs_one_record() {
    let giant = record_of("response", "Content-Length: 200000000\r\n", "", &"0".repeat(200_000_000));
    for pack in [gzip as fn(&[u8]) -> Vec<u8>, |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap()] {
        let bytes = [pack(response(1).as_bytes()), pack(giant.as_bytes()), pack(response(2).as_bytes())].concat();
        let (items, tally) = read(&bytes);
        assert_eq!((tally.content, tally.records), (2, 3), "{:?}", reasons(&items));
        assert_eq!(reasons(&items), ["!too_large", "bomb"]);
    }
}

#[test]
fn a_million_equal_pages_are_no_bomb() {
    let plain = response(1).repeat(20_000);
    let packed = zstd::encode_all(plain.as_bytes(), 3).unwrap();
    assert!(plain.len() > 1000 * packed.len());
    let (items, tally) = read_with(&packed, Limits { record_bytes: 1 << 20, ..LIMITS });
    assert_eq!((tally.content, reasons(&items)), (20_000, vec![]));
}

#[test]
fn a_record_beyond_the_limit_is_passed_over() {
    let text: String = (0..200_000).map(|number| format!("{number} ")).collect();
    let giant = record_of("response", &format!("Content-Length: {}\r\n", text.len()), "", &text);
    let bytes = [response(1), giant, response(2)].concat();
    let limits = Limits { record_bytes: 100_000, ..LIMITS };
    let (items, tally) = read_with(bytes.as_bytes(), limits);
    assert_eq!((tally.content, reasons(&items)), (2, vec!["!too_large".to_owned()]));
}

#[test]
fn faults_of_the_reader_come_last() {
    struct Failing;
    impl io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk"))
        }
    }
    let bytes = io::Cursor::new(pages(2).concat().into_bytes());
    let reader = io::BufReader::new(io::Read::chain(bytes, Failing));
    let all: Vec<_> = WarcReader::new(Box::new(reader), LIMITS).collect();
    assert_eq!(all.iter().filter(|item| item.is_ok()).count(), 2);
    assert!(all.last().unwrap().is_err());
}

/// Mutated samples: no panic, no hang, no more items than bytes.
#[test]
fn mutated_archives_do_no_harm() {
    let mut seeds: Vec<Vec<u8>> = vec![pages(3).concat().into_bytes(), clueweb(1, 0), gzip(&clueweb(2, 3))];
    seeds.push(zstd::encode_all(pages(2).concat().as_bytes(), 3).unwrap());
    for name in ["bad.arc", "example.arc", "example.arc.gz", "example.warc", "example.warc.gz", "example-iana.org-chunked.warc"] {
        seeds.extend(sample(&format!("warcio/test/data/{name}")).map(|path| std::fs::read(path).unwrap()));
    }
    let mut state = 20_090_365_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let rounds = std::env::var("ONEFOLD_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20_000);
    for _ in 0..rounds {
        let mut bytes = seeds[random(seeds.len())].clone();
        for _ in 0..=random(4) {
            mutate(&mut bytes, &mut random);
        }
        let size = bytes.len();
        let limits = Limits { record_bytes: [500, 5000, 1 << 20][random(3)], body_bytes: 1 << 20 };
        let (items, tally) = read_with(&bytes, limits);
        assert!(items.len() <= size + 1 && tally.records <= size as u64 * 1000);
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut impl FnMut(usize) -> usize) {
    const WORDS: [&[u8]; 8] = [
        b"\nWARC/1.0\r\n",
        b"Content-Length: 77777\r\n",
        b"\r\n\r\n",
        b"\x1f\x8b\x08\x00",
        b"\0\0\0",
        b"-1",
        b"999999999",
        b"\xff",
    ];
    let at = random(bytes.len());
    match random(6) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << random(8),
        1 => bytes.truncate(at),
        2 => drop(bytes.splice(at..at, WORDS[random(WORDS.len())].iter().copied())),
        3 => drop(bytes.drain(at..(at + random(40)).min(bytes.len()))),
        4 => {
            let copy = bytes[at..(at + random(600)).min(bytes.len())].to_vec();
            let to = random(bytes.len());
            bytes.splice(to..to, copy);
        }
        _ if !bytes.is_empty() => bytes[at] = random(256) as u8,
        _ => (),
    }
}

#[test]
fn stored_ranges_are_records_and_nothing_else() {
    let records = pages(4);
    let packed: Vec<Vec<u8>> = records.iter().map(|record| gzip(record.as_bytes())).collect();
    let frames: Vec<Vec<u8>> = records.iter().map(|record| zstd::encode_all(record.as_bytes(), 3).unwrap()).collect();
    let plain: Vec<Vec<u8>> = records.iter().map(|record| record.clone().into_bytes()).collect();
    for parts in [packed.clone(), frames, plain, [&[gzip(b"")][..], &packed].concat()] {
        let file = parts.concat();
        let (items, _) = read(&[file.clone(), vec![0; 64]].concat());
        let ranges = documents(&items).into_iter().map(|record| record.place.stored.clone().unwrap());
        let copies: Vec<Vec<u8>> = ranges.map(|range| file[range.start as usize..range.end as usize].to_vec()).collect();
        assert!(copies == parts[parts.len() - 4..]);
    }
    let (items, _) = read(&gzip(records.concat().as_bytes()));
    assert!(documents(&items).iter().all(|record| record.place.stored.is_none()));
}
