//! F4, F5, H10: names that are hard to write down.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::machine::tool;
use crate::place::{Place, set, text};

/// Name as bytes, id as the contract has it.
fn awkward() -> Vec<(Vec<u8>, String)> {
    let long = "l".repeat(255);
    let as_they_are = [
        "line\nbreak",
        "\u{1b}[31mred\u{1b}]0;title\u{7}",
        "--help",
        "-rf",
        "\u{202e}txt.exe",
        "c1\u{9b}31m",
        "tab\tname",
        " ",
        "%41",
        &long,
    ];
    let mut names: Vec<_> = as_they_are.iter().map(|name| (name.as_bytes().to_vec(), (*name).to_string())).collect();
    names.push((b"bytes\xff\xfe.txt".to_vec(), "bytes%FF%FE.txt".into()));
    names.push((b"surrogate\xed\xa0\x80".to_vec(), "surrogate%ED%A0%80".into()));
    names
}

/// Every document twice, so that names come into clusters, pairs and the exclude list.
fn tree() -> Place {
    let place = Place::new();
    for (at, (name, _)) in awkward().into_iter().enumerate() {
        for folder in ["in/one/", "in/two/"] {
            place.write_raw(&[folder.as_bytes(), &name].concat(), text(&format!("n{at}x"), 40));
        }
    }
    place
}

fn expected_ids() -> impl Iterator<Item = String> {
    ["in/one/", "in/two/"].into_iter().flat_map(|folder| awkward().into_iter().map(move |(_, id)| format!("{folder}{id}")))
}

#[test]
fn f4_every_name_is_processed_and_its_id_is_lossless() {
    for format in ["parquet", "jsonl", "csv"] {
        let place = tree();
        place.scan(&format!("in --format {format}")).exits(0);
        assert_eq!(place.ids(), set(expected_ids()), "{format}");
        assert_eq!(place.removed().len(), awkward().len(), "{format}");
    }
}

#[test]
fn f4_the_raw_path_is_kept_where_the_id_is_not_the_name() {
    let place = tree();
    place.scan("in").exits(0);
    let state = place.state();
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    assert_eq!(state["in/one/bytes%FF%FE.txt"].text("raw_path"), hex(b"in/one/bytes\xff\xfe.txt"));
    assert_eq!(state["in/one/%41"].text("raw_path"), "");
}

#[test]
fn f4_h10_nothing_on_the_terminal_can_steer_it() {
    let place = tree();
    for name in ["in/one", "in/two"] {
        fs::rename(place.at(name), place.at(format!("{name}\u{1b}[2J\u{9b}K\u{202e}"))).unwrap();
    }
    let folders: Vec<String> = ["in/one", "in/two"].map(|name| format!("{name}\u{1b}[2J\u{9b}K\u{202e}")).into();
    let ran = place.onefold(["scan", "--out", "out\u{1b}[1m"]).args(&folders).run().exits(0);
    assert!(ran.stdout.contains("\\u{1b}[2J") && ran.stdout.contains("\\u{202e}"), "names are shown: {}", ran.stdout);
    harmless(&ran.stdout);
    harmless(&ran.stderr);
    let again = place.onefold(["scan", "--out", "out\u{1b}[1m"]).args(&folders).run().exits(2);
    harmless(&again.says(&["\\u{1b}[1m"]).stderr);
}

#[track_caller]
fn harmless(text: &str) {
    let bad = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.chars().any(bad), "{text:?}");
}

#[test]
fn f4_names_given_as_arguments() {
    let place = Place::new();
    let names = ["-dash.txt", "--help", "\u{1b}[31m", "line\nbreak"];
    names.iter().enumerate().for_each(|(at, name)| drop(place.write(name, text(&format!("n{at}x"), 40))));
    place.onefold(["scan", "--out", "out", "--"]).args(names).run().exits(0);
    assert_eq!(place.ids(), set(names));
}

#[test]
fn f4_bytes_that_are_not_text_as_an_argument() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    place.write_raw(b"a\xff.txt", text("a", 40));
    place.onefold(["scan", "--out", "out"]).args([std::ffi::OsStr::from_bytes(b"a\xff.txt")]).run().exits(0);
    assert_eq!(place.ids(), set(["a%FF.txt"]));
}

#[test]
fn f4_bytes_that_are_not_text_as_the_output_folder() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::with_documents();
    let out = std::ffi::OsStr::from_bytes(b"out\xff");
    place.onefold(["scan", "in", "--out"]).args([out]).run().exits(0);
    assert!(place.at(out).join("run.json").exists());
}

#[test]
fn f4_an_escaped_name_that_is_another_files_name_costs_no_document() {
    let place = Place::new();
    place.write_raw(b"in/a\xff", text("a", 40));
    place.write("in/a%FF", text("b", 40));
    place.scan("in").exits(3);
    assert_eq!(place.documents().len(), 2, "{:?}", place.ids());
}

/// F5: deeper than any path can say.
#[test]
fn f5_three_thousand_folders_deep() {
    let place = Place::with_documents();
    nest(&place.at("in"), 3000);
    let summary = place.scan("in --json").exits(3).json();
    assert_eq!(summary["documents"], 3);
    let skipped = place.skipped();
    assert_eq!(skipped.len(), 1, "where the path ends");
    assert_eq!(skipped[0].1, "unreadable");
    // A removal by path fails at this depth; `rm` goes by folder handles.
    tool(&["rm", "-rf", "in"], place.path());
}

/// Through handles, since the path would be too long.
fn nest(root: &Path, depth: usize) {
    let mut folder = File::open(root).unwrap();
    for _ in 0..depth {
        let below = format!("/proc/self/fd/{}/dir", folder.as_raw_fd());
        fs::create_dir(&below).unwrap();
        folder = File::open(&below).unwrap();
    }
    fs::write(format!("/proc/self/fd/{}/deep.txt", folder.as_raw_fd()), text("deep", 40)).unwrap();
}
