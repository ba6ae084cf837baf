//! Small cases that people can read, in `tests/cases/*.json`, for this library and for every binding of it.
//!
//! A case has `about`, a `plan` (as in a plan file; what it leaves out is the default), `documents` (rows of JSONL, read from a stream
//! called `documents`) and `expect`: a row for every document by id, with the columns of the documents table (`relation` and `flags` left
//! out where empty), and all rows of the pairs table as `[first_id, second_id, resemblance, accepted]`.

use std::collections::BTreeMap;
use std::path::Path;

use onefold::{Discard, Format, Input, Outcome, Plan, ResultFolder, SavedResult, run};
use serde_json::{Value, json};

use crate::corpus::exec;

fn source(case: &Value) -> Vec<Input> {
    let rows: Vec<String> = case["documents"].as_array().unwrap().iter().map(Value::to_string).collect();
    vec![Input::Stream { name: "documents".into(), reader: Box::new(std::io::Cursor::new(rows.join("\n").into_bytes())) }]
}

fn documents(outcome: &Outcome) -> BTreeMap<String, Value> {
    let id = |document: u32| &outcome.collection.documents[document as usize].id;
    let row = |(document, verdict): (&onefold::Entry, &onefold::Verdict)| {
        let mut row = json!({
            "cluster": id(verdict.cluster),
            "representative": id(verdict.representative),
            "similarity": verdict.similarity.as_f64(),
            "keep": verdict.kept,
            "reason": verdict.reason(),
        });
        if let Some(relation) = verdict.relation {
            row["relation"] = relation.name().into();
        }
        if let Some(flags) = document.flags.names().map(String::from).reduce(|all, flag| format!("{all},{flag}")) {
            row["flags"] = flags.into();
        }
        (document.id.clone(), row)
    };
    outcome.collection.documents.iter().zip(&outcome.verdicts).map(row).collect()
}

fn pairs(outcome: &Outcome) -> Vec<Value> {
    let id = |document: u32| &outcome.collection.documents[document as usize].id;
    outcome
        .pairs
        .to_vec()
        .unwrap()
        .iter()
        .map(|pair| json!([id(pair.first), id(pair.second), pair.similarity.as_f64(), pair.accepted]))
        .collect()
}

fn check(path: &Path) {
    let case: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let plan: Plan = serde_json::from_value(case["plan"].clone()).unwrap();
    let outcome = run(&plan, &exec(2), source(&case), &mut Discard).unwrap();
    let expected: BTreeMap<String, Value> = serde_json::from_value(case["expect"]["documents"].clone()).unwrap();
    assert_eq!(documents(&outcome), expected, "{name}");
    assert_eq!(Value::from(pairs(&outcome)), case["expect"]["pairs"], "{name}");
    check_tables(&case, &plan, &outcome, name);
}

/// The written tables say the same as the outcome in memory.
fn check_tables(case: &Value, plan: &Plan, outcome: &Outcome, name: &str) {
    for format in [Format::Parquet, Format::Jsonl, Format::Csv] {
        let folder = tempfile::tempdir().unwrap();
        let mut sink = ResultFolder::new(folder.path().join("out"));
        sink.format = format;
        run(plan, &exec(2), source(case), &mut sink).unwrap();
        let saved = SavedResult::open(&folder.path().join("out")).unwrap();
        for (row, (id, expected)) in saved.documents().unwrap().iter().zip(documents(outcome)) {
            let columns = ["cluster_id", "representative_id", "keep_reason", "relation", "flags"].map(|column| row.text(column));
            let values =
                ["cluster", "representative", "reason", "relation", "flags"].map(|field| expected[field].as_str().unwrap_or(""));
            assert_eq!((row.text("id"), columns), (id.as_str(), values), "{name} {format:?}");
            assert_eq!(row.number("similarity"), expected["similarity"].as_f64(), "{name} {format:?}");
            assert_eq!(row.truth("keep"), expected["keep"] == true, "{name} {format:?}");
            assert_eq!(row.truth("is_representative"), expected["representative"] == *id, "{name} {format:?}");
        }
        let rows = saved.pairs().unwrap().into_iter();
        let rows: Vec<Value> = rows
            .map(|row| json!([row.text("first_id"), row.text("second_id"), row.number("resemblance"), row.truth("accepted")]))
            .collect();
        assert_eq!(rows, pairs(outcome), "{name} {format:?}");
    }
}

#[test]
fn cases_come_out_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 10, "only {} cases", paths.len());
    paths.iter().for_each(|path| check(path));
}
