//! What is in `--out` already: refused, replaced, or left alone.

use std::collections::BTreeMap;
use std::fs;

use crate::place::{Place, RESULT, set, text};

fn contents(place: &Place, folder: &str) -> BTreeMap<String, Vec<u8>> {
    place
        .listing(folder)
        .into_iter()
        .map(|name| (name.clone(), fs::read(place.at(format!("{folder}/{name}"))).unwrap()))
        .collect()
}

#[test]
fn a_result_is_refused_and_untouched() {
    let place = Place::with_documents();
    place.scan("in").exits(0);
    let before = contents(&place, "out");
    place.write("in/d.txt", text("d", 40));
    place.scan("in").exits(2).says(&["'out'", "already holds a result", "--overwrite"]);
    assert_eq!(contents(&place, "out"), before);
}

#[test]
fn a_result_is_replaced_when_asked() {
    let place = Place::with_documents();
    place.scan("in --format csv").exits(0);
    place.write("out/notes.txt", "mine");
    place.write("in/d.txt", text("d", 40));
    place.scan("in --overwrite --format jsonl").exits(0);
    assert_eq!(
        place.listing("out"),
        set(["documents.jsonl", "pairs.jsonl", "report.html", "run.json", "skipped.jsonl", "state.parquet", "notes.txt"])
    );
    assert_eq!(fs::read_to_string(place.at("out/notes.txt")).unwrap(), "mine");
    assert_eq!(place.documents().len(), 4);
}

/// A table that the former manifest does not name is somebody else's.
#[test]
fn only_the_results_own_files_are_replaced() {
    let place = Place::with_documents();
    place.scan("in").exits(0);
    place.write("out/pairs.csv", "id_a,id_b\nmy,gold\n");
    place.scan("in --overwrite").exits(0);
    assert!(place.at("out/pairs.csv").exists(), "a file of the user's was deleted");
}

#[test]
fn a_folder_that_is_no_result_is_refused_even_with_overwrite() {
    let place = Place::with_documents();
    place.write("out/thesis.txt", "years of work");
    for options in ["", "--overwrite"] {
        place.scan(&format!("in {options}")).exits(2).says(&["'out'", "not a result folder"]);
        assert_eq!(place.listing("out"), set(["thesis.txt"]));
    }
}

/// `run.json` is not a rare name.
#[test]
fn a_foreign_run_json_makes_no_result() {
    let place = Place::with_documents();
    place.write("out/run.json", "{\"experiment\": 7}");
    place.write("out/documents.csv", "mine");
    let before = contents(&place, "out");
    place.scan("in --overwrite").exits(2).says(&["not a result folder"]);
    assert_eq!(contents(&place, "out"), before);
}

#[test]
fn a_file_or_link_in_the_way_is_refused() {
    let place = Place::with_documents();
    place.write("out", "a file");
    place.scan("in --overwrite").exits(2).says(&["'out'", "is not a folder"]);
    assert_eq!(fs::read_to_string(place.at("out")).unwrap(), "a file");
    fs::remove_file(place.at("out")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.at("out")).unwrap();
    place.scan("in --overwrite").exits(2).says(&["is not a folder"]);
}

#[test]
fn a_failed_run_leaves_the_former_result() {
    let place = Place::with_documents();
    place.scan("in").exits(0);
    let before = contents(&place, "out");
    place.scan("missing --overwrite").exits(2);
    place.scan("/dev/null --overwrite").exits(4);
    place.scan("in --overwrite --max-pairs 0").exits(8);
    assert_eq!(contents(&place, "out"), before);
}

#[test]
fn a_finished_result_holds_its_files_and_nothing_hidden() {
    let place = Place::with_documents();
    place.scan("in").exits(0);
    assert_eq!(place.listing("out"), set(RESULT));
    place.onefold(["scan", "in", "--out", "deep/down/out"]).run().exits(0);
    assert_eq!(place.listing("deep/down/out"), set(RESULT));
}

#[test]
fn a_failed_run_removes_every_folder_that_it_made() {
    let place = Place::with_documents();
    let before = place.listing("");
    place.onefold(["scan", "missing", "--out", "deep/down/out"]).run().exits(2);
    assert_eq!(place.listing(""), before);
}
