//! JSONL as it comes: plain, gzip of several members, zstd, cut off.

use std::io::Write;

use crate::place::{Place, pairs, row, set, text};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).unwrap()
}

fn one(name: &str) -> String {
    row(name, &text(name, 40))
}

#[test]
fn every_member_and_frame_is_read() {
    let place = Place::new();
    place.write("plain.jsonl", one("p"));
    place.write("in/members.jsonl.gz", [gzip(&one("a")), gzip(&one("b")), gzip(""), gzip(&one("c"))].concat());
    place.write("frames.jsonl.zst", [zstd(&one("d")), zstd(&one("e"))].concat());
    place.scan("plain.jsonl in frames.jsonl.zst").exits(0);
    assert_eq!(place.ids(), set(["p", "a", "b", "c", "d", "e"]));
}

/// The ending says nothing about the compression; the first bytes do.
#[test]
fn compression_is_told_by_content() {
    let place = Place::new();
    place.write("a.jsonl", gzip(&one("a")));
    place.write("b.jsonl.gz", one("b"));
    place.write("c.jsonl.gz", zstd(&one("c")));
    place.write("d.data", gzip(&one("d")));
    place.scan("a.jsonl b.jsonl.gz c.jsonl.gz d.data").exits(0);
    assert_eq!(place.ids(), set(["a", "b", "c", "d"]));
}

#[test]
fn a_row_may_cross_members() {
    let place = Place::new();
    let whole = one("a") + &one("b");
    let (first, second) = whole.split_at(whole.len() / 2);
    place.write("a.jsonl.gz", [gzip(first), gzip(second)].concat());
    place.scan("a.jsonl.gz").exits(0);
    assert_eq!(place.ids(), set(["a", "b"]));
}

#[track_caller]
fn cut(name: &str, whole: &[u8], at: usize, least: usize) {
    let place = Place::new();
    place.write(name, &whole[..at]);
    place.write("good.jsonl", one("good"));
    let summary = place.scan(&format!("{name} good.jsonl --json")).exits(3).json();
    assert!(place.ids().contains("good"));
    assert!(place.documents().len() > least, "rows before the cut at {at}: {}", place.documents().len() - 1);
    assert!(place.skipped().iter().any(|(input, reason)| input == name && reason == "truncated"), "{:?}", place.skipped());
    assert_eq!(summary["seen"], (place.documents().len() + place.skipped().len()) as u64);
}

#[test]
fn rows_before_a_cut_are_there() {
    let rows: String = (0..2000).map(|n| one(&format!("n{n}x"))).collect();
    let whole = gzip(&rows);
    cut("a.jsonl.gz", &whole, whole.len() / 2, 500);
    cut("a.jsonl.gz", &whole, whole.len() - 1, 1999);
    let members: Vec<u8> = (0..10).flat_map(|n| gzip(&one(&format!("n{n}x")))).collect();
    cut("a.jsonl.gz", &members, members.len() - 4, 9);
    let frames = zstd(&rows);
    cut("a.jsonl.zst", &frames, frames.len() / 2, 100);
}

#[test]
fn members_with_rubbish_behind_them_are_reported() {
    let place = Place::new();
    place.write("a.jsonl.gz", [gzip(&one("a")), b"rubbish".to_vec()].concat());
    place.scan("a.jsonl.gz").exits(3);
    assert_eq!(place.ids(), set(["a"]));
    assert!(place.skipped().iter().all(|(input, _)| input.starts_with("a.jsonl.gz")), "{:?}", place.skipped());
}

#[test]
fn a_damaged_file_never_ends_the_run() {
    let place = Place::new();
    let mut damaged = gzip(&(0..2000).map(|n| one(&format!("n{n}x"))).collect::<String>());
    let middle = damaged.len() / 2;
    damaged[middle..middle + 50].fill(0x55);
    place.write("a.jsonl.gz", damaged);
    place.write("b.jsonl.zst", b"\x28\xb5\x2f\xfd rubbish");
    place.write("c.jsonl.gz", b"\x1f\x8b");
    place.write("good.jsonl", one("good"));
    place.scan("a.jsonl.gz b.jsonl.zst c.jsonl.gz good.jsonl").exits(3);
    assert!(place.ids().contains("good"));
    for name in ["a.jsonl.gz", "b.jsonl.zst", "c.jsonl.gz"] {
        assert!(place.skipped().iter().any(|(input, _)| input == name), "{name}: {:?}", place.skipped());
    }
}

/// A decoder tells a wrong sum once; what it had delivered stands, and the rest is not lost in silence.
#[test]
fn a_member_with_a_wrong_sum_is_told_and_what_came_before_stands() {
    let mut damaged = gzip(&one("a"));
    let sum = damaged.len() - 6;
    damaged[sum] ^= 1;
    let whole = [damaged.clone(), gzip(&one("b"))].concat();
    let place = Place::new();
    place.write("a.jsonl.gz", &whole);
    place.scan("a.jsonl.gz").exits(3);
    assert_eq!((place.ids(), place.skipped()), (set(["a"]), pairs(&[("a.jsonl.gz", "damaged")])));
    place.write("b.jsonl.gz", &damaged);
    place.scan("b.jsonl.gz --overwrite").exits(3);
    assert_eq!((place.ids(), place.skipped()), (set(["a"]), pairs(&[("b.jsonl.gz", "damaged")])));
    place.onefold(["scan", "-", "--out", "out", "--overwrite"]).input(whole).run().exits(3);
    assert_eq!(place.skipped(), pairs(&[("-", "damaged")]));
    let mut frame = zstd::encode_all(one("z").as_bytes(), 1).unwrap();
    let middle = frame.len() / 2;
    frame[middle] ^= 0x55;
    place.write("z.jsonl.zst", [zstd(&one("y")), frame].concat());
    place.scan("z.jsonl.zst --overwrite").exits(3);
    assert_eq!((place.ids(), place.skipped()), (set(["y"]), pairs(&[("z.jsonl.zst", "damaged")])));
}
