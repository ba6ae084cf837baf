//! Two texts side by side: where they first differ, an excerpt of each from there, and the words that only one has.
//!
//! Words are compared as the scan compares them: case, punctuation and spacing do not count.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use onefold::Kind;

/// Words shown before the first difference.
const BEFORE_WORDS: usize = 40;
/// Bytes shown before the first difference: 40 words can be 40 lines of base64.
const BEFORE_BYTES: usize = 500;
/// Words of each text that are compared; more than an excerpt holds, so that what was only moved down is found again.
const COMPARED: usize = 2500;

/// A part of a text with the words that the other text lacks.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Pieces in order, and whether the other text lacks them; together they are the excerpt.
    pub pieces: Vec<(String, bool)>,
    /// Characters of the text before the excerpt.
    pub before: usize,
    /// Characters of the excerpt.
    pub length: usize,
    /// Characters of the text behind it.
    pub after: usize,
}

/// Excerpts of at most `most` characters of two texts.
pub fn compare(left: &str, right: &str, most: usize) -> [Excerpt; 2] {
    let starts = beginning(left, right, most);
    let windows = [&left[starts[0]..], &right[starts[1]..]];
    let words = windows.map(|window| words(window).take(COMPARED).collect::<Vec<_>>());
    let only_here = only_here(windows, &words);
    let side = |at: usize| excerpt([left, right][at], starts[at], most, &only_here[at]);
    [side(0), side(1)]
}

/// The first characters of a text that is compared with nothing.
pub fn opening(text: &str, most: usize) -> Excerpt {
    excerpt(text, 0, most, &[])
}

/// Where the excerpts begin: at the same word, a little before the first difference; at the start if both texts fit.
fn beginning(left: &str, right: &str, most: usize) -> [usize; 2] {
    let fits = |text: &str| text.len() <= most || text.chars().nth(most).is_none();
    if fits(left) && fits(right) {
        return [0, 0];
    }
    let mut before: VecDeque<[usize; 2]> = VecDeque::from([[0, 0]]);
    for (a, b) in words(left).zip(words(right)) {
        let far = |start: &[usize; 2]| a.start - start[0] > BEFORE_BYTES || b.start - start[1] > BEFORE_BYTES;
        while before.len() > BEFORE_WORDS || before.front().is_some_and(far) {
            before.pop_front();
        }
        before.push_back([a.start, b.start]);
        if !same(&left[a], &right[b]) {
            return before[0];
        }
    }
    // One text ends where the other goes on, or they say the same: then the start is as good as any place.
    let words_end = words(left).count() == words(right).count();
    if words_end { [0, 0] } else { before[0] }
}

fn excerpt(text: &str, start: usize, most: usize, only_here: &[Range<usize>]) -> Excerpt {
    let window = &text[start..];
    let end = window.char_indices().nth(most).map_or(window.len(), |(at, _)| at);
    let mut pieces = Vec::new();
    let mut done = 0;
    for range in only_here.iter().filter(|range| range.start < end) {
        pieces.push((tidy(&window[done..range.start]), false));
        pieces.push((tidy(&window[range.start..range.end.min(end)]), true));
        done = range.end.min(end);
    }
    pieces.push((tidy(&window[done..end]), false));
    pieces.retain(|(piece, _)| !piece.is_empty());
    let count = |text: &str| text.chars().count();
    Excerpt { pieces, before: count(&text[..start]), length: count(&window[..end]), after: count(&window[end..]) }
}

/// Line ends of Windows are ordinary line ends; a lone carriage return stays and is shown.
fn tidy(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Words in a row that the other text lacks, as one range each, for either text.
fn only_here(windows: [&str; 2], words: &[Vec<Range<usize>>; 2]) -> [Vec<Range<usize>>; 2] {
    let mut numbers: HashMap<String, u64> = HashMap::new();
    let mut number = |word: &str| {
        let next = numbers.len() as u64;
        *numbers.entry(word.to_lowercase()).or_insert(next)
    };
    let [first, second] = [0, 1].map(|at| words[at].iter().map(|word| number(&windows[at][word.clone()])).collect::<Vec<u64>>());
    let mut ranges = [Vec::new(), Vec::new()];
    for change in onefold::diff(&first, &second).changes {
        let (side, run) = match change.kind {
            Kind::Equal => continue,
            Kind::Removed => (0, change.first),
            Kind::Added => (1, change.second),
        };
        ranges[side].push(words[side][run.start].start..words[side][run.end - 1].end);
    }
    ranges
}

fn same(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

/// The words of a text; where a script sets no spaces, each character is one.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = characters.find(|(_, c)| c.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        if !is_spaceless(first) {
            while let Some((at, c)) = characters.next_if(|(_, c)| c.is_alphanumeric() && !is_spaceless(*c)) {
                end = at + c.len_utf8();
            }
        }
        Some(start..end)
    })
}

/// Thai, Lao, Myanmar, Khmer, kana, Han.
fn is_spaceless(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}')
        || matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
