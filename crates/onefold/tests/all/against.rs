//! `--against` and containment: equal to the contract applied document by document.

use std::collections::{BTreeSet, HashMap};

use onefold::{ClusterMode, Discard, Input, Outcome, PairsMode, Plan, Relate, Relation, Remove, Source, run};

use crate::corpus::{Record, STREAM, exec, real, run_on, run_on_disk, said, stream};
use crate::generate::{Random, collection};
use crate::oracle::{Facts, Fate, Plain, Question};

/// Documents whose ids begin so are the reference.
const REF: &str = "ref-";

fn plan(question: &Question, pairs: PairsMode) -> Plan {
    let mut plan = Plan {
        threshold: question.threshold.parse().unwrap(),
        ngram_size: question.width as u32,
        protect: question.protect.iter().map(|start| format!("{start}*")).collect(),
        cluster: if question.transitive { ClusterMode::Transitive } else { ClusterMode::Conservative },
        pairs,
        ..Plan::default()
    };
    if let Some((least, shortest)) = &question.containment {
        plan.relation = Relate::Containment;
        plan.containment = least.parse().unwrap();
        plan.min_contained = *shortest as u32;
        plan.remove = if question.remove_contained { Remove::Contained } else { Remove::Duplicates };
    }
    plan
}

fn is_reference(record: &Record) -> bool {
    record.id.starts_with(REF)
}

fn answer(plan: &Plan, records: &[Record]) -> Outcome {
    let (against, inputs): (Vec<Record>, Vec<Record>) = records.iter().cloned().partition(is_reference);
    let source = || Source { inputs: stream(&inputs), against: if against.is_empty() { Vec::new() } else { stream(&against) } };
    let outcome = run(plan, &exec(2), source(), &mut Discard).unwrap();
    assert_eq!(said(&run_on_disk(plan, source(), &mut Discard)), said(&outcome), "on disk: {plan:?}");
    outcome
}

fn id(outcome: &Outcome, document: u32) -> String {
    outcome.collection.documents[document as usize].id.clone()
}

fn fates(outcome: &Outcome) -> Vec<Fate> {
    let fate = |(document, verdict): (&onefold::Entry, &onefold::Verdict)| Fate {
        id: document.id.clone(),
        representative: id(outcome, verdict.representative),
        relation: verdict.relation.map(Relation::name),
        kept: verdict.kept,
        cluster: id(outcome, verdict.cluster),
    };
    outcome.documents().map(fate).collect()
}

/// The accepted pairs of the table, written out: groups of r = 1, and all members of two groups of which a row names one each.
fn expanded(outcome: &Outcome) -> BTreeSet<(String, String)> {
    let mut groups: Vec<BTreeSet<u32>> = Vec::new();
    let mut group_of: HashMap<u32, usize> = HashMap::new();
    for pair in &outcome.pairs.to_vec().unwrap() {
        for document in [pair.first, pair.second] {
            group_of.entry(document).or_insert_with(|| {
                groups.push(BTreeSet::from([document]));
                groups.len() - 1
            });
        }
        let (a, b) = (group_of[&pair.first], group_of[&pair.second]);
        if pair.similarity.as_f64() == 1.0 && a != b {
            for document in std::mem::take(&mut groups[b]) {
                group_of.insert(document, a);
                groups[a].insert(document);
            }
        }
    }
    let inputs = outcome.verdicts.len() as u32;
    let mut all = BTreeSet::new();
    for pair in outcome.pairs.to_vec().unwrap().iter().filter(|pair| pair.accepted) {
        for &a in &groups[group_of[&pair.first]] {
            for &b in groups[group_of[&pair.second]].iter().filter(|&&b| a != b && (a < inputs || b < inputs)) {
                let (x, y) = (id(outcome, a), id(outcome, b));
                all.insert(if x < y { (x, y) } else { (y, x) });
            }
        }
    }
    all
}

