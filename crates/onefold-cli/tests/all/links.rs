//! F1, F9: links that go round in circles, and one file under several names.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use crate::place::{Place, pairs, set, text};

/// `in` with a link to itself, and two folders that link to each other.
fn loops() -> Place {
    let place = Place::with_documents();
    symlink(".", place.at("in/loop")).unwrap();
    for (folder, other) in [("in/left", "../right"), ("in/right", "../left")] {
        place.write(&format!("{folder}/{}.txt", &folder[3..]), text(&folder[3..], 40));
        symlink(other, place.at(format!("{folder}/back"))).unwrap();
    }
    place
}

#[test]
fn f1_links_are_counted_and_not_followed() {
    let place = loops();
    let began = Instant::now();
    let summary = place.scan("in --json").exits(3).json();
    assert!(began.elapsed() < Duration::from_secs(5), "a loop was walked");
    assert_eq!(place.ids(), set(["in/a.txt", "in/b.txt", "in/c.txt", "in/left/left.txt", "in/right/right.txt"]));
    assert_eq!(place.skipped(), pairs(&[("in/left/back", "symlink"), ("in/loop", "symlink"), ("in/right/back", "symlink")]));
    assert_eq!(summary["skipped_by_reason"]["symlink"], 3);
}

#[test]
fn f1_followed_links_enter_each_folder_once() {
    let place = loops();
    place.scan("in --follow").exits(0);
    assert_eq!(place.documents().len(), 5, "{:?}", place.ids());
    assert_eq!(place.removed().len(), 1, "only the copy: {:?}", place.removed());
}

#[test]
fn f1_a_link_to_itself_and_one_to_nowhere_are_skipped() {
    let place = Place::with_documents();
    symlink("self", place.at("in/self")).unwrap();
    symlink("nowhere", place.at("in/dangling")).unwrap();
    place.scan("in --follow").exits(3);
    assert_eq!(place.skipped(), pairs(&[("in/dangling", "unreadable"), ("in/self", "unreadable")]));
    assert_eq!(place.documents().len(), 3);
}

#[test]
fn a_link_named_as_an_argument_is_meant() {
    let place = Place::with_documents();
    symlink("in", place.at("folder")).unwrap();
    symlink("in/c.txt", place.at("file")).unwrap();
    place.scan("folder file").exits(0);
    // One inode, two names: the smaller is the id.
    assert_eq!(place.ids(), set(["file", "folder/a.txt", "folder/b.txt"]));
    assert_eq!(aliases(&place, "file"), ["folder/c.txt"]);
}

fn aliases(place: &Place, id: &str) -> Vec<String> {
    serde_json::from_str(place.state()[id].text("aliases")).unwrap()
}

#[test]
fn f9_a_folder_given_twice_is_read_once() {
    let place = Place::with_documents();
    place.scan("in in ./in in/ in/../in in/a.txt").exits(0);
    assert_eq!(place.ids(), set(["in/a.txt", "in/b.txt", "in/c.txt"]));
    assert!(aliases(&place, "in/a.txt").is_empty(), "the same name is no alias");
}

#[test]
fn f9_overlapping_roots_give_one_document_each() {
    let place = Place::new();
    place.write("in/deep/a.txt", text("a", 40));
    let absolute = place.at("in").display().to_string();
    place.scan(&format!("in in/deep {absolute}")).exits(0);
    let id = format!("{absolute}/deep/a.txt");
    assert_eq!(place.ids(), set([&id]), "the smallest name is the id");
    assert_eq!(aliases(&place, &id), ["in/deep/a.txt"]);
    assert!(place.removed().is_empty(), "its own duplicate");
}

#[test]
fn f9_hard_links_are_one_document_with_aliases() {
    let place = Place::new();
    place.write("in/m.txt", text("a", 40));
    place.write("in/rows.jsonl", crate::place::row("r", &text("r", 40)));
    for name in ["in/z.txt", "in/b.txt"] {
        fs::hard_link(place.at("in/m.txt"), place.at(name)).unwrap();
    }
    fs::hard_link(place.at("in/rows.jsonl"), place.at("in/again.jsonl")).unwrap();
    let summary = place.scan("in --json").exits(0).json();
    assert_eq!(place.ids(), set(["in/b.txt", "r"]));
    assert_eq!(aliases(&place, "in/b.txt"), ["in/m.txt", "in/z.txt"]);
    assert_eq!(aliases(&place, "r"), ["in/rows.jsonl"]);
    assert_eq!((&summary["removed"], &summary["seen"]), (&0.into(), &2.into()));
}

/// F1: a tree that is mounted inside itself.
#[test]
fn f1_a_tree_inside_itself_is_read_once() {
    let place = Place::with_documents();
    fs::create_dir(place.at("in/self")).unwrap();
    let script = "mount --bind in in/self; exec $ONEFOLD scan in --out out";
    let Some(program) = crate::machine::with_mounts(place.path(), script) else { return };
    program.run().exits(0);
    assert_eq!(place.ids(), set(["in/a.txt", "in/b.txt", "in/c.txt"]));
    assert_eq!(aliases(&place, "in/a.txt"), ["in/self/a.txt"]);
}
