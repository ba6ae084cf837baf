//! D8, I4: the same bytes whatever the threads and the order of arguments.

use std::collections::BTreeMap;
use std::fs;

use crate::place::{Place, row, text};

/// Three sources that share texts, near copies, short ones and repeated ids.
fn collection() -> Place {
    let place = Place::new();
    let mut files = [String::new(), String::new()];
    for n in 0..300 {
        let base = text(&format!("g{}x", n % 60), 60);
        // From 0 to 4 words changed at the end: chains of resemblance around the threshold.
        let changed = base.rsplitn(1 + n / 60, ' ').last().unwrap_or_default().to_string() + &format!(" v{n}").repeat(n / 60);
        files[n % 2] += &row(&format!("d{}", n % 280), &changed);
    }
    place.write("one.jsonl", &files[0]);
    place.write("two.jsonl", &files[1]);
    for n in 0..20 {
        place.write(&format!("folder/{n}.txt"), text(&format!("g{n}x"), 60 - n % 3));
        place.write(&format!("folder/short{n}"), "too short");
    }
    place
}

/// The files of a result that are the result, without the manifest and the page, which show the command that was typed.
fn bytes(place: &Place) -> BTreeMap<String, Vec<u8>> {
    let names = place.listing("out").into_iter().filter(|name| name != "run.json" && name != "report.html");
    names.map(|name| (name.clone(), fs::read(place.at(format!("out/{name}"))).unwrap())).collect()
}

fn same_for_all(options: &str) {
    let place = collection();
    let inputs = ["one.jsonl two.jsonl folder", "folder two.jsonl one.jsonl", "two.jsonl folder one.jsonl"];
    let mut first: Option<BTreeMap<String, Vec<u8>>> = None;
    for (threads, inputs) in [(1, inputs[0]), (2, inputs[1]), (8, inputs[2]), (8, inputs[0]), (1, inputs[1])] {
        place.scan(&format!("{inputs} --threads {threads} --overwrite {options}")).exits(3);
        let found = bytes(&place);
        assert!(found.len() == 4 && found.values().filter(|bytes| bytes.len() > 1000).count() >= 4, "the case is not empty");
        let expected = first.get_or_insert_with(|| found.clone());
        for (name, bytes) in &found {
            assert!(expected[name] == *bytes, "{name} differs with {threads} threads and inputs {inputs}");
        }
    }
}

#[test]
fn d8_parquet_is_the_same_for_any_threads_and_order() {
    same_for_all("--format parquet");
}

#[test]
fn d8_jsonl_is_the_same_for_any_threads_and_order() {
    same_for_all("--format jsonl --pairs star");
}

#[test]
fn d8_csv_is_the_same_for_any_threads_and_order() {
    same_for_all("--format csv --floor 0.5 --cluster transitive");
}

#[test]
fn d8_minhash_is_the_same_for_any_threads_and_order() {
    same_for_all("--method minhash --format jsonl");
}

/// I5, I3: a second run over what was kept removes nothing, and every removed document has its keeper.
#[test]
fn what_is_kept_is_kept_by_a_second_run() {
    let place = collection();
    place.scan("one.jsonl two.jsonl --format jsonl").exits(3);
    let documents = place.documents();
    for row in documents.values() {
        let keeper = &documents[row.text("representative_id")];
        assert!(keeper.truth("keep") && row.number("similarity").unwrap() >= 0.8);
    }
    let state = place.state();
    let mut kept = String::new();
    for (id, row) in documents.iter().filter(|(_, row)| row.truth("keep")) {
        let file = fs::read_to_string(place.at(state[id].text("file"))).unwrap();
        let line = file.lines().nth(state[id].number("record").unwrap() as usize - 1).unwrap();
        kept += &format!("{line}\n");
        assert!(row.truth("is_representative"));
    }
    place.write("kept.jsonl", kept);
    let summary = place.onefold(["scan", "kept.jsonl", "--out", "again", "--json"]).run().json();
    assert_eq!(
        (&summary["removed"], &summary["documents"]),
        (&0.into(), &documents.values().filter(|r| r.truth("keep")).count().into())
    );
}