fn check(question: &Question, records: &[Record]) {
    let facts = Facts::new(records, STREAM);
    let plain = Plain::new(&facts, |fact| fact.id.starts_with(REF), question);
    let outcome = answer(&plan(question, PairsMode::All), records);
    let expected = plain.fates();
    for (found, expected) in fates(&outcome).iter().zip(&expected) {
        assert_eq!(found, expected, "{question:?}");
    }
    assert_eq!(outcome.verdicts.len(), expected.len(), "{question:?}");
    assert_eq!(expanded(&outcome), plain.pairs(), "{question:?}");
    let rows: Vec<(String, String)> =
        outcome.pairs.to_vec().unwrap().iter().map(|pair| (id(&outcome, pair.first), id(&outcome, pair.second))).collect();
    assert!(rows.is_sorted() && rows.iter().all(|(first, second)| first < second), "{question:?}");
    let known = expected.iter().filter(|fate| !fate.kept && fate.representative.starts_with(REF)).count() as u64;
    let reference = records.iter().filter(|record| is_reference(record)).count() as u64;
    let counted = outcome.counts.reference.map_or((0, 0), |counts| (counts.documents, counts.removed));
    assert_eq!(counted, (reference, known), "{question:?}");
    let removed: u64 = expected.iter().filter(|fate| !fate.kept).count() as u64;
    assert_eq!(outcome.counts.removed, removed);
    assert_eq!(outcome.counts.exact + outcome.counts.near + outcome.counts.contained, removed);
    if question.containment.is_none() {
        let star = answer(&plan(question, PairsMode::Star), records);
        assert_eq!(fates(&star), expected, "star: {question:?}");
    }
}

/// A share of the documents becomes the reference.
fn with_reference(mut records: Vec<Record>, random: &mut Random, percent: usize) -> Vec<Record> {
    for record in &mut records {
        if random.chance(percent) {
            record.id = format!("{REF}{}", record.id);
        }
    }
    if records.iter().all(is_reference) {
        records[0].id = "input".into();
    }
    records
}

fn question(random: &mut Random) -> Question {
    let thresholds = ["0.1", "0.3", "0.5", "0.666666667", "0.8", "0.9", "0.95", "1"];
    let containment =
        random.chance(60).then(|| (random.pick(&["0.5", "0.75", "0.9", "0.95", "1"]).to_string(), random.pick(&[1, 2, 5, 20])));
    let remove_contained = containment.is_some() && random.chance(50);
    let protect = if random.chance(30) { vec!["keep-".to_string(), "kept-".into()] } else { Vec::new() };
    let (threshold, width) = (random.pick(&thresholds).to_string(), 1 + random.below(8));
    Question { threshold, width, containment, remove_contained, protect, transitive: random.chance(40) }
}

#[test]
fn hundreds_of_small_collections_equal_the_contract() {
    for seed in 0..500 {
        let mut random = Random(seed);
        let count = 2 + random.below(50);
        let percent = random.pick(&[0, 20, 50, 90]);
        let records = with_reference(collection(seed + 9000, count), &mut random, percent);
        check(&question(&mut random), &records);
    }
}

#[test]
fn a_larger_collection_equals_the_contract() {
    let mut random = Random(77);
    let records = with_reference(collection(77, 500), &mut random, 40);
    for containment in [None, Some(("0.9".to_string(), 20)), Some(("0.8".to_string(), 5))] {
        for remove_contained in [false, containment.is_some()] {
            let (containment, protect) = (containment.clone(), Vec::new());
            check(
                &Question { threshold: "0.8".into(), width: 5, containment, remove_contained, protect, transitive: false },
                &records,
            );
        }
    }
}

#[test]
fn real_documents_equal_the_contract() {
    for name in ["parkr_ndd", "webis_s3_terabyte"] {
        let Some((_, mut records)) = real(name) else { continue };
        records.truncate(250);
        let mut random = Random(5);
        let records = with_reference(records, &mut random, 30);
        for containment in [None, Some(("0.6".to_string(), 20))] {
            let remove_contained = containment.is_some();
            let question = Question {
                threshold: "0.5".into(),
                width: 3,
                containment,
                remove_contained,
                protect: Vec::new(),
                transitive: false,
            };
            check(&question, &records);
        }
    }
}

