//! `onefold passages`: what documents share, where, and what is repeated.

use std::fs;

use serde_json::Value;

use crate::machine::shared;
use crate::place::{Place, row, text};

fn lines(place: &Place, name: &str) -> Vec<Value> {
    fs::read_to_string(place.at(name)).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Forty documents with one footer, of which `d00` and `d01` share a passage of 30 words, and `d02` and `d03` one of 24.
fn collection() -> Place {
    let place = Place::new();
    let mut rows = String::new();
    for n in 0..40 {
        let body = match n {
            0 | 1 => format!("{} {}", text(&format!("n{n}x"), 10 * (n + 1)), text("Long", 30)),
            2 | 3 => format!("{} {}", text(&format!("n{n}x"), 10), text("short", 24)),
            _ => text(&format!("n{n}x"), 40),
        };
        rows += &row(&format!("d{n:02}"), &format!("{body} unlike{n} {} end{n}", text("footer", 26)));
    }
    place.write("rows.jsonl", rows);
    place
}

#[test]
fn passages_have_positions_and_boilerplate_is_repeated() {
    let place = collection();
    let ran = place.onefold("passages rows.jsonl --out out --max-places 39 --json".split(' ')).run().exits(0);
    let passages = lines(&place, "out/passages.jsonl");
    let beginning = "long0 long1 long2 long3 long4 long5 long6 long7 long8 long9 long10 long11";
    let expected = serde_json::json!({
        "first_id": "d00", "second_id": "d01", "first_word": 10, "second_word": 20, "words": 30, "text": beginning,
    });
    assert_eq!(passages, [expected]);
    let repeated = lines(&place, "out/repeated.jsonl");
    let figures = |passage: &Value| ["documents", "places", "words"].map(|name| passage[name].as_u64().unwrap());
    assert_eq!(repeated.iter().map(figures).collect::<Vec<_>>(), [[40, 40, 26], [2, 2, 30]]);
    assert_eq!((&repeated[0]["paired"], &repeated[1]["paired"]), (&false.into(), &true.into()));
    assert_eq!(repeated[0]["examples"][0], serde_json::json!({ "id": "d00", "word": 41 }));
    let json = ran.json();
    assert_eq!((&json["pairs"], &json["passages"], &json["shared_words"]), (&1.into(), &1.into(), &(40 * 26 + 60).into()));
    assert_eq!(json["left_out"], serde_json::json!({ "runs": 2, "places": 80 }));
    assert_eq!(fs::read_to_string(place.at("out/summary.json")).unwrap(), ran.stdout);
    assert_eq!(place.listing("out"), crate::place::set(["passages.jsonl", "repeated.jsonl", "summary.json"]));
    let ran = place.onefold("passages rows.jsonl --words 24".split(' ')).run().exits(0);
    assert!(ran.stdout.contains("780  of documents that share a passage"), "all pairs have the footer: {}", ran.stdout);
    assert!(ran.stdout.contains("footer0 footer1") && !place.at("result").exists(), "{}", ran.stdout);
}

#[test]
fn two_editions_of_a_book() {
    let Some(books) = shared("textreuse_ats/docs.jsonl") else { return };
    let place = Place::new();
    place.onefold(["passages", "--out", "out", "--quiet"]).args([&books]).run().exits(0);
    let passages = lines(&place, "out/passages.jsonl");
    let between = |first: &str, second: &str| {
        let both = passages.iter().filter(|line| line["first_id"] == first && line["second_id"] == second);
        both.max_by_key(|line| line["words"].as_u64()).unwrap().clone()
    };
    let longest = between("remember00palm.txt", "remembermeorholy00palm.txt");
    let place_of = |line: &Value| ["first_word", "second_word", "words"].map(|name| line[name].as_u64().unwrap());
    assert_eq!(place_of(&longest), [10_694, 10_834, 273]);
    assert_eq!(longest["text"], "is the close of the sabbath and it has indeed been a");
    let longest = between("ca1851-match.txt", "ny1850-match.txt");
    assert_eq!(place_of(&longest), [447, 446, 81]);
    assert_eq!(longest["text"], "be joined as plaintiffs or defendants but if the consent of any");
    assert!(passages.iter().all(|line| line["words"].as_u64().unwrap() >= 25));
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let place = collection();
    for threads in [1, 2, 7] {
        let words = format!("passages rows.jsonl --words 3 --threads {threads} --quiet --out out{threads}");
        place.onefold(words.split(' ')).run().exits(0);
        for name in ["passages.jsonl", "repeated.jsonl"] {
            let read = |threads| fs::read(place.at(format!("out{threads}/{name}"))).unwrap();
            assert!(!read(1).is_empty() && read(1) == read(threads), "{name} with {threads} threads");
        }
    }
}

#[test]
fn a_former_result_is_replaced_only_where_asked() {
    let place = collection();
    let run = |words: &str| place.onefold(format!("passages . --quiet --out {words}").split(' ')).run();
    run("out").exits(0);
    let before = fs::read(place.at("out/passages.jsonl")).unwrap();
    run("out --words 20").exits(2).says(&["already holds a result"]);
    assert_eq!(fs::read(place.at("out/passages.jsonl")).unwrap(), before);
    // The former result lies inside the input, and is not read.
    run("out --overwrite").exits(0);
    assert_eq!(fs::read(place.at("out/passages.jsonl")).unwrap(), before);
    place.write("other/thesis.txt", "x");
    run("other --overwrite").exits(2).says(&["not a result folder"]);
    assert_eq!(place.listing("other").len(), 1);
}

#[test]
fn bad_input() {
    let place = collection();
    let run = |words: &str| place.onefold(format!("passages {words}").split(' ')).run();
    run("missing --out out").exits(2).says(&["missing"]);
    run("rows.jsonl --words 0 --out out").exits(2).says(&["words", "from 1 to 10000"]);
    run("rows.jsonl --max-places 1 --out out").exits(2).says(&["max-places", "at least 2"]);
    run("rows.jsonl --words many").exits(2).says(&["--words"]);
    run("/dev/null --out out").exits(4).says(&["no document"]);
    assert!(!place.at("out").exists());
    place.write("bad.jsonl", row("a", &text("a", 40)) + "bad\n");
    let ran = run("bad.jsonl").exits(3);
    assert!(ran.stdout.contains("skipped"), "{}", ran.stdout);
}
