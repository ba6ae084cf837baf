//! Help and messages, word by word, as committed under `tests/snapshots`. `UPDATE_SNAPSHOTS=1` writes them anew.

use std::fs;
use std::path::Path;

use crate::place::{Place, row, text};
use crate::program::Ran;

#[track_caller]
fn same(name: &str, ran: &Ran) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.txt"));
    let found = format!("exit {}\n--- stdout\n{}--- stderr\n{}", ran.code, ran.stdout, ran.stderr);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &found).unwrap();
    }
    let expected =
        fs::read_to_string(&path).unwrap_or_else(|_| panic!("{} is missing: UPDATE_SNAPSHOTS=1 writes it", path.display()));
    assert!(
        found == expected,
        "{name} has changed; if it should have, UPDATE_SNAPSHOTS=1\n--- expected\n{expected}\n--- found\n{found}"
    );
}

fn run(place: &Place, words: &str) -> Ran {
    place.onefold(words.split(' ')).run()
}

#[test]
fn help_of_every_command() {
    let place = Place::new();
    for (name, words) in [
        ("help", "--help"),
        ("help-short", "-h"),
        ("help-scan", "scan --help"),
        ("help-scan-short", "scan -h"),
        ("help-evaluate", "evaluate --help"),
        ("help-rethreshold", "rethreshold --help"),
        ("help-config", "config --help"),
        ("help-passages", "passages --help"),
    ] {
        same(name, &run(&place, words).exits(0));
    }
}

/// The default plan: a change of it is a change for everybody.
#[test]
fn the_default_plan() {
    same("config", &run(&Place::new(), "config").exits(0));
}

#[test]
fn errors() {
    let place = Place::with_documents();
    place.write("bad.toml", "treshold = 0.8\n");
    place.write("taken/thesis.txt", "x");
    place.write("bad.csv", "id_a,id_b,label\na,b,x\n");
    place.onefold(["scan", "in", "--out", "result", "--quiet"]).run().exits(0);
    for (name, words) in [
        ("error-missing-input", "scan missing --out out"),
        ("error-threshold", "scan in --out out --threshold 1.5"),
        ("error-ngram-size", "scan in --out out --ngram-size 0"),
        ("error-bands", "scan in --out out --method minhash --bands 20 --rows 20"),
        ("error-other-methods-flag", "scan in --out out --bands 20"),
        ("error-keep", "scan in --out out --keep nonsense"),
        ("error-config-key", "scan in --out out --config bad.toml"),
        ("error-result-exists", "scan in --out result"),
        ("error-not-a-result", "scan in --out taken --overwrite"),
        ("error-no-document", "scan /dev/null --out out"),
        ("error-too-many-pairs", "scan in --out out --max-pairs 0"),
        ("error-no-result", "evaluate nowhere --gold bad.csv"),
        ("error-gold-label", "evaluate result --gold bad.csv"),
        ("error-threads", "scan in --out out --threads 0"),
        ("error-estimate-of-a-stream", "scan - --estimate"),
    ] {
        let ran = run(&place, words);
        assert!(ran.code != 0 && !place.at("out").exists(), "{name}: {ran:?}");
        same(name, &ran);
    }
}

#[test]
fn an_estimate() {
    let place = Place::with_documents();
    let mut ran = run(&place, "scan in --estimate --memory 1GiB --threads 2").exits(0);
    let time = ran.stdout.lines().find(|line| line.starts_with("  time ")).unwrap().to_string();
    ran.stdout = ran.stdout.replacen(&time, "  time TIME", 1);
    same("estimate", &ran);
}

#[test]
fn a_summary_and_scores() {
    let place = Place::with_documents();
    place.write("in/near.txt", text("a", 42));
    place.write("in/zeros", [0; 100]);
    place.write("rows.jsonl", row("x", &text("c", 40)) + "bad\n");
    place.write("gold", "k in/a.txt\nk in/b.txt\nl in/c.txt\nl in/near.txt\nl z\n");
    let mut ran = place.scan("in rows.jsonl").exits(3);
    // The one word that differs from run to run.
    let took = ran.stdout.lines().next().unwrap().split(" in ").nth(1).unwrap().to_string();
    ran.stdout = ran.stdout.replacen(&took, "TIME", 1);
    same("summary", &ran);
    same("scores", &run(&place, "evaluate out --gold gold").exits(0));
    same("scores-core", &run(&place, "evaluate out --gold gold --scorer core").exits(0));
    same("scores-news-copy", &run(&place, "evaluate out --gold gold --scorer news-copy").exits(0));
}
