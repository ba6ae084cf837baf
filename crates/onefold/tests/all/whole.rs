//! D11: a document that was read with losses never stands for a whole one.

use std::path::Path;

use onefold::{Outcome, Plan};

use crate::corpus::{Record, file, run_on, stream};

const TEXT: &str = "El niño pidió un café y añadió azúcar; después leyó la página número cien del catálogo español con atención.";

fn fate<'a>(outcome: &'a Outcome, id: &str) -> (&'a str, bool, String) {
    let documents = &outcome.collection.documents;
    let at = documents.iter().position(|document| document.id.ends_with(id)).unwrap();
    let verdict = &outcome.verdicts[at];
    let flags = documents[at].flags.names().collect::<Vec<_>>().join(",");
    (&documents[verdict.representative as usize].id, verdict.kept, flags)
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(folder.join(name), bytes).unwrap();
}

#[test]
fn a_file_with_bad_bytes_never_beats_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let more = format!("{TEXT} Y nada más. ");
    write(folder.path(), "z-whole.txt", TEXT.as_bytes());
    write(folder.path(), "a-bad-byte.txt", &[more.as_bytes(), b"\xff\n"].concat());
    write(folder.path(), "b-zero-byte.txt", &[more.as_bytes(), b"\0 \n"].concat());
    let path = folder.path().to_str().unwrap().to_string();
    let plan = Plan { ngram_size: 2, threshold: "0.5".parse().unwrap(), ..Plan::default() };
    let outcome = run_on(&plan, vec![file(&path)]);
    for name in ["a-bad-byte.txt", "b-zero-byte.txt"] {
        let (representative, kept, flags) = fate(&outcome, name);
        assert!(representative.ends_with("z-whole.txt") && !kept, "{name} → {representative}");
        assert_eq!(flags, "lossy", "{name}");
    }
    assert!(outcome.is_partial(), "exit code 3");
    assert_eq!(outcome.counts.flagged_by_reason["lossy"], 2);
}

fn lossy(id: &str, text: &str) -> Record {
    Record { lossy: true, text: format!("{text} \u{fffd}"), ..Record::new(id, "") }
}

/// Neither score, length, time, id nor rules that never mention wholeness help.
#[test]
fn no_rule_lets_a_lossy_row_beat_a_whole_one() {
    let records = [
        Record { score: Some(9.0), time: Some(9), ..lossy("a", &format!("{TEXT} Y nada más.")) },
        Record { score: Some(1.0), time: Some(1), ..Record::new("b", TEXT) },
    ];
    for keep in ["score desc", "time newest", "length longest", "id", "digest", "length shortest"] {
        let plan = Plan { keep: keep.parse().unwrap(), threshold: "0.5".parse().unwrap(), ..Plan::default() };
        let outcome = run_on(&plan, stream(&records));
        assert_eq!(fate(&outcome, "a").0, "b", "{keep}");
        assert!(fate(&outcome, "b").1, "{keep}");
    }
}

#[test]
fn lossy_rows_stand_for_each_other_where_no_whole_one_is_near() {
    let records = [lossy("a", TEXT), lossy("b", TEXT), Record::new("c", "otra cosa muy distinta de todas las demás")];
    let outcome = run_on(&Plan { keep: "id".parse().unwrap(), ..Plan::default() }, stream(&records));
    assert_eq!((fate(&outcome, "a").1, fate(&outcome, "b").0), (true, "a"));
}

/// Protected and lossy: it stays, but stands for nothing that is whole.
#[test]
fn a_protected_lossy_row_covers_lossy_rows_only() {
    let records = [lossy("kept", TEXT), Record::new("whole", TEXT), lossy("other", TEXT)];
    let outcome = run_on(&Plan { protect: vec!["kept".into()], ..Plan::default() }, stream(&records));
    assert!(fate(&outcome, "kept").1 && fate(&outcome, "whole").1);
    assert_eq!(fate(&outcome, "other").0, "kept", "equally similar to both, and 'kept' ranks first");
}
