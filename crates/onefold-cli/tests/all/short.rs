//! X2: documents with little or nothing in them are ordinary.

use crate::place::{Place, row, set, text};

#[test]
fn x2_documents_without_words_are_kept_and_flagged() {
    let place = Place::new();
    for (name, bytes) in [("empty", ""), ("blank", " \r\n\t\u{a0}"), ("dots", "... --- !!!"), ("empty2", "")] {
        place.write(&format!("in/{name}"), bytes);
    }
    place.write("in/text", text("a", 40));
    let summary = place.scan("in --json").exits(0).json();
    for name in ["empty", "blank", "dots", "empty2"] {
        let row = &place.documents()[&format!("in/{name}")];
        assert_eq!((row.text("flags"), row.text("cluster_size"), row.truth("keep")), ("no_text", "1", true), "{name}");
    }
    assert_eq!((&summary["flagged_by_reason"]["no_text"], &summary["removed"]), (&4.into(), &0.into()));
}

#[test]
fn x2_short_documents_are_duplicates_of_equal_ones_only() {
    let place = Place::new();
    for (name, bytes) in [("one", "x"), ("one2", "X!"), ("four", "a b c d"), ("near4", "a b c e"), ("part", "a b c")] {
        place.write(&format!("in/{name}"), bytes);
    }
    place.write("in/five", "a b c d e");
    place.scan("in --threshold 0.01").exits(0);
    for name in ["one", "one2", "four", "near4", "part"] {
        assert_eq!(place.flags(&format!("in/{name}")), "too_short", "{name}");
    }
    assert_eq!(place.flags("in/five"), "", "w words make a shingle");
    let removed = place.removed();
    assert!(removed == set(["in/one"]) || removed == set(["in/one2"]), "{removed:?}");
}

#[test]
fn x2_the_same_in_rows() {
    let place = Place::new();
    place.write("a.jsonl", row("empty", "") + &row("blank", " \n") + &row("one", "x") + &row("text", &text("a", 40)));
    place.scan("a.jsonl").exits(0);
    assert_eq!(["empty", "blank", "one", "text"].map(|id| place.flags(id)), ["no_text", "no_text", "too_short", ""]);
}

#[test]
fn x2_nothing_but_empty_documents_is_still_a_result() {
    let place = Place::new();
    place.write("in/empty", "");
    place.scan("in").exits(0);
    assert_eq!(place.ids(), set(["in/empty"]));
    assert_eq!(place.result("out").pairs().unwrap().len(), 0);
}

#[test]
fn no_document_at_all_is_exit_4_and_leaves_nothing() {
    let place = Place::new();
    std::fs::create_dir(place.at("in")).unwrap();
    place.scan("in").exits(4).says(&["no document", "hint: "]);
    place.write("in/picture", b"\x89PNG\r\n\x1a\n");
    place.write("empty.jsonl", "");
    place.scan("in empty.jsonl").exits(4).says(&["1 seen"]);
    assert!(!place.at("out").exists());
    place.scan("missing").exits(2).says(&["'missing'", "No such file"]);
    assert!(!place.at("out").exists());
}
