//! `run.json`: digests that match, and readers that look at them.

use std::fs;

use serde_json::Value;

use crate::place::{Place, RESULT, row, set, text};

fn scanned(options: &str) -> Place {
    let place = Place::new();
    place.write("a.jsonl", row("a", &text("a", 40)) + &row("b", &text("a", 41)) + &row("c", &text("c", 40)));
    place.write("gold.csv", "id_a,id_b\na,b\n");
    place.scan(&format!("a.jsonl {options}")).exits(0);
    place
}

#[test]
fn digests_and_sizes_are_those_of_the_files() {
    let place = scanned("");
    let manifest: Value = serde_json::from_slice(&fs::read(place.at("out/run.json")).unwrap()).unwrap();
    let files = manifest["files"].as_object().unwrap();
    assert_eq!(set(files.keys()), set(RESULT.iter().filter(|name| **name != "run.json")), "every other file");
    for (name, expected) in files {
        let bytes = fs::read(place.at(format!("out/{name}"))).unwrap();
        assert_eq!(expected["bytes"], bytes.len() as u64, "{name}");
        assert_eq!(expected["blake3"], blake3::hash(&bytes).to_hex().as_str(), "{name}");
    }
    assert_eq!(manifest["inputs"], serde_json::json!(["a.jsonl"]));
    assert_eq!(manifest["command"].as_array().unwrap()[1..], ["scan", "--out", "out", "a.jsonl"].map(Value::from));
}

#[test]
fn a_flipped_byte_in_any_table_is_exit_6() {
    for format in ["parquet", "jsonl", "csv"] {
        let place = scanned(&format!("--format {format}"));
        for name in [format!("documents.{format}"), format!("pairs.{format}"), "state.parquet".into()] {
            let path = place.at(format!("out/{name}"));
            let whole = fs::read(&path).unwrap();
            for at in [0, whole.len() / 2, whole.len() - 1] {
                let mut flipped = whole.clone();
                flipped[at] ^= 1;
                fs::write(&path, flipped).unwrap();
                evaluate(&place).exits(6).says(&[&format!("out/{name}"), "failed verification"]);
            }
            fs::write(&path, &whole[..whole.len() - 1]).unwrap();
            evaluate(&place).exits(6);
            fs::remove_file(&path).unwrap();
            evaluate(&place).exits(6).says(&[&name]);
            fs::write(&path, whole).unwrap();
        }
        evaluate(&place).exits(0);
    }
}

fn evaluate(place: &Place) -> crate::program::Ran {
    place.onefold(["evaluate", "out", "--gold", "gold.csv"]).run()
}

#[test]
fn without_a_manifest_there_is_no_result() {
    let place = scanned("");
    fs::remove_file(place.at("out/run.json")).unwrap();
    evaluate(&place).exits(2).says(&["out/run.json", "No such file"]);
    place.onefold(["evaluate", "nowhere", "--gold", "gold.csv"]).run().exits(2).says(&["nowhere/run.json"]);
}

#[test]
fn a_manifest_that_cannot_be_trusted_is_exit_6() {
    let place = scanned("");
    let path = place.at("out/run.json");
    let whole = fs::read_to_string(&path).unwrap();
    let later = whole.replace("\"result_version\": 1", "\"result_version\": 999");
    assert_ne!(later, whole);
    for (bad, words) in [("{", "run.json"), ("{\"experiment\":7}", "run.json"), (&later, "version 999")] {
        fs::write(&path, bad).unwrap();
        evaluate(&place).exits(6).says(&[words]);
    }
}

#[test]
fn a_manifest_that_is_not_text_is_exit_6() {
    let place = scanned("");
    fs::write(place.at("out/run.json"), b"\xff\xfe").unwrap();
    evaluate(&place).exits(6).says(&["run.json"]);
}

/// "With a digest of every other file; a reader checks them": also of those that it does not show.
#[test]
fn a_changed_list_of_skipped_inputs_is_noticed() {
    let place = scanned("");
    fs::write(place.at("out/skipped.jsonl"), "{}\n").unwrap();
    evaluate(&place).exits(6).says(&["skipped.jsonl"]);
}

#[test]
fn a_plan_that_was_edited_is_exit_6() {
    let place = scanned("");
    let path = place.at("out/run.json");
    let edited = fs::read_to_string(&path).unwrap().replace("\"threshold\": 0.8", "\"threshold\": 0.3");
    fs::write(&path, edited).unwrap();
    place.onefold(["rethreshold", "out", "--threshold", "0.4"]).run().exits(6).says(&["plan"]);
}
