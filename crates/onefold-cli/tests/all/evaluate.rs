//! `onefold evaluate` on a case small enough for a hand to check.

use serde_json::{Value, json};

use crate::place::{Place, row, text};
use crate::program::Ran;

/// a and b are equal, c is near both, d and e are alone; the truth in `kind` is {a, b}, {c, d}.
fn scanned(options: &str) -> Place {
    let place = Place::new();
    let with_kind = |id: &str, words: &str, kind: &str| row(id, words).replace("\"id\"", &format!("\"kind\":\"{kind}\",\"id\""));
    let rows = [
        with_kind("a", &text("a", 40), "k"),
        with_kind("b", &text("a", 40).to_uppercase(), "k"),
        with_kind("c", &text("a", 41), "l"),
        with_kind("d", &text("d", 40), "l"),
        row("e", &text("e", 40)),
    ];
    place.write("a.jsonl", rows.concat());
    place.scan(&format!("a.jsonl {options}")).exits(0);
    place
}

fn with_gold(place: &Place, gold: &str) -> Ran {
    place.write("gold", gold);
    place.onefold(["evaluate", "out", "--gold", "gold", "--json"]).run()
}

/// True positive ab; false positives ac and bc; false negative cd.
#[track_caller]
fn as_by_hand(scores: &Value) {
    for table in [&scores["pairs"], &scores["clusters"]] {
        assert_eq!(
            [&table["true_positives"], &table["false_positives"], &table["false_negatives"]],
            [&json!(1), &json!(2), &json!(1)],
            "{table}"
        );
        let close = |name: &str, value: f64| assert!((table[name].as_f64().unwrap() - value).abs() < 1e-12, "{name}: {table}");
        close("precision", 1.0 / 3.0);
        close("recall", 0.5);
        close("f1", 0.4);
    }
}

#[test]
fn classes_in_every_form_give_the_numbers_made_by_hand() {
    let place = scanned("");
    let forms = [
        "k a\nk b\nl c\nl d\n",
        "k\ta\tb\nl\tc\td\n",
        "{\"hash\":\"k\",\"ids\":[\"a\",\"b\"]}\n{\"hash\":\"l\",\"ids\":[\"c\",\"d\"]}\n",
    ];
    for form in forms {
        as_by_hand(&with_gold(&place, form).exits(0).json());
    }
}

#[test]
fn a_column_of_the_input_gives_the_same_numbers() {
    let place = scanned("");
    let scores = place.onefold(["evaluate", "out", "--gold-column", "kind", "--json"]).run().exits(0).json();
    as_by_hand(&scores);
    assert_eq!(scores["documents"]["in_gold"], 4, "e has no label and is not judged");
    let missed = &scores["worst_false_negatives"][0];
    assert_eq!(
        (&missed["first"], &missed["second"], &missed["resemblance"]),
        (&json!("c"), &json!("d"), &json!(0.0)),
        "measured from the texts"
    );
}

#[test]
fn pairs_without_labels_make_all_others_negative() {
    let place = scanned("");
    for gold in ["id_a,id_b\na,b\nc,d\n", "id_a\tid_b\nb\ta\nd\tc\n"] {
        let scores = with_gold(&place, gold).exits(0).json();
        assert_eq!(
            (&scores["pairs"]["true_positives"], &scores["pairs"]["false_positives"], &scores["pairs"]["false_negatives"]),
            (&json!(1), &json!(2), &json!(1))
        );
    }
}

#[test]
fn labels_limit_the_score_to_judged_pairs() {
    let place = scanned("");
    let scores = with_gold(&place, "id_a,id_b,label\na,b,2\nb,c,0\nc,d,1\na,e,0\n").exits(0).json();
    assert_eq!(
        (&scores["pairs"]["true_positives"], &scores["pairs"]["false_positives"], &scores["pairs"]["false_negatives"]),
        (&json!(1), &json!(1), &json!(1))
    );
}

#[test]
fn every_table_format_evaluates_alike() {
    for options in ["--format jsonl", "--format csv", "--method minhash --num-perm 512"] {
        let place = scanned(options);
        as_by_hand(&with_gold(&place, "k a\nk b\nl c\nl d\n").exits(0).json());
    }
}

#[test]
fn star_pairs_are_not_scored_as_if_they_were_all() {
    let place = scanned("--pairs star");
    let scores = with_gold(&place, "k a\nk b\nl c\nl d\n").exits(0).json();
    assert_eq!(scores["pairs_complete"], false);
    assert_eq!(scores["clusters"]["true_positives"], 1);
    let text = place.onefold(["evaluate", "out", "--gold", "gold"]).run().exits(0).stdout;
    assert!(text.contains("pairs are not scored"), "{text}");
}

#[test]
fn people_read_the_same_numbers() {
    let place = scanned("");
    place.write("gold", "k a\nk b\nl c\nl d\nl z\n");
    let text = place.onefold(["evaluate", "out", "--gold", "gold", "--worst", "1"]).run().exits(0).stdout;
    assert!(text.contains("not in the result 1") && text.contains('z'), "{text}");
    let pairs: Vec<&str> =
        text.lines().find(|line| line.trim_start().starts_with("pairs ")).unwrap().split_whitespace().collect();
    assert_eq!(pairs[1..5], ["1", "2", "3", "0.3333"], "{text}");
    assert_eq!(text.matches(" ~ ").count(), 2, "one error of each kind: {text}");
}

