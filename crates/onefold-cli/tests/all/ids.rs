//! D7: never two documents behind one id, never one lost.

use crate::place::{Place, row, set, text};

#[test]
fn d7_a_repeated_id_is_renamed_and_listed() {
    let place = Place::new();
    place.write("b.jsonl", row("x", &text("b", 40)) + &row("y", &text("y", 40)));
    place.write("a.jsonl", row("x", &text("a", 40)) + &row("x", &text("c", 40)));
    for inputs in ["a.jsonl b.jsonl", "b.jsonl a.jsonl"] {
        place.scan(&format!("{inputs} --overwrite")).exits(3);
        // The first by (source, record) keeps the id, whatever the order of arguments.
        assert_eq!(place.ids(), set(["x", "x@a.jsonl#2", "x@b.jsonl#1", "y"]));
        assert_eq!(place.state()["x"].text("file"), "a.jsonl");
        assert_eq!(place.flags("x@b.jsonl#1"), "renamed");
        let listed: Vec<_> =
            place.remarks().into_iter().filter(|r| r.kind == "flagged" && r.reason == "renamed").map(|r| r.input).collect();
        assert_eq!(listed, ["x@a.jsonl#2", "x@b.jsonl#1"]);
    }
}

#[test]
fn d7_one_id_with_one_text_is_a_duplicate_and_not_lost() {
    let place = Place::new();
    place.write("a.jsonl", row("x", &text("a", 40)).repeat(3));
    let summary = place.scan("a.jsonl --json").exits(3).json();
    assert_eq!((&summary["documents"], &summary["removed"], &summary["exact"]), (&3.into(), &2.into(), &2.into()));
    assert_eq!(place.ids(), set(["x", "x@a.jsonl#2", "x@a.jsonl#3"]));
}

#[test]
fn d7_a_new_name_that_is_taken_gives_way() {
    let place = Place::new();
    place.write("a.jsonl", row("x", &text("a", 40)) + &row("x", &text("b", 40)) + &row("x@a.jsonl#2", &text("c", 40)));
    place.scan("a.jsonl").exits(3);
    assert_eq!(place.documents().len(), 3, "{:?}", place.ids());
    assert_eq!(place.state()["x@a.jsonl#2"].text("record"), "3", "it had the name first");
}

#[test]
fn d7_empty_missing_and_odd_ids() {
    let place = Place::new();
    let huge = "i".repeat(1_000_000);
    let texts: Vec<String> = (0..8).map(|n| text(&format!("t{n}x"), 20)).collect();
    let fields = [
        String::new(),
        "\"id\":\"\",".into(),
        "\"id\":null,".into(),
        "\"id\":17,".into(),
        "\"id\":\"a\\u0000b\",".into(),
        "\"id\":\"../../etc/passwd\",".into(),
        format!("\"id\":\"{huge}\","),
        "\"id\":true,".into(),
    ];
    let rows: String = fields.iter().zip(&texts).map(|(id, text)| format!("{{{id}\"text\":\"{text}\"}}\n")).collect();
    place.write("a.jsonl", rows);
    for format in ["parquet", "jsonl", "csv"] {
        place.scan(&format!("a.jsonl --overwrite --format {format}")).exits(0);
        let expected = ["17", "../../etc/passwd", "a\0b", "a.jsonl#1", "a.jsonl#2", "a.jsonl#3", "a.jsonl#8", &huge];
        assert!(place.ids() == set(expected), "{format}");
    }
    assert!(!place.at("../etc").exists());
}

#[test]
fn rows_of_tables_are_sorted_by_id_bytewise() {
    let place = Place::new();
    let ids = ["b", "a", "Z", "é", "a b", "10", "9"];
    place.write("a.jsonl", ids.iter().map(|id| row(id, &text("same", 40))).collect::<String>());
    place.scan("a.jsonl --format jsonl").exits(0);
    let result = place.result("out");
    let listed: Vec<String> = result.documents().unwrap().iter().map(|r| r.text("id").into()).collect();
    assert_eq!(listed, ["10", "9", "Z", "a", "a b", "b", "é"]);
    let pairs = result.pairs().unwrap();
    assert_eq!(pairs.len(), 6, "a family is listed as a star to its smallest id");
    assert!(pairs.iter().all(|pair| pair.text("first_id") == "10" && pair.text("second_id") > "10"));
}

/// Numbers past 64 bits are ids too, and two of them must not become one.
#[test]
fn d7_large_numbers_are_ids_digit_by_digit() {
    let place = Place::new();
    let ids = ["123456789012345678901", "123456789012345678902", "18446744073709551615", "-9223372036854775808"];
    place.write(
        "a.jsonl",
        ids.iter()
            .enumerate()
            .map(|(at, id)| format!("{{\"id\":{id},\"text\":\"{}\"}}\n", text(&format!("n{at}x"), 20)))
            .collect::<String>(),
    );
    place.scan("a.jsonl").exits(0);
    assert_eq!(place.ids(), set(ids));
}
