//! Ids that are repeated, missing or strange (D7): never two documents behind one, none lost, renamed ones flagged.

use std::collections::{BTreeMap, BTreeSet};

use onefold::{Discard, Document, Flags, Format, Input, Outcome, Plan, ResultFolder, SavedResult, SkipKind, run};

use crate::corpus::{Record, exec, run_on, stream};

fn rows(name: &str, rows: &[&str]) -> Input {
    Input::Stream { name: name.into(), reader: Box::new(std::io::Cursor::new(rows.join("\n").into_bytes())) }
}

/// Ids with the number of tokens, which the tests below make different for every text.
fn ids(outcome: &Outcome) -> BTreeMap<String, u32> {
    outcome.collection.documents.iter().map(|document| (document.id.clone(), document.tokens)).collect()
}

fn renamed(outcome: &Outcome) -> BTreeSet<&str> {
    let remarks = outcome.collection.skipped.iter().filter(|s| s.reason == "renamed" && s.kind == SkipKind::Flagged);
    let listed: BTreeSet<&str> = remarks.map(|s| s.input.as_str()).collect();
    let flagged = outcome.collection.documents.iter().filter(|document| document.flags.has(Flags::RENAMED));
    assert_eq!(flagged.map(|document| document.id.as_str()).collect::<BTreeSet<_>>(), listed, "the flag and the list agree");
    listed
}

#[test]
fn a_repeated_id_stays_with_the_first_and_the_others_are_renamed() {
    let rows = rows(
        "in",
        &[
            r#"{"id":"x","text":"one"}"#,
            r#"{"id":"y","text":"one two"}"#,
            r#"{"id":"x","text":"one two three"}"#,
            r#"{"id":"x","text":"One."}"#,
        ],
    );
    let outcome = run_on(&Plan::default(), vec![rows]);
    assert_eq!(ids(&outcome), BTreeMap::from([("x".into(), 1), ("y".into(), 2), ("x@in#3".into(), 3), ("x@in#4".into(), 1)]));
    assert_eq!(renamed(&outcome), BTreeSet::from(["x@in#3", "x@in#4"]));
    assert!(outcome.is_partial(), "a renamed document is worth exit code 3");
    assert_eq!((outcome.counts.seen, outcome.counts.removed), (4, 1), "the same text is a duplicate, under whatever id");
}

