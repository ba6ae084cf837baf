//! Words that many documents have are left out before shingling: by the definition, and the same however it is computed.

use std::collections::{BTreeMap, BTreeSet};

use onefold::{
    Discard, Document, ErrorKind, Exec, Input, Memory, Outcome, PairsMode, Plan, Source, Tokenizer, Tokens, Unit, run,
};

use crate::corpus::{Record, exec, file, jsonl, memory, real, run_on, run_on_disk, said, stream};

fn words(text: &str) -> Vec<String> {
    let mut tokens = Tokens::default();
    Tokenizer::default().tokenize(text, &mut tokens);
    std::str::from_utf8(tokens.canonical()).unwrap().split_terminator(' ').map(String::from).collect()
}

/// The definition: the texts without the words that many of them have, and how many words that are.
fn without_common(records: &[Record], min_idf: f64) -> (Vec<Record>, u64) {
    let mut documents_with: BTreeMap<String, u32> = BTreeMap::new();
    for record in records {
        let distinct: BTreeSet<String> = words(&record.text).into_iter().collect();
        distinct.into_iter().for_each(|word| *documents_with.entry(word).or_default() += 1);
    }
    let is_common = |word: &str| (records.len() as f64 / f64::from(documents_with[word])).ln() < min_idf;
    let rest = |text: &str| words(text).into_iter().filter(|word| !is_common(word)).collect::<Vec<_>>().join(" ");
    let left_out = documents_with.keys().filter(|word| is_common(word)).count() as u64;
    (records.iter().map(|record| Record { text: rest(&record.text), ..record.clone() }).collect(), left_out)
}

/// Resemblances by pair of ids, where both have shingles: short texts are one by what they were, not by what is left of them.
fn listed(outcome: &Outcome) -> BTreeMap<(String, String), f64> {
    let entry = |document: u32| &outcome.collection.documents[document as usize];
    let pairs = outcome.pairs.to_vec().unwrap();
    let long = pairs.iter().filter(|pair| entry(pair.first).shingle_count() > 0);
    long.map(|pair| ((entry(pair.first).id.clone(), entry(pair.second).id.clone()), pair.similarity.as_f64())).collect()
}

fn with_idf(least: f64) -> Plan {
    Plan { min_idf: Some(least), ..Plan::default() }
}

#[test]
fn what_is_left_is_compared_as_if_there_had_been_nothing_else() {
    let mut found_some = 0;
    for name in ["revisions_sitepolicy", "textreuse_ats", "parkr_ndd"] {
        let Some((_, mut records)) = real(name) else { return };
        records.truncate(400);
        for least in [0.5, 1.5, 3.0] {
            let (rest, left_out) = without_common(&records, least);
            let outcome = run_on(&with_idf(least), memory(&records));
            let expected = listed(&run_on(&Plan::default(), memory(&rest)));
            assert_eq!(listed(&outcome), expected, "{name} {least}");
            assert_eq!(outcome.counts.words.map(|words| words.left_out), Some(left_out), "{name} {least}");
            found_some += usize::from(!expected.is_empty());
        }
    }
    assert!(found_some >= 5, "only {found_some} have pairs");
}

#[test]
fn threads_and_memory_and_the_way_in_change_nothing() {
    let Some((_, mut records)) = real("revisions_sitepolicy") else { return };
    records.truncate(200);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs.jsonl");
    std::fs::write(&path, jsonl(&records)).unwrap();
    for (pairs, shingle) in [(PairsMode::All, Unit::Words), (PairsMode::Star, Unit::Words), (PairsMode::All, Unit::Lines)] {
        let plan = Plan { pairs, shingle, ngram_size: 3, ..with_idf(1.5) };
        let computed = |threads| run(&plan, &exec(threads), memory(&records), &mut Discard).unwrap();
        let first = said(&computed(1));
        assert!(said(&computed(4)) == first, "4 threads");
        assert!(said(&run_on_disk(&plan, memory(&records), &mut Discard)) == first, "on disk");
        let from_file = run_on(&plan, vec![file(path.to_str().unwrap())]);
        assert!(said(&from_file) == first, "from a file");
        assert_eq!(from_file.counts.words, computed(1).counts.words);
    }
}

#[test]
fn what_can_be_read_only_once_is_refused() {
    let records = [Record::new("a", "one two three four five six")];
    let refused = run(&with_idf(1.0), &exec(2), stream(&records), &mut Discard).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Usage);
    assert!(refused.to_string().contains("count the words of 'stream'"), "{refused}");
}

#[test]
fn words_are_counted_as_other_filters_leave_them() {
    let text = |form: &str, n: usize| format!("{form} {}", (0..9).map(|i| format!("w{n}x{i}")).collect::<Vec<_>>().join(" "));
    let forms = ["connected", "connecting", "connections"];
    let records: Vec<Record> = (0..).zip(forms).map(|(n, form)| Record::new(form, &text(form, n))).collect();
    let counted = |plan: Plan| run_on(&plan, memory(&records)).counts.words.unwrap();
    assert_eq!((counted(with_idf(1.0)).left_out, counted(with_idf(1.0)).distinct), (0, 30));
    let stemmed = counted(Plan { stem: "en".parse().ok(), ..with_idf(1.0) });
    assert_eq!((stemmed.left_out, stemmed.distinct, stemmed.documents), (1, 28, 3));
}

#[test]
fn too_few_documents_leave_no_word_and_a_warning() {
    let text = |n: usize| (0..20).map(|i| format!("w{n}x{i}")).collect::<Vec<_>>().join(" ");
    let records: Vec<Record> = (0..20).map(|n| Record::new(&format!("d{n:02}"), &text(n / 2))).collect();
    let warned = |least: f64| {
        let outcome = run_on(&with_idf(least), memory(&records));
        (outcome.warnings.iter().any(|warning| warning.code == "no_words_left"), outcome.counts.exact)
    };
    assert_eq!(warned(2.0), (false, 10));
    assert_eq!(warned(4.0), (true, 10), "equal texts are found by their digests");
}

#[test]
fn the_reference_counts_too() {
    let text = |n: usize| format!("common {}", (0..20).map(|i| format!("w{n}x{i}")).collect::<Vec<_>>().join(" "));
    let records =
        |name: &str, from: usize| (from..from + 4).map(|n| Record::new(&format!("{name}{n}"), &text(n))).collect::<Vec<_>>();
    let source = Source { inputs: memory(&records("i", 0)), against: memory(&records("r", 3)) };
    let outcome = run(&with_idf(0.5), &exec(2), source, &mut Discard).unwrap();
    let words = outcome.counts.words.unwrap();
    assert_eq!((words.documents, words.left_out, outcome.counts.kept), (8, 1, 3));
}

#[test]
fn more_words_than_memory_can_count_are_refused() {
    let document = |n: usize| Document { text: (0..1000).map(|i| format!("w{n}x{i} ")).collect(), ..Document::default() };
    let documents = vec![Input::Documents((0..700).map(document).collect())];
    let exec = Exec { memory: Memory::of_bytes(96 << 20).unwrap(), ..exec(2) };
    let refused = run(&with_idf(1.0), &exec, documents, &mut Discard).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    assert!(refused.to_string().contains("different words"), "{refused}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for bad in [-1.0, 41.0, f64::NAN, f64::INFINITY] {
        assert!(with_idf(bad).validate().is_err(), "{bad}");
    }
    assert!(with_idf(4.0).validate().is_ok());
}
