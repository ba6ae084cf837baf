//! `--against`, `--relation containment` and `onefold rethreshold`, as people use them.

use crate::place::{Place, row, set, text};

/// An archive, and a delivery of which one document is known, one nearly, one twice in itself, and one new.
fn delivery() -> Place {
    let place = Place::new();
    place.write("archive/one.txt", text("one", 60));
    place.write("archive/two.txt", text("two", 60));
    place.write("new/known.txt", text("one", 60));
    place.write("new/nearly.txt", text("two", 60) + " and a few more");
    place.write("new/fresh.txt", text("fresh", 60));
    place.write("new/fresh-copy.txt", text("fresh", 60));
    place
}

#[test]
fn what_the_reference_has_is_removable_and_the_reference_has_no_rows() {
    let place = delivery();
    let ran = place.scan("new --against archive --exclude-list known.txt").exits(0);
    assert!(ran.stdout.contains("known already") && ran.stdout.contains("from the reference of 2 documents"), "{}", ran.stdout);
    assert_eq!(place.ids(), set(["new/fresh-copy.txt", "new/fresh.txt", "new/known.txt", "new/nearly.txt"]));
    let documents = place.documents();
    let about = |id: &str| {
        let row = &documents[id];
        [row.text("representative_id"), row.text("relation"), row.text("keep"), row.text("keep_reason"), row.text("cluster_size")]
    };
    assert_eq!(about("new/known.txt"), ["archive/one.txt", "exact", "false", "beaten by reference", "2"]);
    assert_eq!(about("new/nearly.txt"), ["archive/two.txt", "near", "false", "beaten by reference", "2"]);
    assert_eq!(place.removed().len(), 3);
    assert_eq!(std::fs::read_to_string(place.at("known.txt")).unwrap().lines().count(), 3);
    let explained = place.onefold(["explain", "--result", "out", "new/nearly.txt"]).run().exits(0);
    assert!(explained.stdout.contains("archive/two.txt") && explained.stdout.contains("words to edit"), "{}", explained.stdout);
    let page = std::fs::read_to_string(place.at("out/report.html")).unwrap();
    assert!(page.contains("Known already") && page.contains("archive/two.txt"));
    let known = place.onefold(["explain", "--result", "out", "archive/two.txt"]).run().exits(2);
    known.says(&["belongs to the reference"]);
    let again = place.onefold(["report", "out", "--out", "page.html"]).run().exits(0);
    assert!(again.stderr.is_empty());
    assert!(std::fs::read_to_string(place.at("page.html")).unwrap().contains("and a few more"), "its text is shown");
}

#[test]
fn a_reference_that_is_not_there_is_an_error_and_standard_input_is_read_once() {
    let place = delivery();
    place.scan("new --against nowhere").exits(2).says(&["nowhere"]);
    place.scan("- --against -").exits(2).says(&["standard input"]);
    place.scan("new --against new").exits(4).says(&["reference"]);
    std::fs::create_dir(place.at("empty")).unwrap();
    place.scan("new --against empty").exits(0);
    let warnings = place.result("out").manifest.warnings;
    assert!(warnings.iter().any(|warning| warning.code == "empty_reference"), "{warnings:?}");
    std::fs::remove_dir_all(place.at("out")).unwrap();
    assert!(!place.at("out").exists());
}

/// A page, a page that quotes it whole, and a fragment too short to tell.
fn quotation() -> Place {
    let place = Place::new();
    let page = text("page", 60);
    let quoting = format!("{} {page} {}", text("before", 80), text("after", 80));
    place.write("rows.jsonl", row("page", &page) + &row("quoting", &quoting) + &row("fragment", &text("page", 12)));
    place
}

#[test]
fn what_lies_inside_another_is_shown_and_removed_only_where_asked() {
    let place = quotation();
    place.scan("rows.jsonl").exits(0);
    assert_eq!(place.documents()["page"].text("relation"), "");
    place.scan("rows.jsonl --relation containment --overwrite").exits(0);
    let row = &place.documents()["page"];
    assert_eq!([row.text("relation"), row.text("representative_id"), row.text("keep")], ["contained", "quoting", "true"]);
    assert_eq!(place.documents()["fragment"].text("relation"), "", "too short to tell");
    let explained = place.onefold(["explain", "--result", "out", "page"]).run().exits(0);
    assert!(
        explained.stdout.contains("it lies inside 'quoting'") && explained.stdout.contains("both stay"),
        "{}",
        explained.stdout
    );
    place.scan("rows.jsonl --remove contained --overwrite").exits(0);
    assert_eq!(place.removed(), set(["page"]));
    place.scan("rows.jsonl --remove contained --min-contained 5 --overwrite").exits(0);
    assert_eq!(place.removed(), set(["page", "fragment"]));
    place.scan("rows.jsonl --remove contained --containment 1 --overwrite").exits(0);
    assert_eq!(place.removed(), set(["page"]), "every shingle of the page is in the other");
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let place = quotation();
    place.scan("rows.jsonl --containment 0.9").exits(2).says(&["--relation containment"]);
    place.scan("rows.jsonl --relation containment --containment 0").exits(2).says(&["containment must be"]);
    place.scan("rows.jsonl --relation containment --pairs star").exits(2).says(&["pairs must be 'all'"]);
    place.scan("rows.jsonl --relation resemblance --remove contained").exits(2).says(&["remove must be"]);
}

#[test]
fn another_threshold_needs_no_other_scan() {
    let place = Place::new();
    let base = text("w", 100);
    place.write(
        "rows.jsonl",
        row("a", &base) + &row("b", &format!("{base} x y z")) + &row("c", &format!("{base} {}", text("n", 60))),
    );
    place.scan("rows.jsonl --floor 0.5").exits(0);
    let ask = |words: &str| place.onefold(["rethreshold", "out"]).args(words.split_whitespace()).run();
    let only_told = ask("--threshold 0.6 --json").exits(0);
    let summary: serde_json::Value = serde_json::from_str(&only_told.stdout).unwrap();
    assert_eq!((&summary["removed"], &summary["result"]), (&2.into(), &serde_json::Value::Null));
    ask("--threshold 0.6 --out lower").exits(0);
    place.onefold(["scan", "rows.jsonl", "--threshold", "0.6", "--floor", "0.5", "--out", "scanned"]).run().exits(0);
    for name in ["documents.parquet", "pairs.parquet", "state.parquet", "skipped.jsonl"] {
        let read = |folder: &str| std::fs::read(place.at(format!("{folder}/{name}"))).unwrap();
        assert!(read("lower") == read("scanned"), "{name}");
    }
    let again = place.onefold(["rethreshold", "lower", "--threshold", "0.98", "--out", "higher"]).run().exits(0);
    assert!(again.stdout.contains("near-duplicates"));
    assert!(place.at("higher/report.html").exists());
    ask("--threshold 0.4").exits(2).says(&["at least 0.5", "--floor"]);
    ask("--threshold 2").exits(2);
    ask("--threshold 0.6 --exclude-list ids.txt").exits(2).says(&["--out"]);
    ask("--threshold 0.6 --out lower").exits(2).says(&["already holds a result"]);
}
