//! The form of messages: a stable code, one line, nothing that steers a terminal.

use crate::place::{Place, text};
use crate::program::Ran;

const EVIL: &str = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}";

#[track_caller]
fn harmless(ran: &Ran) {
    let bad = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    let talk = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!talk.chars().any(bad), "{talk:?}");
}

fn place() -> Place {
    let place = Place::with_documents();
    place.write("rows.jsonl", crate::place::row("a", &text("a", 40)));
    place.onefold(["scan", "rows.jsonl", "--out", "result", "--quiet"]).run().exits(0);
    place
}

#[test]
fn h10_settings_and_paths_are_escaped() {
    let place = place();
    for words in [
        ["scan", "in", "--out", "out", "--threshold", EVIL],
        ["scan", "in", "--out", "out", "--keep", EVIL],
        ["scan", EVIL, "--out", "out", "--threads", "1"],
        ["scan", "in", "--out", "out", "--protect", &format!("{EVIL}[")],
    ] {
        harmless(&place.onefold(words).run().exits(2).says(&["\\u{1b}]0;owned"]));
    }
}

#[test]
fn h10_the_name_of_a_configuration_is_escaped() {
    let place = place();
    harmless(&place.onefold(["config", "--config", EVIL]).run().exits(2).says(&["owned"]));
}

#[test]
fn h10_the_content_of_a_configuration_is_escaped() {
    let place = place();
    place.write("evil.toml", format!("\"{EVIL}\" = 1\n"));
    harmless(&place.onefold(["config", "--config", "evil.toml"]).run().exits(2));
}

#[test]
fn h10_the_name_of_a_gold_file_is_escaped() {
    let place = place();
    harmless(&place.onefold(["evaluate", "result", "--gold", EVIL]).run().exits(2).says(&["owned"]));
}

#[test]
fn h10_the_content_of_a_gold_file_is_escaped() {
    let place = place();
    place.write("gold", format!("{EVIL}\n"));
    harmless(&place.onefold(["evaluate", "result", "--gold", "gold"]).run().exits(2).says(&["owned"]));
}

#[test]
fn h10_words_that_are_no_command_are_escaped() {
    let place = place();
    for words in [
        vec![EVIL],
        vec!["scan", "in", "--out", "out", "--method", EVIL],
        vec!["scan", "in", "--out", "out", &format!("--{EVIL}")],
    ] {
        harmless(&place.onefold(words).run().exits(2));
    }
}

/// A log file is no terminal.
#[test]
fn usage_errors_have_no_colours_where_nobody_watches() {
    let place = place();
    harmless(&place.onefold(["scan"]).run().exits(2));
    harmless(&place.onefold(["nonsense"]).run().exits(2));
}

#[test]
fn usage_errors_have_a_stable_code() {
    let place = place();
    place.onefold(["scan"]).run().exits(2).says(&["--out"]);
    place.onefold(["scan", "in", "--out", "out", "--nonsense"]).run().exits(2).says(&["--nonsense"]);
}

#[test]
fn an_error_is_one_line_and_a_hint() {
    let place = place();
    place.write("bad.toml", "threshold = 0.8\nnonsense = 1\n");
    place.write("bad.csv", "id_a,id_b\na\n");
    for words in [
        vec!["scan", "missing", "--out", "out"],
        vec!["scan", "in", "--out", "result"],
        vec!["scan", "in", "--out", "out", "--config", "bad.toml"],
        vec!["evaluate", "result", "--gold", "bad.csv"],
    ] {
        let ran = place.onefold(&words).run().exits(2).says(&[]);
        let lines: Vec<&str> = ran.stderr.lines().collect();
        assert!(lines.len() == 1 || (lines.len() == 2 && lines[1].starts_with("hint: ")), "{words:?}: {}", ran.stderr);
    }
}

/// A gold file that is not there: the system's word for it belongs to the message.
#[test]
fn the_cause_is_told() {
    let place = place();
    place.onefold(["evaluate", "result", "--gold", "nowhere"]).run().exits(2).says(&["nowhere", "No such file"]);
    place.onefold(["config", "--config", "nowhere"]).run().exits(2).says(&["nowhere", "No such file"]);
}

/// H10: a cell that a spreadsheet would run.
#[test]
fn h10_csv_cells_are_no_formulas() {
    let place = Place::new();
    let ids = ["=cmd|'/c calc'!A1", "+1", "@SUM(A1)", "-2", "\ttab"];
    place.write("a.jsonl", ids.iter().map(|id| crate::place::row(id, &text("a", 40))).collect::<String>());
    place.scan("a.jsonl --format csv").exits(0);
    let table = std::fs::read_to_string(place.at("out/documents.csv")).unwrap();
    let risky = |cell: &str| cell.trim_start_matches('"').starts_with(['=', '+', '@', '-', '\t']);
    assert!(!table.lines().skip(1).any(risky), "{table}");
    assert_eq!(place.ids(), crate::place::set(ids), "and they read back as they were");
}
