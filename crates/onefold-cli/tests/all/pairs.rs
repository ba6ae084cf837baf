//! `onefold pairs`: what the table lists, and every pair that it stands for.

use std::collections::BTreeSet;

use crate::place::Place;

/// Three copies of one text, two of a near one, and something else.
fn collection() -> Place {
    let place = Place::new();
    let long: Vec<String> = (0..60).map(|n| format!("word{n}")).collect();
    let text = long.join(" ");
    let near = format!("{text} more");
    let all = [("c", &text), ("a", &text), ("e", &text), ("b", &near), ("d", &near), ("x", &long[..9].join(" "))];
    let rows: String = all.iter().map(|(id, text)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n")).collect();
    place.write("rows.jsonl", rows);
    place
}

fn printed(place: &Place, words: &[&str]) -> Vec<serde_json::Value> {
    let ran = place.onefold([&["pairs", "out"], words].concat()).run().exits(0);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn expanded_pairs_are_all_pairs() {
    let place = collection();
    for format in ["parquet", "csv", "jsonl"] {
        place.scan(&format!("rows.jsonl --overwrite --format {format}")).exits(0);
        assert_eq!(printed(&place, &[]).len(), 4, "two groups as stars, and one row between them");
        let all = printed(&place, &["--expand"]);
        let name =
            |pair: &serde_json::Value| format!("{}{}", pair["first_id"].as_str().unwrap(), pair["second_id"].as_str().unwrap());
        let names: BTreeSet<String> = all.iter().map(name).collect();
        let expected = ["ac", "ae", "ce", "bd", "ab", "ad", "bc", "be", "cd", "de"];
        assert_eq!((names, all.len()), (expected.iter().map(|n| n.to_string()).collect(), 10));
        let cross = all.iter().find(|pair| name(pair) == "bc").unwrap();
        assert_eq!(cross["resemblance"], 56.0 / 57.0);
        assert_eq!(
            (&cross["containment_first"], &cross["containment_second"]),
            (&(56.0 / 57.0).into(), &1.0.into()),
            "b is the longer"
        );
    }
}

#[test]
fn a_star_cannot_be_expanded() {
    let place = collection();
    place.scan("rows.jsonl --pairs star").exits(0);
    assert_eq!(printed(&place, &[]).len(), 4, "each removed document with its representative");
    place.onefold(["pairs", "out", "--expand"]).run().exits(2).says(&["pairs", "star"]);
}
