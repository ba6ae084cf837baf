//! `--write-kept` when it must not, or cannot: refused before the work, or no trace after it.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::machine::{shell, tool, with_mounts};
use crate::place::{Place, large, set, text};

#[test]
fn a_folder_with_anything_in_it_is_refused_and_untouched() {
    let place = Place::with_documents();
    for (name, problem) in [("kept/thesis.txt", "is not empty"), ("kept/.hidden", "is not empty"), ("kept", "is not a folder")] {
        place.write(name, "mine");
        let before = place.listing("");
        for options in ["", "--overwrite"] {
            place.scan(&format!("in --write-kept kept {options}")).exits(2).says(&[
                "E0206",
                "'kept'",
                problem,
                "--write-kept",
                "none is ever replaced",
            ]);
            assert_eq!(place.listing(""), before);
            assert_eq!(fs::read_to_string(place.at(name)).unwrap(), "mine");
        }
        let _ = fs::remove_dir_all(place.at("kept"));
    }
}

#[test]
fn an_empty_folder_is_filled() {
    let place = Place::with_documents();
    fs::create_dir(place.at("kept")).unwrap();
    std::os::unix::fs::symlink("kept", place.at("link")).unwrap();
    place.scan("in --write-kept link").exits(0);
    assert_eq!(place.listing("kept").len(), 3, "two files and a folder, nothing hidden");
}

#[test]
fn result_and_kept_documents_cannot_be_one_folder() {
    let place = Place::with_documents();
    let before = place.listing("");
    for (out, kept, problem) in [("x", "x", "different folders"), ("x/y", "x", "is not empty")] {
        place.onefold(["scan", "in", "--out", out, "--write-kept", kept]).run().exits(2).says(&["'x'", problem]);
        assert_eq!(place.listing(""), before);
    }
    place.onefold(["scan", "in", "--out", "x", "--write-kept", "x/kept"]).run().exits(0);
    assert!(place.at("x/kept/in/c.txt").exists() && place.at("x/run.json").exists());
}

#[test]
fn streams_and_pipes_are_refused_before_they_are_read() {
    let place = Place::with_documents();
    tool(&["mkfifo", "pipe"], place.path());
    let before = place.listing("");
    let stdin = place.onefold(["scan", "in", "-", "--out", "out", "--write-kept", "kept"]).open().wait().exits(2);
    stdin.says(&["E0207", "'-'", "standard input", "only once", "to a file first"]);
    // Nobody writes to the pipe: opening it would wait.
    place.scan("in pipe --write-kept kept").exits(2).says(&["'pipe'", "a pipe", "only once"]);
    assert_eq!(place.listing(""), before);
}

#[test]
fn two_inputs_at_one_place_are_refused() {
    let place = Place::new();
    place.write("in/a.txt", text("a", 40));
    place.write("%2E%2E/in/a.txt", text("b", 40));
    let before = place.listing("");
    fs::create_dir(place.at("w")).unwrap();
    place.onefold(["scan", "../in", "../%2E%2E", "--out", "out", "--write-kept", "kept"]).within(&place.at("w")).run().exits(0);
    fs::remove_dir_all(place.at("w")).unwrap();
    place.write("w/%2E%2E/in/a.txt", text("b", 40));
    place
        .onefold(["scan", "../in", "%2E%2E", "--out", "out", "--write-kept", "kept"])
        .within(&place.at("w"))
        .run()
        .exits(2)
        .says(&["E0208", "'../in/a.txt'", "'%2E%2E/in/a.txt'", "'kept/%2E%2E/in/a.txt'"]);
    fs::remove_dir_all(place.at("w")).unwrap();
    assert_eq!(place.listing(""), before);
}

/// One input is a file where the other needs a folder.
#[test]
fn a_file_in_the_place_of_a_folder_is_refused() {
    let place = Place::new();
    place.write("w/%2E%2E", text("a", 40));
    place.write("b.txt", text("b", 40));
    let scan = place.onefold(["scan", "../b.txt", "%2E%2E", "--out", "out", "--write-kept", "kept"]).within(&place.at("w"));
    scan.run().exits(2).says(&["E0208", "'kept/%2E%2E'"]);
    assert_eq!(place.listing("w"), set(["%2E%2E"]));
}

#[test]
fn a_full_disk_is_exit_5_and_leaves_nothing() {
    let place = large();
    for target in ["mount", "mount/kept"] {
        let script = format!(
            "mount -t tmpfs -o size=64k tmpfs mount; code=0; $ONEFOLD scan a.jsonl --out out --write-kept {target} || code=$?; ls -A mount; exit $code"
        );
        let Some(program) = with_mounts(place.path(), &script) else { return };
        let ran =
            program.run().exits(5).says(&[&format!("'{target}/a.jsonl'"), "No space left on device", "nothing was published"]);
        assert_eq!(ran.stdout, "", "left behind");
        assert_eq!(place.listing(""), set(["a.jsonl", "mount"]));
    }
}

#[test]
fn a_limit_on_file_size_is_exit_5() {
    let place = large();
    let ran = shell(place.path(), "ulimit -f 450; $ONEFOLD scan a.jsonl --out out --write-kept kept; exit $?").run().exits(5);
    ran.says(&["'kept/a.jsonl'", "File too large"]);
    assert_eq!(place.listing(""), set(["a.jsonl", "mount"]), "left behind");
}

/// What fails after the documents were written takes them back.
#[test]
fn a_failure_after_the_writing_leaves_nothing() {
    let place = Place::with_documents();
    let before = place.listing("");
    place.scan("in --write-kept deep/kept --exclude-list missing/list").exits(5).says(&["missing/"]);
    assert_eq!(place.listing(""), before);
}

/// Waits until the run has its folder.
fn started(place: &Place) {
    let began = Instant::now();
    while !place.at("out/.lock").exists() {
        assert!(began.elapsed() < Duration::from_secs(10), "not started");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Interrupted at many moments: all or nothing.
#[test]
fn an_interrupted_run_leaves_all_or_nothing() {
    let place = Place::new();
    for n in 0..400 {
        place.write(&format!("in/{n}.txt"), text(&format!("n{n}x"), 200));
    }
    for wait in [0, 10, 20, 40, 60, 80, 100, 150, 200] {
        let mut running = place.onefold(["scan", "in", "--out", "out", "--write-kept", "kept"]).open();
        started(&place);
        thread::sleep(Duration::from_millis(wait));
        if fs::metadata(place.at("out/run.json")).is_err() {
            running.signal("TERM");
        }
        let ran = running.wait();
        let left: Vec<String> = place.listing("").into_iter().filter(|name| !name.starts_with("in")).collect();
        match ran.code {
            0 => assert_eq!(place.listing("kept").len(), 401),
            143 => assert!(left.is_empty(), "{left:?}"),
            other => panic!("exit {other}: {}", ran.stderr),
        }
        let _ = fs::remove_dir_all(place.at("out"));
        let _ = fs::remove_dir_all(place.at("kept"));
    }
}
