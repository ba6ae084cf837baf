//! `onefold config` and `--config`: what is printed is what is followed.

use std::fs;

use crate::place::Place;

/// The digest of the plan that the words make.
fn digest(place: &Place, words: &[&str]) -> String {
    let text = place.onefold(["config"]).args(words).run().exits(0).stdout;
    text.lines().next().unwrap().rsplit(' ').next().unwrap().to_string()
}

const EVERYTHING: &[&str] = &[
    "--threshold",
    "0.75",
    "--ngram-size",
    "7",
    "--method",
    "minhash",
    "--num-perm",
    "64",
    "--bands",
    "16",
    "--rows",
    "4",
    "--seed",
    "7",
    "--floor",
    "0.5",
    "--keep",
    "time newest, length shortest",
    "--protect",
    "a/*",
    "--protect",
    "\"quoted\"",
    "--cluster",
    "transitive",
    "--pairs",
    "all",
    "--max-pairs",
    "1000",
    "--text-column",
    "a.b",
    "--id-column",
    "k",
    "--url-column",
    "u",
    "--time-column",
    "d",
    "--score-column",
    "q",
    "--source-column",
    "s",
    "--follow",
    "--max-document-bytes",
    "12345",
];

#[test]
fn what_is_printed_gives_the_same_plan() {
    let place = Place::with_documents();
    for words in [&[][..], EVERYTHING, &["--pairs", "star"], &["--method", "minhash"], &["--threshold", "0.123456789"]] {
        let printed = place.onefold(["config"]).args(words).run().exits(0).stdout;
        place.write("plan.toml", &printed);
        let again = place.onefold(["config", "--config", "plan.toml"]).run().exits(0).stdout;
        assert_eq!(again, printed, "{words:?}");
    }
}

#[test]
fn a_scan_follows_the_plan_that_was_printed() {
    let place = Place::with_documents();
    let words = ["--threshold", "0.5", "--ngram-size", "3", "--keep", "id"];
    place.write("plan.toml", place.onefold(["config"]).args(words).run().exits(0).stdout);
    let by_file = place.scan("in --config plan.toml --json").exits(0).json();
    let table = fs::read(place.at("out/documents.parquet")).unwrap();
    let by_flags = place.onefold(["scan", "in", "--out", "other", "--json"]).args(words).run().exits(0).json();
    assert_eq!(by_file["plan_digest"], by_flags["plan_digest"]);
    assert!(by_file["plan_digest"].as_str().unwrap().starts_with(&digest(&place, &words)));
    assert_eq!(fs::read(place.at("other/documents.parquet")).unwrap(), table);
}

#[test]
fn every_flag_changes_the_plan() {
    let place = Place::new();
    let default = digest(&place, &[]);
    let base = digest(&place, &["--method", "minhash"]);
    for flag in EVERYTHING.join("\u{1f}").split("\u{1f}--").map(|flag| format!("--{}", flag.trim_start_matches("--"))) {
        let words: Vec<&str> = flag.split('\u{1f}').collect();
        let of_minhash = ["--num-perm", "--bands", "--rows", "--seed"].contains(&words[0]);
        let words = if of_minhash { [&["--method", "minhash"], &words[..]].concat() } else { words };
        // `all` is the default.
        if words == ["--pairs", "all"] {
            assert_eq!(digest(&place, &words), default);
        } else {
            assert_ne!(digest(&place, &words), if of_minhash { base.clone() } else { default.clone() }, "{words:?}");
        }
    }
}

#[test]
fn flags_override_the_file() {
    let place = Place::new();
    place.write("plan.toml", "threshold = 0.5\nngram-size = 3\n[columns]\ntext = \"body\"\n");
    let plan = place
        .onefold(["config", "--json", "--config", "plan.toml", "--threshold", "0.9", "--id-column", "k"])
        .run()
        .exits(0)
        .json();
    assert_eq!((&plan["threshold"], &plan["ngram-size"]), (&0.9.into(), &3.into()));
    assert_eq!((&plan["columns"]["text"], &plan["columns"]["id"]), (&"body".into(), &"k".into()));
    let printed = place.onefold(["config", "--method", "minhash", "--seed", "7"]).run().stdout;
    place.write("minhash.toml", printed);
    let plan = place.onefold(["config", "--json", "--config", "minhash.toml", "--num-perm", "64"]).run().exits(0).json();
    assert!(plan["method"].to_string().contains("64") && plan["method"].to_string().contains('7'), "{plan}");
    let plan = place.onefold(["config", "--json", "--config", "minhash.toml", "--method", "exact"]).run().exits(0).json();
    assert!(plan["method"].to_string().contains("exact"), "{plan}");
}

#[track_caller]
fn refused(config: &str, words: &[&str]) {
    let place = Place::with_documents();
    place.write("plan.toml", config);
    place.scan("in --config plan.toml").exits(2).says(words);
    assert!(!place.at("out").exists());
}

#[test]
fn unknown_keys_and_wrong_types_are_named() {
    refused("treshold = 0.8\n", &["plan.toml", "treshold"]);
    refused("[columns]\ntxt = \"a\"\n", &["plan.toml", "txt"]);
    refused("ngram-size = \"five\"\n", &["plan.toml", "ngram-size"]);
    refused("follow = 1\n", &["plan.toml", "follow"]);
    refused("protect = \"a\"\n", &["plan.toml", "protect"]);
    refused("[columns]\ntext = 1\n", &["plan.toml", "text"]);
    refused("pairs = \"some\"\n", &["plan.toml", "pairs"]);
    refused("ngram-size = -1\n", &["plan.toml", "ngram-size"]);
}

#[test]
fn values_outside_their_range_are_refused_as_on_the_command_line() {
    refused("threshold = 1.5\n", &["threshold", "above 0 and up to 1"]);
    refused("threshold = nan\n", &["threshold", "above 0 and up to 1"]);
    refused("threshold = 0\n", &["threshold", "above 0 and up to 1"]);
    refused("ngram-size = 0\n", &["ngram-size", "from 1 to 1000"]);
    refused("floor = 0.9\n", &["floor", "at most the threshold"]);
}

#[test]
fn files_that_are_no_configuration() {
    refused("threshold = \n", &["plan.toml"]);
    refused("{\"threshold\": \"0.8\"}", &["plan.toml"]);
    let place = Place::with_documents();
    place.scan("in --config missing.toml").exits(2).says(&["missing.toml", "No such file"]);
    place.write("bytes.toml", b"\xff\xfe");
    place.scan("in --config bytes.toml").exits(2).says(&["bytes.toml"]);
    place.write("empty.toml", "");
    assert_eq!(digest(&place, &["--config", "empty.toml"]), digest(&place, &[]), "an empty file is all defaults");
}

#[test]
fn the_largest_numbers_can_be_written_down() {
    let place = Place::new();
    for flag in ["--max-document-bytes", "--max-pairs"] {
        let printed = place.onefold(["config", flag, "18446744073709551615"]).run().exits(0).stdout;
        place.write("plan.toml", &printed);
        assert_eq!(place.onefold(["config", "--config", "plan.toml"]).run().exits(0).stdout, printed, "{flag}");
    }
    place.onefold(["config", "--method", "minhash", "--seed", "18446744073709551615"]).run().exits(0);
}

/// `threshold = 1` is what people write.
#[test]
fn a_whole_number_is_a_threshold_too() {
    let place = Place::new();
    place.write("plan.toml", "threshold = 1\n");
    assert_eq!(digest(&place, &["--config", "plan.toml"]), digest(&place, &["--threshold", "1.0"]));
}
