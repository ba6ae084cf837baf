//! The help says which way a setting works; here it is moved.

use crate::place::{Place, row, text};

/// Documents at every distance from one another.
fn collection() -> Place {
    let place = Place::new();
    let rows: String = (0..20)
        .map(|n| row(&format!("d{n:02}"), &format!("{} {}", text("a", 100 - 4 * n), text(&format!("v{n}x"), 4 * n))))
        .collect();
    place.write("a.jsonl", rows);
    place
}

fn numbers(options: &[&str], name: &str) -> Vec<u64> {
    let place = collection();
    options
        .iter()
        .map(|option| place.scan(&format!("a.jsonl --overwrite --json {option}")).exits(0).json()[name].as_u64().unwrap())
        .collect()
}

#[track_caller]
fn falls(numbers: &[u64]) {
    assert!(numbers.windows(2).all(|two| two[0] > two[1]), "{numbers:?}");
}

#[test]
fn a_higher_threshold_finds_fewer() {
    let options = ["--threshold 0.3", "--threshold 0.5", "--threshold 0.7", "--threshold 0.9"];
    falls(&numbers(&options, "pairs"));
    falls(&numbers(&options, "removed"));
}

#[test]
fn longer_shingles_find_fewer() {
    let options = ["-t 0.5 --ngram-size 1", "-t 0.5 --ngram-size 10", "-t 0.5 --ngram-size 25"];
    falls(&numbers(&options, "pairs"));
}

#[test]
fn more_rows_propose_fewer() {
    let options = ["-t 0.2 --method minhash --bands 4 --rows 1", "-t 0.2 --method minhash --bands 4 --rows 32"];
    falls(&numbers(&options, "pairs"));
}

#[test]
fn more_bands_propose_more() {
    let options = ["-t 0.2 --method minhash --bands 16 --rows 8", "-t 0.2 --method minhash --bands 1 --rows 8"];
    falls(&numbers(&options, "pairs"));
}

#[test]
fn exact_misses_none_and_minhash_invents_none() {
    let place = collection();
    let mut found = ["exact", "minhash"].map(|method| {
        place.scan(&format!("a.jsonl --overwrite --threshold 0.6 --method {method}")).exits(0);
        let pairs = place.result("out").pairs().unwrap();
        pairs
            .iter()
            .map(|p| (p.text("first_id").to_string(), p.text("second_id").to_string(), p.text("resemblance").to_string()))
            .collect::<std::collections::BTreeSet<_>>()
    });
    let minhash = std::mem::take(&mut found[1]);
    assert!(!minhash.is_empty() && minhash.is_subset(&found[0]));
}

#[test]
fn a_lower_floor_lists_more_and_removes_the_same() {
    let place = collection();
    let mut seen = Vec::new();
    for options in ["", "--floor 0.5", "--floor 0.2"] {
        place.scan(&format!("a.jsonl --overwrite {options}")).exits(0);
        let pairs = place.result("out").pairs().unwrap();
        let accepted = pairs.iter().filter(|pair| pair.truth("accepted")).count();
        seen.push((pairs.len(), accepted, place.removed()));
    }
    assert!(seen[0].0 < seen[1].0 && seen[1].0 < seen[2].0);
    assert!(seen.iter().all(|(_, accepted, removed)| (accepted, removed) == (&seen[0].1, &seen[0].2)));
}

#[test]
fn star_and_all_remove_the_same_and_transitive_removes_no_more() {
    let place = Place::new();
    // A chain: each document is a window on one long text, moved by five words.
    let words: Vec<String> = (0..300).map(|n| format!("w{n}")).collect();
    place.write("a.jsonl", (0..30).map(|n| row(&format!("d{n:02}"), &words[5 * n..5 * n + 100].join(" "))).collect::<String>());
    let mut removed = Vec::new();
    let mut clusters = Vec::new();
    for options in ["", "--pairs star", "--cluster transitive", "--cluster transitive --pairs star"] {
        let summary = place.scan(&format!("a.jsonl --overwrite --json {options}")).exits(0).json();
        removed.push(place.removed());
        clusters.push(summary["largest_cluster"].as_u64().unwrap());
    }
    assert!(!removed[0].is_empty() && removed.iter().all(|set| *set == removed[0]));
    assert!(clusters[0] == clusters[1] && clusters[2] == clusters[3] && clusters[2] > clusters[0], "{clusters:?}");
}
