//! Real collections with their gold, from the shared folder.

use std::collections::BTreeMap;
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