/// Clusters {a b c} {d} {e}. CORE: a and b have all their duplicates, c lacks d, d is alone, e has none and is alone.
#[test]
fn core_by_hand() {
    let place = scanned("");
    let evaluate = |arguments: &[&str]| place.onefold(["evaluate", "out", "--scorer", "core"]).args(arguments).run().exits(0);
    place.write("gold", "id_a,id_b\na,b\nc,d\n");
    for gold in [["--gold-column", "kind"], ["--gold", "gold"]] {
        let scores = evaluate(&[gold[0], gold[1], "--json"]).json();
        let counts = ["scored", "true_positives", "false_positives", "false_negatives", "true_negatives", "equal_sets"];
        assert_eq!(counts.map(|name| scores[name].as_u64().unwrap()), [5, 2, 1, 1, 1, 1], "{scores}");
        let close = |name: &str, value: f64| assert!((scores[name].as_f64().unwrap() - value).abs() < 1e-12, "{name}: {scores}");
        close("precision_duplicates", 2.0 / 3.0);
        close("recall_duplicates", 2.0 / 3.0);
        close("precision_non_duplicates", 0.5);
        close("recall_non_duplicates", 0.5);
        close("macro_f1", (2.0 / 3.0 + 0.5) / 2.0);
        close("accuracy", 0.2);
        assert_eq!((&scores["scorer"], &scores["documents"]["not_in_gold"]), (&json!("core"), &json!(1)));
        assert!(scores["remarks"][0].as_str().unwrap().contains("other documents of its cluster"), "{scores}");
    }
    let text = evaluate(&["--gold", "gold"]).stdout;
    assert!(text.contains("0.5833") && text.contains("macro precision") && text.contains("not punished"), "{text}");
}

/// Pairs in clusters and classes 1, in clusters 3, in classes 2, of 10.
#[test]
fn news_copy_by_hand() {
    let place = scanned("");
    let evaluate = |last: &str| place.onefold(["evaluate", "out", "--scorer", "news-copy", "--gold-column", "kind", last]).run();
    let scores = evaluate("--json").exits(0).json();
    assert!((scores["ari"].as_f64().unwrap() - (1.0 - 0.6) / (2.5 - 0.6)).abs() < 1e-12, "{scores}");
    assert_eq!((&scores["scorer"], &scores["scored"]), (&json!("news-copy"), &json!(5)), "e is a class of its own");
    let text = evaluate("--worst=0").exits(0).stdout;
    assert!(text.contains("ARI 0.2105") && text.contains("a class of its own"), "{text}");
}

#[test]
fn the_honest_scorer_is_the_default() {
    let place = scanned("");
    let evaluate = |scorer: &[&str]| place.onefold(["evaluate", "out", "--gold-column", "kind", "--json"]).args(scorer).run();
    let scores = evaluate(&[]).exits(0).json();
    assert_eq!(scores["scorer"], "honest");
    assert_eq!(scores, evaluate(&["--scorer", "honest"]).exits(0).json());
    evaluate(&["--scorer", "kind"]).exits(2).says(&["news-copy"]);
}

#[test]
fn a_document_that_was_read_from_a_stream_has_no_column() {
    let place = scanned("");
    let rows = std::fs::read(place.at("a.jsonl")).unwrap();
    place.onefold(["scan", "-", "--out", "streamed"]).input(rows).run().exits(0);
    place.onefold(["evaluate", "streamed", "--gold-column", "kind"]).run().exits(2).says(&["'-'"]);
    std::fs::remove_file(place.at("a.jsonl")).unwrap();
    place.onefold(["evaluate", "out", "--gold-column", "kind"]).run().exits(2).says(&["'a.jsonl'", "No such file"]);
}

/// F4: the raw path is in the state table so that later commands find the file.
#[test]
fn f4_a_column_of_a_file_whose_name_is_not_text() {
    let place = scanned("");
    std::fs::create_dir(place.at("in")).unwrap();
    place.write_raw(b"in/\xff.jsonl", std::fs::read(place.at("a.jsonl")).unwrap());
    place.onefold(["scan", "in", "--out", "other"]).run().exits(0);
    as_by_hand(&place.onefold(["evaluate", "other", "--gold-column", "kind", "--json"]).run().exits(0).json());
}

#[test]
fn bad_gold_is_refused_with_its_line() {
    let place = scanned("");
    for (gold, words) in [
        ("id_a,id_b\na,b\na\n", "line 3"),
        ("id_a,id_b,label\na,b,x\n", "line 2"),
        ("k a\nk b\nl a\n", "line 3"),
        ("{\"hash\":\"k\",\"ids\":[\"a\"]}\n{\"hash\":1\n", "line 2"),
        ("id_a,id_b\na,a\n", "line 2"),
        ("just prose that is no gold at all\n", "line 1"),
        ("", "empty"),
    ] {
        with_gold(&place, gold).exits(2).says(&["gold", words]);
    }
    place.onefold(["evaluate", "out", "--gold-column", "nothing"]).run().exits(2).says(&["'nothing'"]);
}
