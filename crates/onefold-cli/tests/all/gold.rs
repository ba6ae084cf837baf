//! Real collections with their gold, from the shared folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::machine::shared;
use crate::place::Place;

fn scan(place: &Place, input: &Path) {
    let input = input.display().to_string();
    place.onefold(["scan", &input, "--out", "out", "--quiet"]).run().exits(0);
}

fn scores(place: &Place, options: &[&str]) -> Value {
    place.onefold(["evaluate", "out", "--json"]).args(options).run().exits(0).json()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// Pairs that the truth has, counted without the program: n(n−1)/2 for each class.
fn true_pairs(classes: impl Iterator<Item = String>) -> u64 {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    classes.for_each(|class| *sizes.entry(class).or_default() += 1);
    sizes.values().map(|n| n * (n - 1) / 2).sum()
}

/// The lineage of each document, by id.
fn lineages(path: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let word = |name: &str| row[name].as_str().unwrap().to_string();
        (word("id"), word("lineage"))
    };
    text.lines().map(row).collect()
}

#[test]
fn revisions_by_their_lineage() {
    let Some(path) = shared("revisions_sitepolicy/docs.jsonl") else { return };
    let place = Place::new();
    scan(&place, &path);
    let scores = scores(&place, &["--gold-column", "lineage"]);
    let lineages = lineages(&path);
    let (pairs, documents) = (&scores["pairs"], &scores["documents"]);
    assert_eq!(number(&pairs["true_positives"]) + number(&pairs["false_negatives"]), true_pairs(lineages.values().cloned()));
    assert_eq!((number(&documents["in_gold"]), number(&documents["unknown_to_result"])), (1030, 0));
    let rows = place.result("out").pairs().unwrap();
    assert!(number(&pairs["true_positives"]) + number(&pairs["false_positives"]) >= rows.len() as u64, "families are expanded");
    // The clusters once more, from the table and the collection alone.
    let documents = place.documents();
    let cluster = |id: &String| documents[id].text("cluster_id").to_string();
    let both = true_pairs(lineages.iter().map(|(id, lineage)| format!("{}\0{lineage}", cluster(id))));
    let predicted = true_pairs(lineages.keys().map(cluster));
    let clusters = &scores["clusters"];
    assert_eq!((number(&clusters["true_positives"]), number(&clusters["false_positives"])), (both, predicted - both));
}

/// The measures for CORE once more, from the table and the collection alone: sets are made and compared.
#[test]
fn revisions_by_the_scorer_for_core() {
    let Some(path) = shared("revisions_sitepolicy/docs.jsonl") else { return };
    let place = Place::new();
    scan(&place, &path);
    let scores = scores(&place, &["--gold-column", "lineage", "--scorer", "core"]);
    let documents = place.documents();
    let lineages = lineages(&path);
    let clusters = lineages.keys().map(|id| (id.clone(), documents[id].text("cluster_id").to_string())).collect();
    let (labelled, predicted) = (others(&lineages), others(&clusters));
    let count = |is: &dyn Fn(&BTreeSet<&str>, &BTreeSet<&str>) -> bool| {
        lineages.keys().filter(|id| is(&labelled[id.as_str()], &predicted[id.as_str()])).count() as f64
    };
    let tp = count(&|labelled, predicted| !labelled.is_empty() && labelled.is_subset(predicted));
    let fn_ = count(&|labelled, predicted| !labelled.is_empty() && predicted.is_empty());
    let tn = count(&|labelled, predicted| labelled.is_empty() && predicted.is_empty());
    let fp = lineages.len() as f64 - tp - fn_ - tn;
    assert!([tp, fp, fn_, tn].iter().all(|&count| count > 0.0), "every row of the table occurs: {scores}");
    for (name, value) in [
        ("scored", 1030.0),
        ("true_positives", tp),
        ("false_positives", fp),
        ("false_negatives", fn_),
        ("true_negatives", tn),
        ("precision_duplicates", tp / (tp + fp)),
        ("recall_duplicates", tp / (tp + fn_)),
        ("precision_non_duplicates", tn / (tn + fn_)),
        ("recall_non_duplicates", tn / (tn + fp)),
        ("macro_f1", (tp / (tp + fp) + tn / (tn + fn_)) / 2.0),
        ("accuracy", count(&|labelled, predicted| labelled == predicted) / 1030.0),
    ] {
        assert!((scores[name].as_f64().unwrap() - value).abs() < 1e-12, "{name} is not {value}: {scores}");
    }
}

/// For each document the others of its group.
fn others(groups: &BTreeMap<String, String>) -> BTreeMap<&str, BTreeSet<&str>> {
    let others = |id: &str, group: &str| {
        groups.iter().filter(|(other, of)| *other != id && *of == group).map(|(other, _)| other.as_str()).collect()
    };
    groups.iter().map(|(id, group)| (id.as_str(), others(id, group))).collect()
}

#[test]
fn pairs_judged_by_people() {
    let (Some(documents), Some(gold)) = (shared("webis_s3_terabyte/docs.jsonl"), shared("webis_s3_terabyte/gold_pairs.tsv"))
    else {
        return;
    };
    let place = Place::new();
    scan(&place, &documents);
    let scores = scores(&place, &["--gold", &gold.display().to_string()]);
    let pairs = &scores["pairs"];
    assert_eq!(number(&pairs["true_positives"]) + number(&pairs["false_negatives"]), 70, "label ≥ 1 is positive");
    assert!(
        number(&pairs["true_positives"]) > 0 && number(&pairs["true_positives"]) + number(&pairs["false_positives"]) <= 115,
        "only judged pairs count: {pairs}"
    );
}

#[test]
fn classes_of_pages_one_a_line() {
    let (Some(documents), Some(gold)) = (shared("debdocs_slice/docs.jsonl"), shared("debdocs_slice/lineage_clusters.tsv")) else {
        return;
    };
    let place = Place::new();
    scan(&place, &documents);
    let by_file = scores(&place, &["--gold", &gold.display().to_string(), "--worst", "3"]);
    let lines = fs::read_to_string(&gold).unwrap();
    let classes = lines.lines().enumerate().flat_map(|(at, line)| vec![at.to_string(); line.split('\t').count() - 1]);
    let pairs = &by_file["pairs"];
    assert_eq!(number(&pairs["true_positives"]) + number(&pairs["false_negatives"]), true_pairs(classes));
    assert!(
        number(&pairs["true_positives"]).abs_diff(2508) < 25,
        "pairs of resemblance 0.8 by the collection's own measure: {pairs}"
    );
    assert_eq!(by_file["worst_false_negatives"].as_array().unwrap().len(), 3);
}
