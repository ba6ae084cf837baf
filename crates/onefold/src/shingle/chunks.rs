//! Chunks other than rolling words: appended as hashes, in the order of the text.

use std::collections::HashMap;

use super::Lines;
use super::family::Hasher;
use super::hash::{self, SLACK};
use crate::normalize::Tokens;

/// Runs of `size` words, by their text with single spaces between.
pub(super) fn words(tokens: &Tokens, size: usize, hasher: &Hasher, hashes: &mut Vec<u64>) {
    let bounds = tokens.bounds();
    for run in bounds.windows(size) {
        let (start, end) = (run[0].start, run[size - 1].end);
        hashes.push(hasher.hash(&tokens.padded()[start..], end - start));
    }
}

/// `size` characters from the beginning of each word that has so many after it.
pub(super) fn chars(tokens: &Tokens, size: usize, hasher: &Hasher, hashes: &mut Vec<u64>) {
    let text = tokens.text();
    // Where a chunk from each character ends.
    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]).skip(size);
    let (mut at, mut passed) = (0, 0);
    hashes.reserve(tokens.hashes().len());
    for word in tokens.bounds() {
        let between = text[at..word.start].chars().count() - passed;
        let Some(end) = ends.nth(between) else { break };
        // Its first character is passed as well.
        (at, passed) = (word.start, 1);
        hashes.push(hasher.hash(&tokens.padded()[word.start..], end - word.start));
    }
}

/// `size` bytes from each byte.
pub(super) fn bytes(tokens: &Tokens, size: usize, hasher: &Hasher, hashes: &mut Vec<u64>) {
    let text = tokens.text().as_bytes();
    hashes.reserve(text.len());
    if !hasher.slide(text, size, |hash| hashes.push(hash)) {
        let starts = (text.len() + 1).saturating_sub(size);
        hashes.extend((0..starts).map(|start| hasher.hash(&tokens.padded()[start..], size)));
    }
}

/// Runs of lines that have words, by their words.
pub(super) fn lines(text: &str, size: usize, buffers: &mut Lines, hasher: &Hasher, hashes: &mut Vec<u64>) {
    let Lines { words, tokens } = buffers;
    let mut of_lines = Vec::new();
    for line in text.lines() {
        words.cut(line, tokens);
        let kept = words.filter(tokens);
        if !kept.hashes().is_empty() {
            of_lines.push(hasher.hash(kept.padded(), kept.text().len()));
        }
    }
    hash::shingles(&of_lines, size, |run| hashes.push(run));
}

/// The words at which spots stand: those of the published ports (§7.5).
const ANTECEDENTS: [&str; 26] = [
    "that", "in", "the", "be", "is", "are", "was", "will", "would", "shall", "should", "can", "could", "has", "have", "had",
    "do", "did", "does", "done", "un", "une", "le", "la", "el", "al",
];

/// After each antecedent the next `size` words that are none, together with it; the nth occurrence of a spot is a chunk of its own.
pub(super) fn spots(tokens: &Tokens, size: usize, hasher: &Hasher, hashes: &mut Vec<u64>) {
    let text = tokens.text();
    let words: Vec<&str> = tokens.bounds().into_iter().map(|word| &text[word]).collect();
    let mut seen: HashMap<u64, u64> = HashMap::new();
    let mut spot = Vec::new();
    for (at, antecedent) in words.iter().enumerate().filter(|(_, word)| ANTECEDENTS.contains(word)) {
        spot.clear();
        spot.extend_from_slice(antecedent.as_bytes());
        let after = words[at + 1..].iter().filter(|word| !ANTECEDENTS.contains(word)).take(size);
        let mut length = 0;
        for word in after {
            spot.push(b' ');
            spot.extend_from_slice(word.as_bytes());
            length += 1;
        }
        if length == size {
            let bytes = spot.len();
            spot.resize(bytes + SLACK, 0);
            let hash = hasher.hash(&spot, bytes);
            let count = seen.entry(hash).or_default();
            hashes.push(if *count == 0 { hash } else { hash::finish(hash ^ hash::mix(*count)) });
            *count += 1;
        }
    }
}