/// What is removed for the sake of another lies inside it or is near it; a second run removes nothing.
#[test]
fn what_contains_is_never_removed_and_survivors_survive() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let records = collection(seed + 400, 80);
        let mut question = question(&mut random);
        question.containment = Some(("0.8".into(), 3));
        question.remove_contained = true;
        let plan = plan(&question, PairsMode::All);
        let outcome = run_on(&plan, stream(&records));
        assert!(outcome.verdicts.iter().all(|verdict| verdict.kept || verdict.relation != Some(Relation::Contains)));
        let kept: BTreeSet<String> = fates(&outcome).into_iter().filter(|fate| fate.kept).map(|fate| fate.id).collect();
        let survivors: Vec<Record> = records.into_iter().filter(|record| kept.contains(&record.id)).collect();
        assert_eq!(run_on(&plan, stream(&survivors)).counts.removed, 0, "{question:?}");
    }
}

#[test]
fn asking_for_containment_removes_nothing_more() {
    let records = collection(12, 400);
    let plain = Plan { ngram_size: 3, ..Plan::default() };
    let asked = Plan { relation: Relate::Containment, min_contained: 3, ..plain.clone() };
    let (without, with) = (run_on(&plain, stream(&records)), run_on(&asked, stream(&records)));
    let kept = |outcome: &Outcome| outcome.verdicts.iter().map(|verdict| verdict.kept).collect::<Vec<_>>();
    assert_eq!(kept(&without), kept(&with));
    assert!(with.pairs.len() > without.pairs.len(), "nothing lies inside anything here");
}

/// Ids of the reference may be those of inputs: the input keeps its name, and nothing is flagged.
#[test]
fn a_new_version_of_a_collection_is_compared_with_the_old() {
    let text = "the same ten words stand in both versions of this";
    let input = |name: &str, rows: &str| Input::Stream {
        name: name.into(),
        reader: Box::new(std::io::Cursor::new(rows.as_bytes().to_vec())),
    };
    let row = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let new = row("a", text) + &row("b", "five words that are new here and nowhere else") + &row("c", text);
    let old = row("a", text) + &row("z", "something that only the old version had to say to us");
    let source = Source { inputs: vec![input("new", &new)], against: vec![input("old", &old)] };
    let outcome = run(&Plan::default(), &exec(1), source, &mut Discard).unwrap();
    let found: Vec<(String, String, bool)> =
        fates(&outcome).into_iter().map(|fate| (fate.id, fate.representative, fate.kept)).collect();
    let fate = |id: &str, representative: &str, kept| (id.to_string(), representative.to_string(), kept);
    assert_eq!(found, [fate("a", "a@old#1", false), fate("b", "b", true), fate("c", "a@old#1", false)]);
    assert!(!outcome.is_partial() && outcome.collection.skipped.is_empty());
    assert_eq!(outcome.verdicts[0].reason(), "beaten by reference");
    let nothing = Source { inputs: Vec::new(), against: vec![input("old", &old)] };
    assert!(run(&Plan::default(), &exec(1), nothing, &mut Discard).is_err(), "a reference alone is no input");
}

/// A folder may hold its own reference; its documents are not removed for their own sake.
#[test]
fn a_file_that_is_named_on_both_sides_is_reference_only() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old");
    std::fs::create_dir(&old).unwrap();
    let text = "a text of more than five words that is stored twice";
    std::fs::write(old.join("a.txt"), text).unwrap();
    std::fs::write(folder.path().join("b.txt"), text).unwrap();
    let source = Source { inputs: vec![Input::Path(folder.path().into())], against: vec![Input::Path(old)] };
    let outcome = run(&Plan::default(), &exec(1), source, &mut Discard).unwrap();
    assert_eq!((outcome.counts.documents, outcome.counts.removed), (1, 1));
    assert!(outcome.collection.documents[0].id.ends_with("b.txt"));
}