#[test]
fn the_first_is_the_first_by_source_and_record_not_by_arrival() {
    let part = |name: &str, text: &str| rows(name, &[&format!(r#"{{"id":"x","text":"{text}"}}"#)]);
    for order in [[0, 1], [1, 0]] {
        let source = order.map(|n| if n == 0 { part("a", "one") } else { part("b", "one two") });
        let outcome = run_on(&Plan::default(), source.into_iter().collect());
        assert_eq!(ids(&outcome), BTreeMap::from([("x".into(), 1), ("x@b#1".into(), 2)]), "{order:?}");
    }
}

#[test]
fn a_new_name_never_takes_the_name_of_another_document() {
    let rows = rows(
        "in",
        &[
            r#"{"id":"x","text":"1"}"#,
            r#"{"id":"x@in#3","text":"1 2"}"#,
            r#"{"id":"x","text":"1 2 3"}"#,
            r#"{"id":"x@in#3","text":"1 2 3 4"}"#,
        ],
    );
    let outcome = run_on(&Plan::default(), vec![rows]);
    let (ids, renamed) = (ids(&outcome), renamed(&outcome));
    assert_eq!(ids.values().copied().collect::<BTreeSet<_>>(), BTreeSet::from([1, 2, 3, 4]), "{ids:?}");
    assert_eq!((ids["x"], ids["x@in#3"], renamed.len()), (1, 2, 2), "{ids:?}");
}

#[test]
fn missing_and_empty_ids_are_places_and_numbers_are_ids() {
    let rows = rows(
        "in",
        &[
            r#"{"text":"1"}"#,
            r#"{"id":"","text":"1 2"}"#,
            r#"{"id":null,"text":"1 2 3"}"#,
            r#"{"id":7,"text":"1 2 3 4"}"#,
            r#"{"id":-2.5,"text":"1 2 3 4 5"}"#,
            r#"{"id":"7","text":"1 2 3 4 5 6"}"#,
            r#"{"id":"in#1","text":"1 2 3 4 5 6 7"}"#,
        ],
    );
    let outcome = run_on(&Plan::default(), vec![rows]);
    let expected = [("in#1", 1), ("in#2", 2), ("in#3", 3), ("7", 4), ("-2.5", 5), ("7@in#6", 6), ("in#1@in#7", 7)];
    assert_eq!(ids(&outcome), expected.into_iter().map(|(id, tokens)| (id.to_string(), tokens)).collect());
    assert_eq!(renamed(&outcome), BTreeSet::from(["7@in#6", "in#1@in#7"]));
}

/// A number past 64 bits is as good an id as any; rounded, it would be the id of another document.
#[test]
fn large_numbers_keep_their_digits() {
    let rows = rows("in", &[r#"{"id":18446744073709551617,"text":"1"}"#, r#"{"id":18446744073709551618,"text":"1 2"}"#]);
    let outcome = run_on(&Plan::default(), vec![rows]);
    assert_eq!(ids(&outcome), BTreeMap::from([("18446744073709551617".into(), 1), ("18446744073709551618".into(), 2)]));
}

#[test]
fn documents_in_memory_without_ids_are_numbered() {
    let document = |id: Option<&str>, text: &str| Document { id: id.map(String::from), text: text.into(), ..Document::default() };
    let documents =
        vec![document(None, "1"), document(Some(""), "1 2"), document(Some("#1"), "1 2 3"), document(None, "1 2 3 4")];
    let outcome = run(&Plan::default(), &exec(2), vec![Input::Documents(documents)], &mut Discard).unwrap();
    let ids = ids(&outcome);
    assert_eq!((ids["#1"], ids["#2"], ids["#4"], ids.len()), (1, 2, 4, 4), "{ids:?}");
    assert_eq!(renamed(&outcome).len(), 1);
}

/// Ids as long and as strange as they come, each with a text of its own.
fn strange() -> Vec<Record> {
    let long = "i".repeat(1 << 20);
    let ids = [
        "\0",
        "a\0b",
        "a\nb",
        "a\r\nb",
        "../../etc/passwd",
        "/",
        "a,b\"c",
        " ",
        "\u{202e}",
        "\u{feff}x",
        "é",
        "e\u{301}",
        "null",
        "\u{1b}[31m",
        &long,
    ];
    ids.iter().enumerate().map(|(at, id)| Record::new(id, &"word ".repeat(at + 1))).collect()
}

#[test]
fn strange_ids_pass_through_every_format() {
    let records = strange();
    let expected: BTreeSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
    for format in [Format::Parquet, Format::Jsonl, Format::Csv] {
        let folder = tempfile::tempdir().unwrap();
        let mut sink = ResultFolder::new(folder.path().join("out"));
        sink.format = format;
        let outcome = run(&Plan::default(), &exec(2), stream(&records), &mut sink).unwrap();
        assert!(renamed(&outcome).is_empty());
        let saved = SavedResult::open(&folder.path().join("out")).unwrap();
        let (documents, state) = (saved.documents().unwrap(), saved.state().unwrap());
        assert_eq!(documents.iter().map(|row| row.text("id")).collect::<BTreeSet<_>>(), expected, "{format:?}");
        assert_eq!(state.iter().map(|row| row.text("id")).collect::<BTreeSet<_>>(), expected, "{format:?}");
        assert_eq!(documents.len(), expected.len());
        let inside = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(inside, 1, "an id is no path");
    }
}

/// Whoever deletes what the list names must not delete what was kept.
#[test]
fn no_survivor_stands_in_the_exclude_list() {
    let folder = tempfile::tempdir().unwrap();
    let records =
        [Record::new("a", "the same text"), Record::new("x\ny", "the same text"), Record::new("x%0Ay", "a text of its own")];
    let mut sink = ResultFolder::new(folder.path().join("out"));
    sink.exclude_list = Some(folder.path().join("list"));
    let outcome = run(&Plan { keep: "id".parse().unwrap(), ..Plan::default() }, &exec(1), stream(&records), &mut sink).unwrap();
    let list = std::fs::read_to_string(folder.path().join("list")).unwrap();
    let kept = outcome.collection.documents.iter().zip(&outcome.verdicts).filter(|(_, verdict)| verdict.kept);
    let kept: Vec<&str> = kept.map(|(document, _)| document.id.as_str()).collect();
    assert_eq!(list.lines().count(), 1);
    assert!(list.lines().all(|line| !kept.contains(&line)), "{list:?} names one of {kept:?}");
}
