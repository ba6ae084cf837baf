//! `report.html`: published with the result, and made again from a folder.

use std::fs;

use crate::place::Place;

#[test]
fn every_result_has_a_page_and_report_makes_it_again() {
    let place = Place::with_documents();
    place.scan("in").exits(0);
    let page = fs::read_to_string(place.at("out/report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"), "{}", &page[..60]);
    assert!(!page.contains("<script") && !page.contains("http-equiv=\"refresh\""));
    let said = place.onefold(["report", "out", "--out", "again.html", "--json"]).run().exits(0).json();
    let again = fs::read_to_string(place.at("again.html")).unwrap();
    assert_eq!(said["bytes"], again.len());
    assert!(again.contains("<h1"), "a page");
    place.onefold(["report", "nowhere"]).run().exits(2).says(&["nowhere"]);
    place.onefold(["report", "out", "--out", "no/such/folder/x.html"]).run().exits(5).says(&["no/such/folder"]);
}

/// The page is part of the result: made again in place, the result is as sound as before.
#[test]
fn a_page_made_in_place_leaves_a_sound_result() {
    let place = Place::with_documents();
    for options in ["in", "in --overwrite --no-report"] {
        place.scan(options).exits(0);
        place.onefold(["report", "out"]).run().exits(0);
        place.onefold(["report", "out"]).run().exits(0);
        place.onefold(["pairs", "out"]).run().exits(0);
        assert_eq!(place.listing("out"), crate::place::set(crate::place::RESULT));
    }
}

#[test]
fn no_report_leaves_the_page_out() {
    let place = Place::with_documents();
    place.scan("in --no-report").exits(0);
    assert!(!place.at("out/report.html").exists());
}

/// A pipe can be read once; the page does without its texts and does not wait for them.
#[test]
fn a_page_of_a_stream_says_that_texts_are_not_at_hand() {
    let place = Place::new();
    let text = "one two three four five six seven eight nine ten";
    let rows = format!("{{\"id\":\"a\",\"text\":\"{text}\"}}\n{{\"id\":\"b\",\"text\":\"{text}\"}}\n");
    place.write("rows.jsonl", rows);
    crate::machine::shell(&place.at(""), &format!("cat rows.jsonl | {} scan - --out out -q", env!("CARGO_BIN_EXE_onefold")))
        .run()
        .exits(0);
    let page = fs::read_to_string(place.at("out/report.html")).unwrap();
    assert!(page.contains("not at hand"), "the page says so");
}
