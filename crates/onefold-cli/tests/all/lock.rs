//! S13: two runs in one folder.

use std::thread;
use std::time::{Duration, Instant};

use crate::place::{Place, RESULT, row, set, text};
use crate::program::Running;

/// A run that waits for standard input, its folder claimed.
fn waiting(place: &Place) -> Running {
    let mut running = place.onefold(["scan", "-", "--out", "out"]).open();
    running.feed(row("a", &text("a", 40)).as_bytes());
    let began = Instant::now();
    while !place.at("out/.lock").exists() || std::fs::read(place.at("out/.lock")).unwrap().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(10), "no lock");
        thread::sleep(Duration::from_millis(5));
    }
    running
}

#[test]
fn s13_the_second_run_is_turned_away_and_the_first_finishes() {
    let place = Place::with_documents();
    let mut first = waiting(&place);
    let holder = first.id().to_string();
    place.scan("in").exits(7).says(&["'out'", "in use", &holder]);
    place.scan("in --overwrite").exits(7);
    first.feed(row("b", &text("b", 40)).as_bytes());
    first.close();
    first.wait().exits(0);
    assert_eq!(place.ids(), set(["a", "b"]));
    assert_eq!(place.listing("out"), set(RESULT));
}

#[test]
fn s13_the_holder_is_named_with_its_host() {
    let place = Place::with_documents();
    let _first = waiting(&place);
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    place.scan("in").exits(7).says(&[host.trim()]);
}

#[test]
fn s13_what_a_killed_run_left_stops_nobody() {
    let place = Place::with_documents();
    let mut first = waiting(&place);
    first.signal("KILL");
    first.wait().exits(137);
    assert!(place.at("out/.lock").exists() && !place.at("out/run.json").exists());
    place.onefold(["evaluate", "out", "--gold", "gold"]).run().exits(2).says(&["out/run.json"]);
    place.scan("in").exits(0);
    assert_eq!(place.documents().len(), 3);
    assert!(!place.at("out/.lock").exists());
}

#[test]
fn runs_in_different_folders_do_not_meet() {
    let place = Place::with_documents();
    let _first = waiting(&place);
    place.onefold(["scan", "in", "--out", "other"]).run().exits(0);
    assert!(place.at("other/run.json").exists());
}
