//! F6, F7, F11: files that may not be read, places that may not be written, few file handles, odd clocks.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use crate::machine::{as_nobody, shell, with_mounts};
use crate::place::{Place, RESULT, pairs, set, text};

fn forbid(place: &Place, name: &str) {
    fs::set_permissions(place.at(name), fs::Permissions::from_mode(0o000)).unwrap();
}

/// A folder that anyone may write in.
fn open_folder(place: &Place, name: &str) {
    fs::create_dir(place.at(name)).unwrap();
    fs::set_permissions(place.at(name), fs::Permissions::from_mode(0o777)).unwrap();
}

#[test]
fn f6_what_cannot_be_read_is_skipped_and_the_rest_processed() {
    let place = Place::with_documents();
    place.write("in/closed/d.txt", text("d", 40));
    place.write("in/rows.jsonl", crate::place::row("r", &text("r", 40)));
    ["in/b.txt", "in/closed", "in/rows.jsonl"].iter().for_each(|name| forbid(&place, name));
    open_folder(&place, "results");
    let Some(program) = as_nobody(place.path()) else { return };
    program.args(["scan", "in", "--out", "results/out"]).run().exits(3);
    fs::rename(place.at("results/out"), place.at("out")).unwrap();
    assert_eq!(place.ids(), set(["in/a.txt", "in/c.txt"]));
    assert_eq!(place.skipped(), pairs(&["in/b.txt", "in/closed", "in/rows.jsonl"].map(|name| (name, "unreadable"))));
}

/// The row says "skip + reason, rest processed", of a file in a tree and of one that is named.
#[test]
fn f6_an_unreadable_argument_is_treated_alike_whatever_its_name() {
    let place = Place::with_documents();
    open_folder(&place, "results");
    let codes = ["closed.txt", "closed.jsonl"].map(|name| {
        place.write(name, text("d", 40));
        forbid(&place, name);
        let out = format!("results/{name}");
        as_nobody(place.path()).map(|program| program.args(["scan", "in", name, "--out", &out]).run().code)
    });
    if codes[0].is_some() {
        assert_eq!(codes, [Some(3), Some(3)]);
    }
}

#[test]
fn f7_an_output_place_that_is_read_only_fails_before_any_work() {
    let place = Place::with_documents();
    fs::create_dir(place.at("mount")).unwrap();
    // Input that never ends: if it were read first, the time limit would strike.
    let script = "mount -t tmpfs -o ro tmpfs mount; exec $ONEFOLD scan - --out mount/out";
    let Some(program) = with_mounts(place.path(), script) else { return };
    let mut running = program.open();
    running.wait().exits(5).says(&["mount/out", "Read-only file system", "nothing was published"]);
}

#[test]
fn f7_an_output_place_that_is_closed_fails_before_any_work() {
    let place = Place::with_documents();
    let Some(program) = as_nobody(place.path()) else { return };
    let mut running = program.args(["scan", "-", "--out", "out"]).open();
    running.wait().exits(5).says(&["'out'", "Permission denied"]);
    place.write("file", "x");
    place.onefold(["scan", "-", "--out", "file/out"]).open().wait().exits(5).says(&["file/out", "Not a directory"]);
    assert_eq!(place.listing(""), set(["in", "in/a.txt", "in/b.txt", "in/c.txt", "file"]));
}

#[test]
fn f7_read_only_input_is_read_and_nothing_written_beside_it() {
    let place = Place::with_documents();
    place.write("in/rows.jsonl", crate::place::row("r", &text("r", 40)));
    let before = place.listing("in");
    let script = "mount -o bind in in; mount -o remount,ro,bind in; $ONEFOLD scan in --out out";
    let Some(program) = with_mounts(place.path(), script) else { return };
    program.run().exits(0);
    assert_eq!(place.listing("in"), before);
    assert_eq!(place.listing("out"), set(RESULT));
    assert_eq!(place.documents().len(), 4);
}

/// `onefold scan . --out result` is what people type first.
#[test]
fn f7_the_output_folder_inside_the_input_is_not_read() {
    let place = Place::with_documents();
    place.onefold(["scan", ".", "--out", "result"]).run().exits(0);
    fs::rename(place.at("result"), place.at("out")).unwrap();
    assert_eq!(place.ids(), set(["in/a.txt", "in/b.txt", "in/c.txt"]));
    fs::rename(place.at("out"), place.at("result")).unwrap();
    place.onefold(["scan", ".", "--out", "result", "--overwrite"]).run().exits(0);
    fs::rename(place.at("result"), place.at("out")).unwrap();
    assert_eq!(place.ids(), set(["in/a.txt", "in/b.txt", "in/c.txt"]), "a former result is no input");
}

#[test]
fn f11_sixteen_file_handles_are_enough() {
    let place = Place::new();
    for at in 0..200 {
        place.write(&format!("in/{}/{at}.txt", at % 20), text(&format!("n{at}x"), 30));
    }
    shell(place.path(), "ulimit -n 16; exec $ONEFOLD scan in --out out --threads 8").run().exits(0);
    assert_eq!(place.documents().len(), 200);
}

/// S14: the times of files mean nothing to the result.
#[test]
fn s14_files_from_the_future_and_from_before_1970() {
    let place = Place::with_documents();
    place.scan("in").exits(0);
    let before = fs::read(place.at("out/documents.parquet")).unwrap();
    let future = SystemTime::now() + Duration::from_secs(20 * 365 * 86_400);
    File::options().append(true).open(place.at("in/a.txt")).unwrap().set_modified(future).unwrap();
    let past = SystemTime::UNIX_EPOCH - Duration::from_secs(86_400);
    File::options().append(true).open(place.at("in/b.txt")).unwrap().set_modified(past).unwrap();
    place.scan("in --overwrite").exits(0);
    assert_eq!(fs::read(place.at("out/documents.parquet")).unwrap(), before);
}
