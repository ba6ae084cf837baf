//! `compare` and `explain`: the numbers of two documents, and why one of them goes.

use crate::place::Place;

const FIRST: &str = "one two three four five six seven eight nine ten eleven twelve";

fn two_files() -> Place {
    let place = Place::new();
    place.write("a.txt", FIRST);
    place.write("b.html", format!("<html><p>{}</p>", FIRST.replace("six", "SIXTH")));
    place
}

#[test]
fn two_files_in_numbers_and_words() {
    let place = two_files();
    let found = place.onefold(["compare", "a.txt", "b.html", "-w", "3", "--json"]).run().exits(0).json();
    assert_eq!((&found["common_shingles"], &found["edit_distance"]), (&7.into(), &1.into()));
    assert_eq!(found["resemblance"], 7.0 / 13.0);
    assert_eq!((&found["containment_first"], &found["exact"]), (&0.7.into(), &false.into()));
    let shown = place.onefold(["compare", "a.txt", "b.html", "-w", "3"]).run().exits(0).stdout;
    assert!(shown.contains("[-six-] {+sixth+}") && shown.contains("7 of 13 shingles are common"), "{shown}");
    let colored = place.onefold(["compare", "a.txt", "b.html", "--color", "always"]).run().exits(0).stdout;
    assert!(colored.contains("\x1b[31msix\x1b[0m"), "{colored}");
}

#[test]
fn files_that_cannot_be_compared_are_named() {
    let place = two_files();
    place.write("image.png", [0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0]);
    place.onefold(["compare", "a.txt", "gone.txt"]).run().exits(2).says(&["gone.txt"]);
    place.onefold(["compare", "a.txt", "image.png"]).run().exits(2).says(&["image.png", "PNG"]);
    place.onefold(["compare", "a.txt", "b.html", "-w", "0"]).run().exits(2).says(&["ngram-size"]);
}

/// Two revisions of a text and something else, with a score that decides.
fn scanned() -> Place {
    let place = Place::new();
    let long: Vec<String> = (0..60).map(|n| format!("word{n}")).collect();
    let row = |id: &str, score: u32, text: &str| format!("{{\"id\":\"{id}\",\"score\":{score},\"text\":\"{text}\"}}\n");
    let text = long.join(" ");
    let rows = [row("old", 1, &text), row("new", 2, &format!("{text} more")), row("other", 3, FIRST)].concat();
    place.write("rows.jsonl", rows);
    place.scan("rows.jsonl").exits(0);
    place
}

#[test]
fn documents_of_a_result_are_compared_by_id() {
    let place = scanned();
    let found = place.onefold(["compare", "old", "new", "--result", "out", "--json"]).run().exits(0).json();
    assert_eq!((&found["shingles"][0], &found["shingles"][1]), (&56.into(), &57.into()));
    place.onefold(["compare", "old", "nobody", "--result", "out"]).run().exits(2).says(&["nobody"]);
    place.write("rows.jsonl", "");
    place.onefold(["compare", "old", "new", "--result", "out"]).run().exits(2).says(&["not there any more"]);
}

#[test]
fn a_verdict_is_explained() {
    let place = scanned();
    let explain = |id: &str| place.onefold(["explain", id, "--result", "out"]).run().exits(0).stdout;
    let removed = explain("old");
    assert!(removed.contains("near-duplicate of 'new'") && removed.contains("by score"), "{removed}");
    assert!(removed.contains("56 of its 56 shingles are among the 57"), "{removed}");
    let kept = explain("new");
    assert!(kept.contains("kept: it stands for 1 other document") && kept.contains("old"), "{kept}");
    assert!(explain("other").contains("nothing better ranked is near it"));
    let json = place.onefold(["explain", "old", "--result", "out", "--json"]).run().exits(0).json();
    assert_eq!((&json["document"]["keep"], &json["edit_distance"]), (&false.into(), &1.into()));
    place.onefold(["explain", "nobody", "--result", "out"]).run().exits(2).says(&["nobody"]);
}
