//! The same bytes out for any number of threads, any memory and any order of the input (I4, D8).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use onefold::{ClusterMode, Format, Input, Method, MinHashSettings, PairsMode, Plan, ResultFolder, run};

use crate::corpus::{Record, exec, file, jsonl, memory, run_on_disk, said, stream};
use crate::generate::{Random, collection};

const FORMATS: [Format; 3] = [Format::Parquet, Format::Jsonl, Format::Csv];

/// In place of a number of threads: two, and everything goes to disk.
const ON_DISK: usize = 0;

/// Every file of a result but the manifest, which has the command in it.
type Files = BTreeMap<String, Vec<u8>>;

fn result(plan: &Plan, threads: usize, format: Format, source: Vec<Input>) -> Files {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = ResultFolder::new(folder.path().join("out"));
    sink.format = format;
    if threads == ON_DISK {
        run_on_disk(plan, source, &mut sink);
    } else {
        run(plan, &exec(threads), source, &mut sink).unwrap();
    }
    let entries = std::fs::read_dir(folder.path().join("out")).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.file_name().unwrap() != "run.json");
    files.map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), std::fs::read(path).unwrap())).collect()
}

/// The files that don't tell where a document stood.
fn without_places(mut files: Files) -> Files {
    files.retain(|name, _| name.starts_with("documents") || name.starts_with("pairs"));
    assert_eq!(files.len(), 2);
    files
}

fn plans() -> Vec<Plan> {
    let star = Plan { pairs: PairsMode::Star, ngram_size: 3, threshold: "0.6".parse().unwrap(), ..Plan::default() };
    let protecting = Plan {
        protect: vec!["keep-*".into()],
        cluster: ClusterMode::Transitive,
        keep: "time newest".parse().unwrap(),
        ..Plan::default()
    };
    let minhash = Plan { method: Method::MinHash(MinHashSettings::default()), ..Plan::default() };
    vec![Plan::default(), star, protecting, minhash]
}

fn write(folder: &Path, parts: &[&[Record]]) -> Vec<PathBuf> {
    let place = |number: usize| folder.join(format!("part-{number}.jsonl"));
    parts.iter().enumerate().for_each(|(number, part)| std::fs::write(place(number), jsonl(part)).unwrap());
    (0..parts.len()).map(place).collect()
}

fn paths(files: &[PathBuf]) -> Vec<Input> {
    files.iter().map(|path| file(path.to_str().unwrap())).collect()
}

fn records() -> Vec<Record> {
    collection(77, 600)
}

#[test]
fn threads_memory_and_the_order_of_arguments_change_no_byte() {
    let (folder, records) = (tempfile::tempdir().unwrap(), records());
    let files = write(folder.path(), &[&records[..100], &records[100..350], &records[350..]]);
    let turned = [files[2].clone(), files[0].clone(), files[1].clone(), files[0].clone()];
    for plan in plans() {
        for format in FORMATS {
            let first = result(&plan, 1, format, paths(&files));
            assert_eq!(first.len(), 4, "documents, pairs, state, skipped");
            assert!(result(&plan, 2, format, paths(&files)) == first, "2 threads: {plan:?}");
            assert!(result(&plan, 8, format, paths(&turned)) == first, "8 threads, other order: {plan:?}");
            assert!(result(&plan, ON_DISK, format, paths(&turned)) == first, "on disk: {plan:?}");
        }
    }
}

#[test]
fn the_order_of_lines_changes_no_byte() {
    let (folder, mut records) = (tempfile::tempdir().unwrap(), records());
    let mut random = Random(5);
    for plan in plans() {
        for format in FORMATS {
            let files = write(folder.path(), &[&records[..300], &records[300..]]);
            let first = without_places(result(&plan, 2, format, paths(&files)));
            let (left, right) = records.split_at_mut(300);
            random.shuffle(left);
            random.shuffle(right);
            write(folder.path(), &[left, right]);
            assert!(without_places(result(&plan, 8, format, paths(&files))) == first, "{format:?} {plan:?}");
        }
    }
}

/// A document that names its source has no other tie to the file it lies in.
#[test]
fn how_documents_are_spread_over_files_changes_no_byte() {
    let (folder, mut records) = (tempfile::tempdir().unwrap(), records());
    records.iter_mut().for_each(|record| record.source = Some(record.source.take().unwrap_or_else(|| "none".into())));
    for plan in plans() {
        let first = without_places(result(&plan, 2, Format::Jsonl, stream(&records)));
        for pieces in [1, 3, 7] {
            let parts: Vec<&[Record]> = records.chunks(records.len().div_ceil(pieces)).collect();
            let files = write(folder.path(), &parts);
            assert!(without_places(result(&plan, 2, Format::Jsonl, paths(&files))) == first, "{pieces} files: {plan:?}");
        }
    }
}

#[test]
fn the_order_of_documents_in_memory_changes_nothing() {
    let mut records: Vec<Record> = records().into_iter().map(|record| Record { lossy: false, ..record }).collect();
    let mut random = Random(9);
    for plan in plans() {
        let outcome = |threads: usize, source: Vec<Input>| run(&plan, &exec(threads), source, &mut onefold::Discard).unwrap();
        let first = said(&outcome(1, memory(&records)));
        for threads in [1, 2, 8] {
            random.shuffle(&mut records);
            let (left, right) = records.split_at(random.below(records.len()));
            assert!(said(&outcome(threads, [memory(left), memory(right)].into_iter().flatten().collect())) == first, "{plan:?}");
        }
    }
}
