//! The parameter study and plans for sampling, on real revisions of documents.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};

use serde_json::Value;

use crate::machine::shared;
use crate::place::Place;
use crate::program::Program;

const REVISIONS: &str = "revisions_sitepolicy/docs.jsonl";

/// Pairs of a result with their resemblance.
fn resemblances(place: &Place, name: &str) -> Vec<f64> {
    let text = place.onefold(["pairs", name, "--expand"]).run().exits(0).stdout;
    let resemblance = |line: &str| serde_json::from_str::<Value>(line).unwrap()["resemblance"].as_f64().unwrap();
    text.lines().map(resemblance).collect()
}

#[test]
fn a_study_writes_the_tables_of_the_papers() {
    let Some(docs) = shared(REVISIONS) else { return };
    let place = Place::new();
    let study = || {
        let quick = ["--ratios", "4,16,25", "--thresholds", "0.5,0.6,0.85,0.95", "--lengths", "5", "--out", "study"];
        place.onefold(["study"]).args([&docs]).args(quick)
    };
    let text = study().run().exits(0).stdout;
    assert!(text.contains("1,030 documents") && text.contains("180 trials") && text.contains("Y31"), "{text}");
    let read = |name: &str| fs::read_to_string(place.at("study").join(name)).unwrap();
    let groups = read("ye2008-table3-size-groups.csv");
    assert!(
        groups.starts_with("group,words_from,words_to,documents,shingles,published_documents,published_shingles\n"),
        "{groups}"
    );
    assert!(groups.lines().nth(1).unwrap().ends_with(",651983,118247397"), "{groups}");
    let means = read("precision-recall.csv");
    let precision = |modulo: &str| -> f64 {
        let line = means.lines().find(|line| line.starts_with(&format!("{modulo},0.85,all,"))).unwrap();
        line.split(',').nth(4).unwrap().parse().unwrap()
    };
    assert!(precision("4") > precision("16") && precision("16") > 0.5, "larger samples are better");
    // Of all remainders of a modulo every shingle is in one.
    let trials = read("trials.csv");
    assert_eq!(trials.lines().count(), 1 + (4 + 16 + 25) * 4 * 12);
    let quality = read("nikkhoo2010-table3.4-sct-quality.csv");
    assert!(quality.starts_with("sct,average_error,correlation,recall,precision,published_average_error"), "{quality}");
    assert!(quality.lines().skip(1).all(|line| line.split(',').nth(4) == Some("1.000000")), "N23: {quality}");
    let page = read("report.html");
    assert!(!page.contains("<script") && page.contains("Sizes by rank") && page.contains("</html>"));
    let findings: Value = serde_json::from_str(&read("findings.json")).unwrap();
    assert_eq!(findings["trials"], 180);
    assert!(study().run().exits(2).stderr.contains("study"), "a result is not replaced unasked");
    let json: Value = serde_json::from_str(&study().args(["--overwrite", "--json"]).run().exits(0).stdout).unwrap();
    assert_eq!(json["summary"], findings["summary"]);
}

/// What was promised is what a scan by the plan gives, as its own tables show.
#[test]
fn a_plan_keeps_its_promise() {
    let Some(docs) = shared(REVISIONS) else { return };
    let place = Place::new();
    let tune =
        |words: &str| place.onefold(["tune"]).args([&docs]).args(["-w", "10", "-t", "0.85"]).args(words.split_whitespace()).run();
    let scan = |plan: &str, out: &str| {
        place.onefold(["scan"]).args([&docs]).args(["--config", plan, "--out", out, "-q"]).run().exits(0);
        resemblances(&place, out)
    };
    place.onefold(["scan"]).args([&docs]).args(["-w", "10", "-t", "0.85", "--out", "exact", "-q"]).run().exits(0);
    let truth = resemblances(&place, "exact").len() as f64;

    let text = tune("--precision 0.85 --report plan.html").exits(0).stdout;
    assert!(text.contains("one share for all documents") && text.contains("--config plan.toml"), "{text}");
    assert!(fs::read_to_string(place.at("plan.html")).unwrap().contains("8192 and more shingles"));
    let sampled = scan("plan.toml", "sampled");
    let right = sampled.iter().filter(|&&resemblance| resemblance >= 0.85).count() as f64;
    let (precision, recall) = (right / sampled.len() as f64, right / truth);
    assert!((0.84..1.0).contains(&precision), "{precision}");
    assert!(recall > 0.8, "{recall}");

    tune("--precision 0.85 --confidence 0.95 --out surer.toml -q").exits(0);
    let heading = fs::read_to_string(place.at("surer.toml")).unwrap();
    assert!(heading.contains("95.00 % of the runs shall keep"), "{heading}");
    let surer = scan("surer.toml", "surer");
    let right = surer.iter().filter(|&&resemblance| resemblance >= 0.85).count() as f64;
    assert!(right / surer.len() as f64 > 0.85, "{right} of {}", surer.len());

    assert!(tune("--precision 0.85").exits(2).stderr.contains("--overwrite"));
    let elsewhere = ["--config", "plan.toml", "--threshold", "0.95", "--out", "elsewhere"];
    let refused = place.onefold(["scan"]).args([&docs]).args(elsewhere).run().exits(2).stderr;
    assert!(refused.contains("threshold of 0.85; tune for 0.95"), "{refused}");
    place.onefold(["scan"]).args([&docs]).args(elsewhere).args(["--method", "minhash", "-q"]).run().exits(0);
    tune("--recall 0.9 --out verified.toml --quiet").exits(0);
    let verified = scan("verified.toml", "verified");
    assert!(verified.iter().all(|&resemblance| resemblance >= 0.85), "what was verified is true");
    assert!(verified.len() as f64 >= 0.89 * truth, "{} of {truth}", verified.len());
}

