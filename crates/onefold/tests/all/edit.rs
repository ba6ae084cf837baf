//! Verification by word edit distance: what is a pair, by the definition; and the same answer however it is computed.

use std::collections::{BTreeMap, HashSet};

use onefold::{
    Discard, Method, Outcome, PRESETS, PairsMode, Plan, Recipe, Tokenizer, Tokens, Tolerance, Verify, preset, resemblance, run,
};

use crate::corpus::{Record, exec, memory, real, run_on, run_on_disk, said};

/// Distances by pair of ids.
type Listed = BTreeMap<(String, String), Option<f64>>;

fn listed(outcome: &Outcome) -> Listed {
    let id = |document: u32| outcome.collection.documents[document as usize].id.clone();
    outcome.pairs.to_vec().unwrap().iter().map(|pair| ((id(pair.first), id(pair.second)), pair.edit_distance)).collect()
}

fn words(text: &str) -> Vec<u64> {
    let mut tokens = Tokens::default();
    Tokenizer::default().tokenize(text, &mut tokens);
    tokens.hashes().to_vec()
}

/// Real documents, each with words of its own, by id.
fn distinct(name: &str, most: usize) -> Option<Vec<Record>> {
    let (_, records) = real(name)?;
    let mut seen = HashSet::new();
    let mut records: Vec<Record> = records.into_iter().filter(|record| seen.insert(words(&record.text))).take(most).collect();
    records.sort_by(|a, b| a.id.cmp(&b.id));
    Some(records)
}

/// The definition, on whole tables.
fn share(a: &[u64], b: &[u64]) -> f64 {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()] as f64 / a.len().max(b.len()) as f64
}

fn edit(share: &str, plan: Plan) -> Plan {
    Plan { verify: Verify::Edit, max_edit: Tolerance::parse("max-edit", share).unwrap(), ..plan }
}

fn plan_of(name: &str) -> Plan {
    let mut plan = Plan::default();
    preset(name).unwrap().apply(&mut plan);
    plan
}

#[test]
fn pairs_are_those_of_the_definition() {
    for (name, most) in [("revisions_sitepolicy", 80), ("textreuse_ats", 40)] {
        let Some(records) = distinct(name, most) else { return };
        let plan = Plan { threshold: "0.3".parse().unwrap(), ..Plan::default() };
        let mut expected = Listed::new();
        for (at, a) in records.iter().enumerate() {
            for b in &records[at + 1..] {
                if resemblance(&a.text, &b.text, Recipe::of_words(5)).is_some_and(|found| found.reaches(plan.threshold)) {
                    expected.insert((a.id.clone(), b.id.clone()), Some(share(&words(&a.text), &words(&b.text))));
                }
            }
        }
        for limit in ["0", "0.05", "0.3", "1"] {
            let most: f64 = limit.parse().unwrap();
            let within = expected.iter().filter(|(_, share)| share.unwrap() <= most);
            let within: Listed = within.map(|(pair, share)| (pair.clone(), *share)).collect();
            assert_eq!(listed(&run_on(&edit(limit, plan.clone()), memory(&records))), within, "{name} {limit}");
        }
    }
}

/// Other methods propose what they propose; the distance takes away what is too far, and nothing else.
#[test]
fn whatever_proposes_the_distance_decides() {
    let Some(records) = distinct("revisions_sitepolicy", 250) else { return };
    let texts: BTreeMap<&str, Vec<u64>> = records.iter().map(|record| (record.id.as_str(), words(&record.text))).collect();
    let mut lost = 0;
    for name in ["minhash", "clean-living", "fetterly2003", "pi-simhash", "i-match", "winnowing", "henzinger", "cosine", "scam"] {
        let plain = Plan { verify: Verify::None, ..plan_of(name) };
        let proposed = listed(&run_on(&plain, memory(&records)));
        let found: HashSet<(String, String)> =
            listed(&run_on(&edit("0.1", plan_of(name)), memory(&records))).into_keys().collect();
        let near = |(a, b): &&(String, String)| {
            let (a, b) = (&texts[a.as_str()], &texts[b.as_str()]);
            onefold::edit_distance(a, b) as usize * 10 <= a.len().max(b.len())
        };
        let expected: HashSet<(String, String)> = proposed.keys().filter(near).cloned().collect();
        assert_eq!(found, expected, "{name}");
        lost += proposed.len() - found.len();
    }
    assert!(lost > 100, "only {lost} proposals were too far");
}

