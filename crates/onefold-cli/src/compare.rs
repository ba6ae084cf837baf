//! `onefold compare`: two texts side by side, in numbers and in words.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use onefold::{Comparison, Recipe, SavedResult, TextPlace, printable};
use serde_json::json;

use crate::args::CompareArgs;
use crate::exit::{Done, Usage};
use crate::words::Painter;
use crate::{output, settings};

/// Passages that are shown.
const SHOWN_PASSAGES: usize = 5;
/// Words of a passage that are shown.
const SHOWN_WORDS: usize = 12;

/// Compares and prints.
pub fn run(args: &CompareArgs) -> Result<Done> {
    let result = args.result.as_deref().map(SavedResult::open).transpose()?;
    let recipe = recipe(args, result.as_ref())?;
    let [first, second] = texts(args, result.as_ref())?;
    let comparison = Comparison::new(&first, &second, recipe);
    let text = if args.json { json(args, &comparison, recipe.size) } else { text(args, &comparison, recipe) };
    output::print(&text)?;
    Ok(Done::Complete)
}

/// What texts are compared by: as in the result, or by default; the flag says how wide shingles are.
fn recipe(args: &CompareArgs, result: Option<&SavedResult>) -> Result<Recipe> {
    let mut plan = match result {
        Some(result) => result.manifest.plan.clone(),
        None => settings::resolve(&crate::args::PlanArgs::default())?,
    };
    plan.ngram_size = args.ngram_size.unwrap_or(plan.ngram_size);
    plan.validate()?;
    Ok(plan.recipe())
}

fn texts(args: &CompareArgs, result: Option<&SavedResult>) -> Result<[String; 2]> {
    if let Some(result) = result {
        return texts_of_result(result, [&args.first, &args.second]);
    }
    let read = |name: &String| onefold::read_file(Path::new(name)).map_err(|e| Usage(format!("cannot read '{name}': {e}")));
    Ok([read(&args.first)?, read(&args.second)?])
}

/// The texts of two documents of a result, read again from its inputs.
pub fn texts_of_result(result: &SavedResult, ids: [&str; 2]) -> Result<[String; 2]> {
    let (state, reference) = (result.state()?, result.reference()?);
    let rows: HashMap<&str, _> = state.iter().chain(&reference).map(|row| (row.text("id"), row)).collect();
    let place = |id: &str| {
        rows.get(id).map(|row| TextPlace::from_state(row)).ok_or_else(|| Usage(format!("no document '{id}' in the result")))
    };
    let places = [place(ids[0])?, place(ids[1])?];
    let texts = onefold::read_texts(&places, &result.manifest.plan.columns);
    let at_hand =
        |(id, text): (&str, Option<String>)| text.ok_or_else(|| Usage(format!("the text of '{id}' is not there any more")));
    let mut texts = ids.into_iter().zip(texts).map(at_hand);
    match (texts.next(), texts.next()) {
        (Some(first), Some(second)) => Ok([first?, second?]),
        _ => Err(Usage("two documents are needed".into()).into()),
    }
}

fn json(args: &CompareArgs, found: &Comparison, words: u32) -> String {
    let passages: Vec<_> =
        found.passages.iter().map(|p| json!({"first": p.first, "second": p.second, "words": p.length})).collect();
    let value = json!({
        "first": args.first,
        "second": args.second,
        "ngram_size": words,
        "exact": found.is_exact(),
        "resemblance": found.resemblance().map(|s| s.as_f64()),
        "containment_first": found.containment(0),
        "containment_second": found.containment(1),
        "edit_distance": found.edit_distance,
        "edit_share": found.edit_share(),
        "simhash_distance": found.simhash_distance,
        "words": [found.first.len(), found.second.len()],
        "shingles": found.shingles,
        "common_shingles": found.common,
        "passages": passages,
    });
    format!("{value:#}\n")
}

fn text(args: &CompareArgs, found: &Comparison, recipe: Recipe) -> String {
    let mut text = numbers(args, found, &recipe.chunk());
    if let Some(least) = recipe.filtering.min_idf {
        let _ = writeln!(text, "\n  all words count here, also those that --min-idf {least} left out of the result");
    }
    let longest: Vec<_> = found.passages.iter().take(SHOWN_PASSAGES).collect();
    if !longest.is_empty() && !found.is_exact() {
        text.push_str("\n  longest shared passages\n");
    }
    for passage in longest.iter().filter(|_| !found.is_exact()) {
        let shown = &found.first[passage.first..passage.first + passage.length.min(SHOWN_WORDS)];
        let more = if passage.length > SHOWN_WORDS { " …" } else { "" };
        let _ = writeln!(text, "    {:>6} words  {}{more}", passage.length, printable(&shown.join(" ")));
    }
    if !found.is_exact() {
        text.push_str("\n  differences\n\n");
        text.push_str(&Painter::new(args.color).paint(found));
    }
    text
}

fn numbers(args: &CompareArgs, found: &Comparison, chunk: &str) -> String {
    let mut text = String::new();
    let share = |value: Option<f64>| value.map_or("–".to_string(), |v| format!("{v:.4}"));
    for (side, (name, all)) in [("first", &args.first), ("second", &args.second)].into_iter().enumerate() {
        let count = [found.first.len(), found.second.len()][side];
        let _ = writeln!(text, "  {name:<17}{}  ({count} words, {} shingles of {chunk})", printable(all), found.shingles[side]);
    }
    let union = found.resemblance().map_or(0, |s| s.union);
    let _ = writeln!(
        text,
        "\n  resemblance      {}  ({} of {union} shingles are common)",
        share(found.resemblance().map(|s| s.as_f64())),
        found.common
    );
    let (first, second) = (share(found.containment(0)), share(found.containment(1)));
    let _ = writeln!(text, "  containment      {first} of the first lies in the second, {second} the other way");
    let _ = writeln!(text, "  edit distance    {} words, {:.1} % of the longer", found.edit_distance, 100.0 * found.edit_share());
    if let Some(bits) = found.simhash_distance {
        let _ = writeln!(text, "  SimHash          {bits} of 64 bits differ");
    }
    if found.is_exact() {
        text.push_str("\n  the words are the same, in the same order\n");
    }
    text
}