/// Somebody for whom the same policy is the same document, whatever became of it, teaches a lower threshold.
#[test]
fn answers_become_settings() {
    let Some(docs) = shared(REVISIONS) else { return };
    let place = Place::new();
    let label = |answers: &str| {
        let words = ["--label", "answers.csv", "--questions", "6", "--out", "mine.toml", "--overwrite"];
        place.onefold(["tune"]).args([&docs]).args(words).input(answers).run()
    };
    let text = label("y\nperhaps\nn\ny\ns\nn\ny\ny\n").exits(0).stdout;
    assert!(text.contains("6 answers") && text.contains("agree best with you"), "{text}");
    let answers = fs::read_to_string(place.at("answers.csv")).unwrap();
    assert_eq!(answers.lines().count(), 7, "{answers}");
    assert!(fs::read_to_string(place.at("mine.toml")).unwrap().contains("ngram-size"));
    place.onefold(["scan"]).args([&docs]).args(["--config", "mine.toml", "--out", "r", "-q"]).run().exits(0);
    place.onefold(["evaluate", "r", "--gold", "answers.csv"]).run().exits(0);
    let text = label("y\nq\n").exits(0).stdout;
    assert!(text.contains("answers of both kinds"), "{text}");
    place.onefold(["tune", "-", "--label", "a.csv"]).run().exits(2);
}

/// Inputs, pipes and devices are no outputs, whatever may be replaced.
#[test]
fn what_is_no_output_is_not_replaced() {
    let place = Place::with_documents();
    let rows = "{\"id\":\"a\",\"text\":\"one two three four five six\"}\n";
    fs::write(place.at("rows.jsonl"), rows).unwrap();
    let tune = |words: &str| place.onefold(["tune", "rows.jsonl", "--overwrite"]).args(words.split_whitespace()).run();
    for words in ["--precision 0.9 --out rows.jsonl", "--precision 0.9 --report ./rows.jsonl", "--label rows.jsonl"] {
        assert!(tune(words).exits(2).stderr.contains("is an input"), "{words}");
        assert_eq!(fs::read_to_string(place.at("rows.jsonl")).unwrap(), rows);
    }
    Program::new(["mkfifo"]).args([place.at("pipe")]).run().exits(0);
    assert!(tune("--precision 0.9 --out pipe").exits(2).stderr.contains("no ordinary file"));
    assert!(tune("--precision 0.9 --out in").exits(2).stderr.contains("no ordinary file"));
    place.scan("in --exclude-list pipe").exits(5).says(&["no ordinary file"]);
    assert!(fs::metadata(place.at("pipe")).unwrap().file_type().is_fifo());
    assert!(tune("--label missing/answers.csv").exits(5).stderr.contains("missing/"), "before anybody is asked");

    fs::write(place.at("old.toml"), "").unwrap();
    symlink("old.toml", place.at("link.toml")).unwrap();
    let text = tune("--precision 0.9 --out link.toml").exits(0).stdout;
    assert!(text.contains("nothing speaks for this plan") && !text.contains("one share for all"), "{text}");
    assert!(fs::symlink_metadata(place.at("link.toml")).unwrap().is_symlink());
    assert!(fs::read_to_string(place.at("old.toml")).unwrap().contains("adaptive"));

    let study = || place.onefold(["study", "in", "--out", "in/study", "--overwrite", "--json"]).run().exits(0).stdout;
    let summary = |text: String| serde_json::from_str::<Value>(&text).unwrap()["summary"].clone();
    assert_eq!(summary(study()), summary(study()), "a former study is no input");
}

#[test]
fn wishes_that_can_not_be_met_are_refused() {
    let place = Place::with_documents();
    let tune = |words: &str| place.onefold(["tune", "in"]).args(words.split_whitespace()).run();
    for bad in [
        "--precision 1.5",
        "--precision 0",
        "--recall -1",
        "--precision 0.9 --confidence 1",
        "--precision 0.9 --confidence 0.4",
        "--precision 0.9 --confidence nan",
        "--verify none",
        "--method minhash",
        "--threshold 7",
        "--precision 0.9 --common-shingles 3",
        "--precision 0.9 --verify edit",
        "--precision 0.9 --relation containment",
        "--precision 0.9 --out p --report p",
        "--label p --out p",
    ] {
        let ran = tune(bad).exits(2);
        assert!(ran.stderr.starts_with("error"), "{bad}: {}", ran.stderr);
    }
    let many: Vec<String> = (1..60).map(|size| size.to_string()).collect();
    assert!(tune(&format!("--precision 0.9 --classes {}", many.join(","))).exits(2).stderr.contains("--classes"));
    tune("--precision 0.9 --out p.toml").exits(0);
    assert!(fs::read_to_string(place.at("p.toml")).unwrap().contains("share = 1.0"), "without pairs nothing is left out");
    place.onefold(["tune", "missing", "--precision", "0.9"]).run().exits(2);
    for bad in [["--thresholds", "2"], ["--ratios", "1"], ["--lengths", "0"]] {
        place.onefold(["study", "in", "--out", "s"]).args(bad).run().exits(2);
    }
    place.onefold(["study", "in", "--out", "s", "-q"]).run().exits(0);
}