#[test]
fn threads_and_memory_change_nothing() {
    let Some((_, mut records)) = real("revisions_sitepolicy") else { return };
    records.truncate(150);
    for preset in &PRESETS {
        for pairs in [PairsMode::All, PairsMode::Star] {
            let plan = edit("0.2", Plan { pairs, ..plan_of(preset.name) });
            let computed = |threads| run(&plan, &exec(threads), memory(&records), &mut Discard).unwrap();
            let first = said(&computed(1));
            assert!(said(&computed(4)) == first, "{}: 4 threads", preset.name);
            assert!(said(&run_on_disk(&plan, memory(&records), &mut Discard)) == first, "{} {pairs:?}: on disk", preset.name);
        }
    }
}

/// A passage so many times over: the same shingles from twice on.
fn repeated(times: usize) -> Record {
    Record::new(&format!("d{times:02}"), &"one two three four five six seven eight ".repeat(times))
}

#[test]
fn the_same_shingles_are_not_the_same_words() {
    let records = [3, 4, 5, 30].map(repeated);
    let by_shingles = run_on(&Plan::default(), memory(&records));
    assert_eq!((by_shingles.counts.kept, by_shingles.counts.pairs), (1, 3));
    for plan in [Plan::default(), Plan { pairs: PairsMode::Star, ..Plan::default() }, plan_of("minhash"), plan_of("pi-simhash")] {
        let outcome = run_on(&edit("0.3", plan.clone()), memory(&records));
        let expected = [(("d03", "d04"), 0.25), (("d04", "d05"), 0.2)];
        let found = listed(&outcome);
        // The longest leads; with stars only its pairs are listed.
        let first = if plan.pairs == PairsMode::Star { 1 } else { 0 };
        let expected = expected[first..].iter().map(|((a, b), share)| (((*a).into(), (*b).into()), Some(*share)));
        assert_eq!(found, expected.collect(), "{:?}", plan.method);
        assert_eq!(outcome.counts.kept, 3, "3 is too far from 5, whatever is between");
    }
}

#[test]
fn the_same_words_are_one_and_a_reference_keeps_all_that_differ() {
    let records = [repeated(3), repeated(30), Record::new("copy", &repeated(3).text.to_uppercase())];
    let plan = edit("0", Plan::default());
    let outcome = run_on(&plan, memory(&records));
    assert_eq!((outcome.counts.kept, outcome.counts.exact, outcome.counts.pairs), (2, 1, 1));
    assert_eq!(listed(&outcome).into_values().collect::<Vec<_>>(), [Some(0.0)]);
    let reference = memory(&[Record::new("r3", &repeated(3).text), Record::new("r30", &repeated(30).text)]);
    let source = onefold::Source { inputs: memory(&records), against: reference };
    let outcome = run(&plan, &exec(2), source, &mut Discard).unwrap();
    assert_eq!((outcome.counts.kept, outcome.counts.exact), (0, 3), "each has its own in the reference");
}

#[test]
fn contradictions_are_refused() {
    let with_floor = Plan { floor: "0.5".parse().ok(), ..Plan::default() };
    let contained = Plan { relation: onefold::Relate::Containment, ..Plan::default() };
    for plan in [with_floor, contained] {
        assert!(plan.validate().is_ok() && edit("0.3", plan).validate().is_err());
    }
    assert!(edit("0.3", Plan { method: Method::Exact, ..Plan::default() }).validate().is_ok());
}
