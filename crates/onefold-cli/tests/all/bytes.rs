//! X1: bytes that are not what they seem. Each has a defined result, the same on every run, and is flagged where characters were lost.

use std::fs;

use crate::place::{Place, pairs, row, set, text};

fn utf16(text: &str, mark: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("{mark}{text}").encode_utf16().flat_map(order).collect()
}

#[test]
fn x1_utf16_is_read_with_and_without_a_mark() {
    let place = Place::new();
    let words = text("a", 40);
    place.write("in/plain", &words);
    place.write("in/le", utf16(&words, "\u{feff}", u16::to_le_bytes));
    place.write("in/be", utf16(&words, "\u{feff}", u16::to_be_bytes));
    place.write("in/bare", utf16(&words, "", u16::to_le_bytes));
    place.write("in/mark8", format!("\u{feff}{words}"));
    place.scan("in").exits(0);
    assert_eq!(place.removed().len(), 4, "five spellings of one text");
    assert!(place.documents().values().all(|row| row.text("flags").is_empty()));
}

#[test]
fn x1_lost_characters_are_flagged() {
    let place = Place::new();
    let words = text("a", 40);
    let with = |bytes: &[u8]| {
        [words.as_bytes(), " Grüße aus Köln, schöne Straße, fünf Äpfel ".as_bytes(), bytes, b" ", words.as_bytes()].concat()
    };
    place.write("in/invalid", with(b"x\xc3\x28y"));
    place.write("in/surrogate", with(b"x\xed\xa0\x80y"));
    place.write("in/nul", with(b"x\0y"));
    let cut = with(b"");
    place.write("in/cut", [&cut[..], b" f\xc3"].concat());
    place.write("in/odd16", [&utf16(&words, "\u{feff}", u16::to_le_bytes)[..], b"\xff"].concat());
    place.write(
        "in/half16",
        utf16(&words, "\u{feff}", u16::to_le_bytes).into_iter().chain([0, 0xd8, b'x', 0]).collect::<Vec<u8>>(),
    );
    place.scan("in").exits(3);
    for (id, row) in place.documents() {
        assert_eq!(row.text("flags"), "lossy", "{id}");
    }
    assert_eq!(place.remarks().iter().filter(|r| r.kind == "flagged" && r.reason == "lossy").count(), 6);
}

#[test]
fn x1_erased_memory_is_lossy_and_without_text() {
    let place = Place::with_documents();
    place.write("in/erased", [0xff; 5000]);
    place.scan("in").exits(3);
    assert_eq!(place.flags("in/erased"), "lossy,no_text");
    assert!(place.documents()["in/erased"].truth("keep"));
}

#[test]
fn x1_binary_data_is_skipped_by_name() {
    let place = Place::with_documents();
    place.write("in/zeros", [0; 5000]);
    place.write("in/picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    place.write("in/paper", b"%PDF-1.7\n");
    place.scan("in").exits(3);
    assert_eq!(
        place.skipped(),
        pairs(&[("in/paper", "unsupported_type"), ("in/picture", "unsupported_type"), ("in/zeros", "binary")])
    );
    assert_eq!(place.documents().len(), 3);
}

#[test]
fn x1_every_encoding_gives_the_same_result_on_every_run() {
    let place = Place::new();
    let words = text("a", 40);
    place.write(
        "in/mixed",
        [words.as_bytes(), " größe ".as_bytes(), b"gr\xf6\xdfe \x93x\x94 ", &utf16("äx", "", u16::to_le_bytes)].concat(),
    );
    place.write("in/latin", [b"gr\xf6\xdfe stra\xdfe \xfcber ", words.as_bytes()].concat());
    place.write("in/sjis", b"\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x95\xb6\x8f\x91\x82\xc5\x82\xb7".repeat(20));
    place.write("in/noise", (0..4000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8 | 0x20).collect::<Vec<_>>());
    let mut seen = Vec::new();
    for threads in [1, 2, 8] {
        let code = place.scan(&format!("in --overwrite --threads {threads}")).code;
        let file = |name: &str| fs::read(place.at(format!("out/{name}"))).unwrap();
        seen.push((code, file("documents.parquet"), file("state.parquet"), file("skipped.jsonl")));
    }
    assert!(seen.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn x1_rows_with_bytes_that_are_no_characters() {
    let place = Place::new();
    let words = text("a", 40);
    let mut rows = row("good", &text("g", 40)).into_bytes();
    rows.extend([b"{\"id\":\"bad\",\"text\":\"", words.as_bytes(), b" x\xffy\"}\n"].concat());
    rows.extend([b"{\"id\":\"wtf\",\"text\":\"", words.as_bytes(), b" x\xed\xa0\x80y\"}\n"].concat());
    rows.extend([b"{\"id\":\"i\xffd\",\"text\":\"", text("i", 40).as_bytes(), b"\"}\n"].concat());
    rows.extend([b"{\"other\":\"\xff\",\"id\":\"other\",\"text\":\"", text("o", 40).as_bytes(), b"\"}\n"].concat());
    place.write("a.jsonl", rows);
    let mut seen = Vec::new();
    for threads in [1, 2, 8] {
        place.scan(&format!("a.jsonl --overwrite --threads {threads}")).exits(3);
        seen.push(fs::read(place.at("out/documents.parquet")).unwrap());
    }
    assert!(seen.windows(2).all(|two| two[0] == two[1]));
    assert_eq!(place.ids(), set(["good", "bad", "wtf", "i\u{fffd}d", "other"]));
    assert_eq!(["good", "bad", "wtf", "i\u{fffd}d"].map(|id| place.flags(id)), ["", "lossy", "lossy", "lossy"]);
}

/// D11: a lossily read document never stands for a whole one.
#[test]
fn x1_a_lossy_copy_never_beats_a_whole_one() {
    let place = Place::new();
    let words = text("a", 60);
    place.write("in/a-lossy", [words.as_bytes(), b" gr\xc3\xbc\xc3\x9fe x\xc3\x28y more and longer"].concat());
    place.write("in/b-whole", &words);
    place.scan("in").exits(3);
    assert_eq!(place.removed(), set(["in/a-lossy"]));
}

/// WTF-8 in a text that has no other letters to tell its charset by; three such bytes are no Latin-1 word.
#[test]
fn x1_a_lone_surrogate_in_plain_text_is_flagged() {
    let place = Place::new();
    place.write("in/wtf", [text("a", 40).as_bytes(), b" x\xed\xa0\x80y ", text("b", 40).as_bytes()].concat());
    place.scan("in").exits(3);
    assert_eq!(place.flags("in/wtf"), "lossy");
}
