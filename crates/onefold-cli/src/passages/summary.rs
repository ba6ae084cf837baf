//! What documents share, in figures: what people read, and the same as JSON.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use onefold::{LeftOut, printable};
use serde::Serialize;

use super::Found;
use super::quotes::Quotes;
use crate::numbers::{duration, grouped, percent};

/// Words of a repeated passage that are written.
const LONGEST_TEXT: usize = 50;
/// Words of it that people see.
const SHOWN_WORDS: usize = 12;

/// The figures.
#[derive(Serialize)]
pub struct Summary<'a> {
    onefold: &'static str,
    result: Option<String>,
    /// The fewest words of a passage.
    least_words: u32,
    max_places: u32,
    documents: u64,
    skipped: u64,
    words: u64,
    shared_words: u64,
    pairs: u64,
    passages: u64,
    left_out: LeftOut,
    repeated: Vec<Repeated<'a>>,
    #[serde(skip)]
    seconds: f64,
}

/// A passage of several documents.
#[derive(Serialize)]
pub struct Repeated<'a> {
    text: String,
    words: u32,
    documents: u32,
    places: u32,
    paired: bool,
    examples: Vec<Example<'a>>,
}

#[derive(Serialize)]
struct Example<'a> {
    id: &'a str,
    word: u32,
}

/// The first of the repeated passages, with their words.
pub fn repeated(found: &Found, most: usize) -> Vec<Repeated<'_>> {
    let mut quotes = Quotes::new(&found.documents);
    let example = |place: &onefold::Place| Example {
        id: found.documents[place.document as usize].id.as_deref().unwrap_or_default(),
        word: place.word,
    };
    let mut row = |passage: &onefold::RepeatedPassage| {
        let quote =
            |place: &onefold::Place| quotes.quote(place.document, place.word as usize, LONGEST_TEXT.min(passage.words as usize));
        Repeated {
            text: passage.examples.first().map(quote).unwrap_or_default(),
            words: passage.words,
            documents: passage.documents,
            places: passage.places,
            paired: passage.paired,
            examples: passage.examples.iter().map(example).collect(),
        }
    };
    found.reuse.repeated.iter().take(most).map(&mut row).collect()
}

impl<'a> Summary<'a> {
    /// The figures of what was found, with the first of the repeated passages.
    pub fn new(found: &'a Found, folder: Option<&Path>, seconds: f64) -> Self {
        let reuse = &found.reuse;
        Summary {
            onefold: env!("CARGO_PKG_VERSION"),
            result: folder.map(|folder| folder.display().to_string()),
            least_words: found.settings.words,
            max_places: found.settings.max_places,
            documents: reuse.documents,
            skipped: found.skipped,
            words: reuse.words,
            shared_words: reuse.shared_words,
            pairs: reuse.pairs,
            passages: reuse.passages.len() as u64,
            left_out: reuse.left_out,
            repeated: repeated(found, found.settings.top),
            seconds,
        }
    }

    /// For programs.
    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, number: u64, more: &str| {
            let _ = writeln!(text, "{}", format!("  {name:<18}{:>13}  {more}", grouped(number)).trim_end());
        };
        line("documents", self.documents, &format!("in {}", duration(self.seconds)));
        line("words", self.words, "");
        let share = percent(self.shared_words, self.words);
        line("  shared", self.shared_words, &format!("{share} lie in a passage of {} words that another has", self.least_words));
        line("pairs", self.pairs, "of documents that share a passage");
        line("passages", self.passages, "");
        if self.left_out.runs > 0 {
            let LeftOut { runs, places } = self.left_out;
            let (least, most, places) = (self.least_words, grouped(self.max_places.into()), grouped(places));
            line(
                "left out",
                runs,
                &format!("runs of {least} words in more than {most} places each, {places} in all: only listed as repeated"),
            );
        }
        if self.skipped > 0 {
            line("skipped", self.skipped, "");
        }
        text.push_str(&self.most_repeated());
        match &self.result {
            Some(folder) => _ = writeln!(text, "\n  result  {}", printable(folder)),
            None => text.push_str("\n  next    --out DIR writes all passages with their positions\n"),
        }
        text
    }

    fn most_repeated(&self) -> String {
        if self.repeated.is_empty() {
            return String::new();
        }
        let mut text = format!("\n  {:>9}{:>9}{:>9}  repeated passage\n", "documents", "places", "words");
        for passage in &self.repeated {
            let words: Vec<&str> = passage.text.split(' ').take(SHOWN_WORDS + 1).collect();
            let more = if words.len() > SHOWN_WORDS { " …" } else { "" };
            let shown = printable(&words[..words.len().min(SHOWN_WORDS)].join(" "));
            let [documents, places, words] = [passage.documents, passage.places, passage.words].map(|n| grouped(n.into()));
            let _ = writeln!(text, "  {documents:>9}{places:>9}{words:>9}  {shown}{more}");
        }
        text
    }
}
