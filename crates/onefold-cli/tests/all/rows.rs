//! X12: bad rows cost themselves and nothing else.

use crate::place::{Place, pairs, row, set, text};

#[test]
fn x12_a_bad_row_is_skipped_by_file_and_line() {
    let place = Place::new();
    let bad = [
        ("not json", "bad_json"),
        ("{\"id\":\"cut\",\"text\":\"abc", "bad_json"),
        ("{\"text\":\"one\",\"text\":\"two\"}", "bad_json"),
        ("{\"id\":\"a\",\"id\":\"b\",\"text\":\"two ids\"}", "bad_json"),
        ("{\"text\":\"\\ud800\"}", "bad_json"),
        ("{\"id\":\"none\"}", "missing_text"),
        ("{\"text\":null}", "missing_text"),
        ("{\"text\":17}", "text_not_a_string"),
        ("{\"text\":[\"a\"]}", "text_not_a_string"),
        ("[1,2]", "bad_json"),
        ("\"text\"", "bad_json"),
        ("{\"text\":\"a\"} trailing", "bad_json"),
        ("\u{feff}{\"text\":\"mark in the middle\"}", "bad_json"),
        ("{\"text\":\"raw \u{1} control\"}", "bad_json"),
    ];
    let mut rows = row("first", &text("f", 40)) + "\n   \n";
    let mut expected = Vec::new();
    for (at, (line, reason)) in bad.iter().enumerate() {
        rows += &format!("{line}\n");
        expected.push((format!("in/a.jsonl:{}", at + 4), (*reason).to_string()));
    }
    place.write("in/a.jsonl", rows + &row("last", &text("l", 40)));
    let summary = place.scan("in --json").exits(3).json();
    expected.sort();
    assert_eq!(place.skipped(), expected);
    assert_eq!(place.ids(), set(["first", "last"]));
    assert_eq!((&summary["seen"], &summary["skipped"]), (&16.into(), &14.into()));
}

#[test]
fn x12_line_ends_marks_and_a_missing_last_end() {
    let place = Place::new();
    let (one, two) = (row("one", &text("a", 40)), row("two", &text("b", 40)));
    place.write("crlf.jsonl", format!("\u{feff}{}\r\n\r\n{}\r\n", one.trim_end(), two.trim_end()));
    place.write("bare.jsonl", format!("{}{{\"text\":\"{}\"}}", row("three", &text("c", 40)), text("d", 40)));
    place.scan("crlf.jsonl bare.jsonl").exits(0);
    assert_eq!(place.ids(), set(["one", "two", "three", "bare.jsonl#2"]));
}

#[test]
fn x12_depth_is_no_danger() {
    let place = Place::new();
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let mut rows = String::new();
    for depth in [200, 100_000] {
        rows += &format!("{{\"id\":\"d{depth}\",\"x\":{},\"text\":\"{}\"}}\n", nested(depth), text(&format!("d{depth}x"), 40));
    }
    rows += &format!("{{\"text\":{}}}\n", nested(200));
    rows += &format!("{}\n", "{\"a\":".repeat(100_000));
    rows += &row("last", &text("l", 40));
    place.write("a.jsonl", rows);
    place.scan("a.jsonl").exits(3);
    let ids = place.ids();
    assert!(ids.contains("last"), "{ids:?}");
    let skipped = place.skipped();
    assert_eq!(ids.len() + skipped.len(), 5, "every line is accounted for: {skipped:?}");
    assert!(skipped.contains(&("a.jsonl:3".into(), "text_not_a_string".into())), "{skipped:?}");
    assert!(skipped.contains(&("a.jsonl:4".into(), "bad_json".into())), "{skipped:?}");
}

#[test]
fn x12_a_line_without_end_is_passed_over() {
    let place = Place::new();
    let rows = [row("first", &text("f", 40)), "[".repeat(20 << 20), "\n".into(), row("last", &text("l", 40))].concat();
    place.write("a.jsonl", rows);
    place.scan("a.jsonl --max-document-bytes 100000").exits(3);
    assert_eq!(place.skipped(), pairs(&[("a.jsonl:2", "too_large")]));
    assert_eq!(place.ids(), set(["first", "last"]));
    assert_eq!(place.state()["last"].number("record"), Some(3.0));
    assert_eq!(place.state()["last"].number("offset"), Some((row("first", &text("f", 40)).len() + (20 << 20) + 1) as f64));
}

/// A row that is padded in front is still a row.
#[test]
fn x12_a_long_line_that_begins_with_blanks_is_accounted_for() {
    let place = Place::new();
    place.write(
        "a.jsonl",
        row("first", &text("f", 40)) + &" ".repeat(3 << 20) + &row("padded", &text("p", 40)) + &row("last", &text("l", 40)),
    );
    let summary = place.scan("a.jsonl --max-document-bytes 100000 --json").exits(3).json();
    assert_eq!(summary["seen"], 3, "{:?}", place.skipped());
}

#[test]
fn x12_a_row_just_over_the_limit_is_skipped_and_one_at_it_is_not() {
    let place = Place::new();
    let (at, over) = (row("at", &text("a", 40)), row("ov", &text("b", 41)));
    place.write("a.jsonl", format!("{at}{over}"));
    place.write("in/file", text("c", 2000));
    place.scan(&format!("a.jsonl in --max-document-bytes {}", at.trim_end().len())).exits(3);
    assert_eq!(place.ids(), set(["at"]));
    assert_eq!(place.skipped(), pairs(&[("a.jsonl:2", "too_large"), ("in/file", "too_large")]));
}

#[test]
fn rows_across_many_blocks_keep_their_numbers() {
    let place = Place::new();
    let padding = "x ".repeat(2000);
    let rows: String = (1..=2000)
        .map(|n| if n == 1500 { "bad\n".into() } else { format!("{{\"text\":\"{padding} {}\"}}\n", text(&format!("n{n}x"), 5)) })
        .collect();
    place.write("a.jsonl", rows);
    place.scan("a.jsonl --threads 8 --pairs star --ngram-size 1 --threshold 1").exits(3);
    assert_eq!(place.skipped(), pairs(&[("a.jsonl:1500", "bad_json")]));
    let ids = place.ids();
    assert!(ids.len() == 1999 && ids.contains("a.jsonl#1499") && ids.contains("a.jsonl#2000") && !ids.contains("a.jsonl#1500"));
}
