//! Every `--*-column` flag, and fields inside fields.

use crate::place::{Place, set, text};

fn rows(place: &Place, template: impl Fn(&str, usize) -> String) {
    let texts = [("a", 40), ("a", 41), ("c", 40)];
    let rows: String = texts.iter().enumerate().map(|(at, (name, words))| template(&text(name, *words), at) + "\n").collect();
    place.write("a.jsonl", rows);
}

#[test]
fn every_column_can_be_named() {
    let place = Place::new();
    rows(&place, |text, n| {
        format!(
            "{{\"t\":\"{text}\",\"k\":\"k{n}\",\"u\":\"http://x/{n}\",\"d\":\"2020-01-0{}\",\"q\":{n}.5,\"s\":\"src{}\"}}",
            n + 1,
            n % 2
        )
    });
    place
        .scan("a.jsonl --text-column t --id-column k --url-column u --time-column d --score-column q --source-column s")
        .exits(0);
    assert_eq!(place.ids(), set(["k0", "k1", "k2"]));
    let (state, documents) = (place.state(), place.documents());
    assert_eq!(state["k1"].text("url"), "http://x/1");
    assert_eq!(state["k1"].number("time"), Some(1_577_923_200.0));
    assert_eq!(state["k1"].number("score"), Some(1.5));
    assert_eq!(["k0", "k1", "k2"].map(|id| documents[id].text("source")), ["src0", "src1", "src0"]);
    assert_eq!(place.removed(), set(["k0"]), "the higher score is kept");
}

#[test]
fn without_flags_the_usual_names_are_read_and_others_are_not() {
    let place = Place::new();
    rows(&place, |text, n| {
        format!(
            "{{\"text\":\"{text}\",\"id\":{n},\"url\":\"u{n}\",\"time\":{},\"score\":\"{n}\",\"source\":\"s\",\"t\":1,\"k\":2}}",
            1_600_000_000 + n
        )
    });
    place.scan("a.jsonl").exits(0);
    let state = place.state();
    assert_eq!(
        (state["2"].text("url"), state["2"].number("time"), state["2"].number("score")),
        ("u2", Some(1_600_000_002.0), Some(2.0))
    );
    assert!(place.documents().values().all(|row| row.text("source") == "s"));
}

#[test]
fn a_dot_reaches_inside() {
    let place = Place::new();
    rows(&place, |text, n| {
        format!("{{\"meta\":{{\"url\":\"u{n}\",\"deep\":{{\"id\":\"i{n}\"}},\"score\":{n}}},\"body\":{{\"text\":\"{text}\"}}}}")
    });
    place
        .scan("a.jsonl --text-column body.text --id-column meta.deep.id --url-column meta.url --score-column meta.score")
        .exits(0);
    assert_eq!(place.ids(), set(["i0", "i1", "i2"]));
    assert_eq!(place.state()["i2"].text("url"), "u2");
    assert_eq!(place.removed(), set(["i0"]));
}

#[test]
fn a_name_with_a_dot_in_it_is_found_too() {
    let place = Place::new();
    rows(&place, |text, n| format!("{{\"a.b\":\"{text}\",\"id\":\"i{n}\"}}"));
    place.scan("a.jsonl --text-column a.b").exits(0);
    assert_eq!(place.documents().len(), 3);
}

#[test]
fn a_column_that_no_row_has_says_so() {
    let place = Place::new();
    rows(&place, |text, _| format!("{{\"body\":\"{text}\"}}"));
    place.scan("a.jsonl").exits(4).says(&["3 seen", "--text-column"]);
}

#[test]
fn times_decide_when_asked_to() {
    let place = Place::new();
    rows(&place, |text, n| format!("{{\"text\":\"{text}\",\"id\":\"i{n}\",\"when\":\"20{}0-05-01T10:00:00Z\"}}", 2 - n));
    for (rule, lost) in [("newest", "i1"), ("oldest", "i0")] {
        place
            .onefold([
                "scan",
                "a.jsonl",
                "--out",
                "out",
                "--overwrite",
                "--time-column",
                "when",
                "--keep",
                &format!("time {rule}"),
            ])
            .run()
            .exits(0);
        assert_eq!(place.removed(), set([lost]), "{rule}");
    }
}

#[test]
fn a_protected_source_loses_nothing() {
    let place = Place::new();
    rows(&place, |text, n| format!("{{\"text\":\"{text}\",\"id\":\"i{n}\",\"source\":\"s{n}\"}}"));
    place.scan("a.jsonl").exits(0);
    let lost = place.removed();
    assert_eq!(lost, set(["i0"]), "the longer one is kept");
    place.scan("a.jsonl --overwrite --protect s0").exits(0);
    assert_eq!(place.removed(), set(["i1"]));
    place.scan("a.jsonl --overwrite --protect i*").exits(0);
    assert!(place.removed().is_empty());
}
