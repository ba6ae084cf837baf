//! Where standard output and standard error go.

use std::fs::File;

use crate::machine::shell;
use crate::place::Place;

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

#[test]
fn s11_an_answer_that_cannot_be_written_is_exit_5() {
    let place = Place::with_documents();
    let said = &["standard output", "No space left on device"];
    place.onefold(["scan", "in", "--out", "out", "--json"]).stdout(full()).run().exits(5).says(said);
    place.onefold(["scan", "in", "--out", "other"]).stdout(full()).run().exits(5).says(said);
    place.onefold(["config"]).stdout(full()).run().exits(5).says(said);
    place.onefold(["scan", "--help"]).stdout(full()).run().exits(5).says(said);
}

#[test]
fn s11_a_reader_that_had_enough_is_no_fault() {
    let place = Place::with_documents();
    let commands = ["scan in --out out --json", "scan in --out other", "config", "scan --help"];
    for command in commands {
        // A pipe whose reading end is closed before a byte is written.
        let ran = shell(place.path(), &format!("$ONEFOLD {command} | true; exit ${{PIPESTATUS[0]}}")).run();
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command}");
        let ran = shell(place.path(), &format!("$ONEFOLD {command} --config /nowhere 2>&1 | head -c 1 > /dev/null")).run();
        assert_eq!(ran.stderr, "", "{command}");
    }
    assert!(place.at("out/run.json").exists());
}

/// Exit 0 says that every input was processed; a closed pipe does not make it so.
#[test]
fn s11_a_closed_pipe_does_not_hide_that_inputs_were_skipped() {
    let place = Place::with_documents();
    place.write("in/zeros", [0; 100]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ran = place.onefold(["scan", "in", "--out", "out"]).stdout(writer).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (3, ""));
}

#[test]
fn closed_standard_streams_are_survived() {
    let place = Place::with_documents();
    shell(place.path(), "$ONEFOLD scan in --out out >&- 2>&- <&-").run();
    assert!(place.at("out/run.json").exists());
    assert_eq!(place.documents().len(), 3);
}

#[test]
fn nothing_is_drawn_where_nobody_watches() {
    let place = Place::with_documents();
    let ran = place.scan("in").exits(0);
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.contains("documents"), "{}", ran.stdout);
    let ran = place.scan("in --overwrite --json").exits(0);
    assert_eq!((ran.stderr.as_str(), ran.json()["documents"].as_u64()), ("", Some(3)));
}

#[test]
fn quiet_is_silent() {
    let place = Place::with_documents();
    for option in ["--quiet", "-q"] {
        let ran = place.scan(&format!("in --overwrite {option}")).exits(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    }
    place.write("in/zeros", [0; 100]);
    let ran = place.scan("in --overwrite --quiet").exits(3);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    place.scan("missing --quiet --overwrite").exits(2).says(&["missing"]);
}
