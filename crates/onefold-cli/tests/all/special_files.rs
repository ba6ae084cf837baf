//! F2: what is not a regular file is never opened, and nothing hangs.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::machine::{skip, tool};
use crate::place::{Place, pairs, row, set, text};

/// Documents with a pipe, a socket and, where we may make one, a device that never ends.
fn tree() -> (Place, UnixListener, bool) {
    let place = Place::with_documents();
    tool(&["mkfifo", "in/pipe", "in/rows.jsonl"], place.path());
    let socket = UnixListener::bind(place.at("in/socket")).unwrap();
    let device =
        Command::new("mknod").args(["in/zero", "c", "1", "5"]).current_dir(place.path()).status().is_ok_and(|s| s.success());
    if !device {
        skip("right to make a device node");
    }
    (place, socket, device)
}

#[test]
fn f2_special_files_in_a_tree_are_skipped() {
    let (place, _socket, device) = tree();
    place.scan("in").exits(3);
    let mut expected = pairs(&["in/pipe", "in/rows.jsonl", "in/socket"].map(|name| (name, "not_a_regular_file")));
    expected.extend(device.then(|| ("in/zero".to_string(), "not_a_regular_file".to_string())));
    assert_eq!(place.skipped(), expected);
    assert_eq!(place.documents().len(), 3, "the rest is processed");
}

#[test]
fn f2_links_to_devices_are_skipped_even_when_followed() {
    let place = Place::with_documents();
    for (name, target) in [("zero", "/dev/zero"), ("full", "/dev/full"), ("z.jsonl", "/dev/zero")] {
        symlink(target, place.at(format!("in/{name}"))).unwrap();
    }
    place.scan("in --follow").exits(3);
    assert_eq!(place.skipped(), pairs(&["in/full", "in/z.jsonl", "in/zero"].map(|name| (name, "not_a_regular_file"))));
    assert_eq!(place.documents().len(), 3);
}

#[test]
fn f2_a_device_as_an_argument_is_refused() {
    let place = Place::with_documents();
    place.scan("/dev/zero").exits(4).says(&["no document"]);
    assert!(!place.at("out").exists());
    place.scan("/dev/zero in").exits(3);
    assert_eq!(place.skipped(), pairs(&[("/dev/zero", "not_a_regular_file")]));
}

/// It calls itself regular and has no bytes at its beginning.
#[test]
fn f2_the_memory_of_a_process_ends_nothing() {
    let place = Place::with_documents();
    symlink("/proc/self/mem", place.at("in/memory")).unwrap();
    place.scan("in --follow").exits(3);
    assert_eq!(place.skipped(), pairs(&[("in/memory", "unreadable")]));
    assert_eq!(place.documents().len(), 3);
    let ran = place.onefold(["scan", "/proc/self/mem", "--out", "other"]).run();
    assert!([2, 4].contains(&ran.code), "{ran:?}");
    assert!(ran.says(&["/proc/self/mem"]).stderr.contains("error["));
    assert!(!place.at("other").exists());
}

/// `onefold scan <(zcat …)` is how people use it.
#[test]
fn a_pipe_named_as_an_argument_is_read() {
    let place = Place::new();
    tool(&["mkfifo", "pipe"], place.path());
    let path = place.at("pipe");
    let writer = std::thread::spawn(move || {
        File::options().write(true).open(path).unwrap().write_all(row("a", &text("a", 40)).as_bytes()).unwrap()
    });
    place.scan("pipe").exits(0);
    writer.join().unwrap();
    assert_eq!(place.ids(), set(["a"]));
}
