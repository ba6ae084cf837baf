//! The summary: it adds up, and says the same as `run.json`.

use std::fs;

use serde_json::Value;

use crate::place::{Place, row, set, text};

/// Documents, copies, near copies, skipped and flagged ones.
fn collection() -> Place {
    let place = Place::with_documents();
    place.write("in/near.txt", text("a", 42));
    place.write("in/short.txt", "short");
    place.write("in/zeros", [0; 100]);
    place.write("rows.jsonl", row("x", &text("x", 40)) + "bad\n" + &row("x", &text("y", 40)));
    place
}

#[test]
fn seen_is_kept_and_removed_and_skipped() {
    let place = collection();
    let summary = place.scan("in rows.jsonl --json").exits(3).json();
    let number = |name: &str| summary[name].as_u64().unwrap();
    assert_eq!(number("seen"), number("kept") + number("removed") + number("skipped"));
    assert_eq!((number("seen"), number("documents"), number("kept"), number("removed"), number("skipped")), (9, 7, 5, 2, 2));
    assert_eq!((number("exact") + number("near"), number("clusters"), number("largest_cluster")), (2, 1, 3));
    assert_eq!(summary["skipped_by_reason"], serde_json::json!({ "bad_json": 1, "binary": 1 }));
    assert_eq!(summary["flagged_by_reason"], serde_json::json!({ "renamed": 1, "too_short": 1 }));
    assert_eq!(summary["sources"]["in"], serde_json::json!({ "documents": 5, "removed": 2 }));
    assert_eq!(place.documents().len(), 7);
    assert_eq!(place.removed().len(), 2);
    assert_eq!(place.skipped().len(), 2);
}

#[test]
fn the_summary_and_the_manifest_say_the_same() {
    let place = collection();
    let summary = place.scan("in rows.jsonl --json").exits(3).json();
    let manifest: Value = serde_json::from_slice(&fs::read(place.at("out/run.json")).unwrap()).unwrap();
    for (name, value) in manifest["counts"].as_object().unwrap() {
        assert_eq!(&summary[name], value, "{name}");
    }
    assert_eq!(summary["plan_digest"], manifest["plan_digest"]);
    assert_eq!(summary["warnings"], manifest["warnings"]);
    assert_eq!(summary["result"], "out");
}

#[test]
fn people_read_the_same_numbers() {
    let place = collection();
    let text = place.scan("in rows.jsonl").exits(3).stdout;
    let line = |name: &str| {
        text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("no '{name}' in {text}"))
    };
    for (name, number) in
        [("documents", "7"), ("kept", "5"), ("removable", "2"), ("skipped", "2"), ("flagged", "2"), ("clusters", "1")]
    {
        assert_eq!(line(name).split_whitespace().nth(1), Some(number), "{name}");
    }
    assert!(line("skipped").contains("bad json 1, binary 1"));
    assert!(line("result").contains("out"));
}

#[test]
fn the_exclude_list_is_the_removed_ids() {
    let place = collection();
    place.write("in/line\nbreak", text("a", 40));
    for format in ["parquet", "jsonl"] {
        place.scan(&format!("in rows.jsonl --exclude-list lists.txt --overwrite --format {format}")).exits(3);
        let listed = fs::read_to_string(place.at("lists.txt")).unwrap();
        let removed: Vec<String> =
            place.removed().iter().map(|id| if id.contains('\n') { format!("{id:?}") } else { id.clone() }).collect();
        assert!(removed.len() == 3 && listed.ends_with('\n'));
        assert_eq!(listed.lines().collect::<Vec<_>>(), removed);
    }
    assert!(place.listing("").iter().all(|name| !name.starts_with('.')), "nothing hidden is left");
}

#[test]
fn an_exclude_list_of_nothing_is_an_empty_file() {
    let place = Place::new();
    place.write("in/a.txt", text("a", 40));
    place.scan("in --exclude-list list").exits(0);
    assert_eq!(fs::read(place.at("list")).unwrap(), b"");
}

#[test]
fn a_source_that_loses_most_is_pointed_out() {
    let place = Place::new();
    for n in 0..12 {
        place.write(&format!("mirror/{n:02}.txt"), text(&format!("n{n}x"), 40));
        place.write(&format!("origin/{n:02}.txt"), text(&format!("n{n}x"), 41));
    }
    let ran = place.scan("mirror origin").exits(0);
    assert!(ran.stdout.contains("warning: source 'mirror' loses 12 of its 12 documents"), "{}", ran.stdout);
    let summary = place.scan("mirror origin --overwrite --json").json();
    assert_eq!(summary["warnings"][0]["code"], "source_loses_most");
    assert_eq!(place.removed(), set((0..12).map(|n| format!("mirror/{n:02}.txt"))), "the longer ones are kept");
}
