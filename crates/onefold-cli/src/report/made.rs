//! What was left out, and how the result came to be.

use onefold::Stage;
use serde_json::Value;

use super::skips::{Group, Key};
use super::words::{counted, duration, named, plain, shortened};
use super::{EXCERPT, Facts, NAME, Report, SHOWN_CLUSTERS, SHOWN_MEMBERS, SHOWN_ROWS};
use crate::html::plot::grouped;
use crate::html::{Align, Html, Table, el};

/// Words of the command that are shown; a shell can expand `*` to thousands.
const SHOWN_WORDS: usize = 60;

/// The section on inputs that were left out or remarked on.
pub fn skipped(report: &Report) -> Html {
    let skips = &report.totals.skips;
    let mut body = Html::empty();
    let kinds = [("skipped", "Inputs that became no document"), ("flagged", "Documents taken with a remark")];
    for (kind, caption) in kinds {
        if skips.of_kind(kind).next().is_some() {
            body.push(reasons(caption, skips.of_kind(kind)));
        }
    }
    if body.is_empty() {
        return el("p").with("Nothing was skipped, and no document has a remark.").into();
    }
    let list = el("p").class("note").with("At most three examples of each; all are listed in ");
    body.and(list.with(el("code").with("skipped.jsonl")).with("."))
}

fn reasons<'a>(caption: &str, groups: impl Iterator<Item = (&'a Key, &'a Group)>) -> Html {
    let mut table = Table::new(caption)
        .column("reason", Align::Text)
        .column("stage", Align::Text)
        .column("count", Align::Number)
        .column("examples", Align::Text);
    for ((_, reason, stage), group) in groups {
        let example = |(input, detail): &(String, String)| {
            let item = el("li").with(named(input));
            if detail.is_empty() { item } else { item.with(format!(": {}", shortened(detail, NAME))) }
        };
        let examples = el("ul").class("examples").with(group.examples.iter().map(example).collect::<Html>());
        table.row([named(&plain(reason)), named(stage), grouped(group.count).into(), examples.into()]);
    }
    table.render()
}

/// The section on plan, command and limits.
pub fn section(facts: &Facts) -> Html {
    let words = facts.command.iter().take(SHOWN_WORDS).map(|word| shell_word(&shortened(word, NAME)));
    let mut command = words.collect::<Vec<_>>().join(" ");
    if facts.command.len() > SHOWN_WORDS {
        command += &format!(" … and {}", counted((facts.command.len() - SHOWN_WORDS) as u64, "more word", "more words"));
    }
    let mut body = Html::empty();
    if !command.is_empty() {
        body.push(Html::from(el("h3").with("Command")).and(el("p").with(el("code").with(command))));
    }
    body.push(el("h3").with("Plan"));
    body.push(plan(facts));
    body.push(timings(facts));
    body.and(el("h3").with("What this page leaves out")).and(limits(facts))
}

fn plan(facts: &Facts) -> Html {
    let mut table =
        Table::new("Everything that could change the answer").column("setting", Align::Text).column("value", Align::Text);
    let mut settings = Vec::new();
    flatten("", &serde_json::to_value(&facts.plan).unwrap_or_default(), &mut settings);
    for (key, value) in settings {
        table.row([key.into(), el("code").with(shortened(&value, 4 * NAME)).into()]);
    }
    let digest =
        el("p").class("note").with("Results are comparable where the plan has the same digest: ").with(named(&facts.plan_digest));
    table.render().and(digest)
}

/// Nested settings by dotted names.
fn flatten(prefix: &str, value: &Value, settings: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                flatten(&key, value, settings);
            }
        }
        Value::String(text) => settings.push((prefix.into(), text.clone())),
        Value::Array(items) if items.is_empty() => settings.push((prefix.into(), "none".into())),
        other => settings.push((prefix.into(), other.to_string())),
    }
}

fn timings(facts: &Facts) -> Html {
    if facts.timings.is_empty() {
        return Html::empty();
    }
    let mut table = Table::new("Time by stage").column("stage", Align::Text).column("time", Align::Number);
    let mut timings: Vec<&(String, f64)> = facts.timings.iter().collect();
    timings.sort_by_key(|(stage, _)| Stage::ALL.iter().position(|known| known.name() == stage));
    for (stage, seconds) in timings {
        table.row([named(stage), duration(*seconds).into()]);
    }
    el("details").class("more").with(el("summary").with("Time by stage")).with(table.render()).into()
}

fn limits(facts: &Facts) -> Html {
    let items = [
        format!("Tables show the {SHOWN_ROWS} names that lose most; the others are summed up."),
        format!(
            "Of all clusters, the {SHOWN_CLUSTERS} most doubtful and the {SHOWN_CLUSTERS} largest are shown, with at most \
             {SHOWN_MEMBERS} removable documents each."
        ),
        format!(
            "Texts are cut at {} characters around the first difference, and read again from the inputs: if these have changed \
             since, the excerpts show the change.",
            grouped(EXCERPT as u64)
        ),
        format!(
            "Long names are cut in the middle (…). Characters that cannot be seen are shown by name, as in {}.",
            "␀ or ⟨U+202E⟩"
        ),
    ];
    let list = el("ul").with(items.into_iter().map(|item| el("li").with(item)).collect::<Html>());
    let all = el("p")
        .with("Every document has a row in ")
        .with(el("code").with(named(&facts.documents_file)))
        .with(" beside this page.");
    Html::from(list).and(all)
}

/// A word as a shell reads it back.
fn shell_word(word: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(bare) { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_read_back() {
        assert_eq!(["a b", "it's", "--out=x", ""].map(shell_word), ["'a b'", "'it'\\''s'", "--out=x", "''"]);
    }

    #[test]
    fn every_setting_of_the_plan_is_listed() {
        let mut settings = Vec::new();
        flatten("", &serde_json::to_value(onefold::Plan::default()).unwrap(), &mut settings);
        for (key, value) in [("threshold", "0.8"), ("columns.text", "text"), ("method.name", "exact"), ("protect", "none")] {
            assert!(settings.contains(&(key.into(), value.into())), "{key}");
        }
    }
}
