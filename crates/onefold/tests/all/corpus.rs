//! Documents as the tests hold them, and the ways to hand them over.

use std::path::PathBuf;

use onefold::{Discard, Document, Exec, Input, Memory, Outcome, Plan, Sink, Source, Spill, run};
use serde_json::{Value, json};

/// A document with everything that can change its fate.
#[derive(Clone, Debug, Default)]
pub struct Record {
    pub id: String,
    /// U+FFFD in the text of a lossy record stands for a byte that is not UTF-8.
    pub text: String,
    pub source: Option<String>,
    pub score: Option<f64>,
    pub time: Option<i64>,
    pub lossy: bool,
}

impl Record {
    pub fn new(id: &str, text: &str) -> Record {
        Record { id: id.into(), text: text.into(), ..Record::default() }
    }

    pub fn document(&self) -> Document {
        let Record { id, text, source, score, time, .. } = self.clone();
        Document { id: Some(id), text, source, url: None, time, score }
    }

    /// A row of JSONL. Only here can a document be lossy: memory holds strings.
    pub fn row(&self) -> Vec<u8> {
        let mut row = json!({ "id": self.id, "text": self.text });
        let mut add = |name: &str, value: Option<Value>| value.into_iter().for_each(|value| row[name] = value);
        add("source", self.source.clone().map(Value::from));
        add("score", self.score.map(Value::from));
        add("time", self.time.map(Value::from));
        let mut bytes = row.to_string().into_bytes();
        if self.lossy {
            assert!(self.text.contains('\u{fffd}'), "nothing is lost in '{}'", self.id);
            bytes = replace(&bytes, "\u{fffd}".as_bytes(), b"\xff");
        }
        bytes.push(b'\n');
        bytes
    }
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (taken, put) = if rest.starts_with(from) { (from.len(), to) } else { (1, &rest[..1]) };
        replaced.extend_from_slice(put);
        rest = &rest[taken..];
    }
    replaced
}

pub fn jsonl(records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(Record::row).collect()
}

/// The source of documents that name none.
pub const STREAM: &str = "stream";

pub fn stream(records: &[Record]) -> Vec<Input> {
    vec![Input::Stream { name: STREAM.into(), reader: Box::new(std::io::Cursor::new(jsonl(records))) }]
}

pub fn memory(records: &[Record]) -> Vec<Input> {
    vec![Input::Documents(records.iter().map(Record::document).collect())]
}

/// A file or folder by its name; the one place that knows what a path is to the library.
pub fn file(path: &str) -> Input {
    Input::Path(path.into())
}

pub fn exec(threads: usize) -> Exec<'static> {
    Exec { threads, ..Exec::default() }
}

pub fn run_on(plan: &Plan, source: Vec<Input>) -> Outcome {
    run(plan, &exec(2), source, &mut Discard).unwrap()
}

/// Runs with everything on disk, in small pieces.
pub fn run_on_disk(plan: &Plan, source: impl Into<Source>, sink: &mut dyn Sink) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill::in_folder(folder.path().join("work"));
    let outcome = run(plan, &Exec { memory: Memory::TIGHT, spill: Some(spill), ..exec(2) }, source, sink).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    outcome
}

/// Everything an outcome says, by ids.
pub fn said(outcome: &Outcome) -> (Vec<String>, Vec<String>) {
    let id = |document: u32| &outcome.collection.documents[document as usize].id;
    let verdict = |(at, v): (usize, &onefold::Verdict)| {
        let names = [id(at as u32), id(v.representative), id(v.cluster)];
        format!("{names:?} {} {} {} {:?} {} {}", v.similarity.as_f64(), v.cluster_size, v.kept, v.relation, v.rank, v.reason())
    };
    let pair = |p: &onefold::Pair| {
        let (similarity, beside) = (p.similarity.as_f64(), (p.estimate, p.edit_distance));
        format!("{} {} {similarity} {beside:?} {} {}", id(p.first), id(p.second), p.overlap, p.accepted)
    };
    (outcome.verdicts.iter().enumerate().map(verdict).collect(), outcome.pairs.to_vec().unwrap().iter().map(pair).collect())
}

/// A real collection, or nothing where the data is not there; a skipped test must be heard, and CI must not skip.
pub fn real(name: &str) -> Option<(PathBuf, Vec<Record>)> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(name).join("docs.jsonl");
    if !path.exists() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no data at {}", path.display());
        eprintln!("\n*** SKIPPED: no data at {}; '{name}' was NOT compared ***\n", path.display());
        return None;
    }
    let rows = std::fs::read_to_string(&path).unwrap();
    let record = |row: &str| {
        let row: Value = serde_json::from_str(row).unwrap();
        Record::new(row["id"].as_str().unwrap(), row["text"].as_str().unwrap())
    };
    Some((path, rows.lines().map(record).collect()))
}
