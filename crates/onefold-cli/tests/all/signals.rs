//! S11: interrupted runs end at once and leave nothing.

use std::thread;
use std::time::{Duration, Instant};

use crate::machine::tool;
use crate::place::{Place, row, set, text};
use crate::program::Running;

/// Waits until the run has its signal handlers and its folder.
fn started(place: &Place, out: &str) {
    let began = Instant::now();
    while !place.at(format!("{out}/.lock")).exists() {
        assert!(began.elapsed() < Duration::from_secs(10), "not started");
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(50));
}

fn interrupt(signal: &str, code: i32) {
    let place = Place::with_documents();
    let before = place.listing("");
    let mut running: Running = place.onefold(["scan", "in", "-", "--out", "out", "--exclude-list", "list"]).open();
    running.feed(row("a", &text("a", 40)).as_bytes());
    started(&place, "out");
    running.signal(signal);
    let ran = running.wait().exits(code);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    ran.says(&["interrupted", "nothing was published"]);
    assert_eq!(place.listing(""), before);
}

#[test]
fn s11_interrupt_is_130() {
    interrupt("INT", 130);
}

#[test]
fn s11_termination_is_143() {
    interrupt("TERM", 143);
}

/// The table gives 130 and 143 for the three signals; a terminal that went away is a termination.
#[test]
fn s11_hangup_is_143() {
    interrupt("HUP", 143);
}

#[test]
fn s11_an_interrupted_overwrite_leaves_the_former_result() {
    let place = Place::with_documents();
    place.scan("in").exits(0);
    let before = place.listing("out");
    let mut running = place.onefold(["scan", "-", "--out", "out", "--overwrite"]).open();
    started(&place, "out");
    running.signal("INT");
    running.wait().exits(130);
    assert_eq!(place.listing("out"), before);
    assert_eq!(place.documents().len(), 3);
}

#[test]
fn s11_an_interrupted_run_removes_every_folder_that_it_made() {
    let place = Place::with_documents();
    let before = place.listing("");
    let mut running = place.onefold(["scan", "-", "--out", "deep/down/out"]).open();
    started(&place, "deep/down/out");
    running.signal("TERM");
    running.wait().exits(143);
    assert_eq!(place.listing(""), before);
}

/// Nobody writes to the pipe: opening it waits, and Ctrl-C must end that too.
#[test]
fn s11_waiting_for_a_named_pipe_can_be_interrupted() {
    let place = Place::new();
    tool(&["mkfifo", "pipe"], place.path());
    let mut running = place.onefold(["scan", "pipe", "--out", "out"]).open();
    started(&place, "out");
    running.signal("INT");
    running.wait().exits(130);
    assert_eq!(place.listing(""), set(["pipe"]));
}

/// A pipe that was opened and then falls silent.
#[test]
fn s11_reading_a_silent_pipe_can_be_interrupted() {
    let place = Place::new();
    tool(&["mkfifo", "pipe"], place.path());
    // Opened for both, so that neither side waits and the pipe never ends.
    let _writer = std::fs::File::options().read(true).write(true).open(place.at("pipe")).unwrap();
    let mut running = place.onefold(["scan", "pipe", "--out", "out"]).open();
    started(&place, "out");
    running.signal("INT");
    running.wait().exits(130);
    assert_eq!(place.listing(""), set(["pipe"]));
}
