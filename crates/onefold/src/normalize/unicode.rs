//! The definition: NFKC, case folding, NFKC again (folding may undo it), then words or grapheme clusters.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;
use unicode_script::{Script, ScriptExtension, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

use super::Tokens;
use crate::shingle::hash::SLACK;

/// Buffers kept from document to document.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    text: String,
    padded: Vec<u8>,
}

const WITHOUT_SPACES: [Script; 7] =
    [Script::Han, Script::Hiragana, Script::Katakana, Script::Thai, Script::Lao, Script::Khmer, Script::Myanmar];

/// Adds the tokens of `text`.
pub(super) fn tokenize(text: &str, buffers: &mut Buffers, tokens: &mut Tokens) {
    let folded = fold(text, std::mem::take(&mut buffers.text));
    let mut words_from = 0;
    for (at, grapheme) in folded.grapheme_indices(true) {
        if grapheme.chars().next().is_some_and(stands_alone) {
            push_words(&folded[words_from..at], buffers, tokens);
            push(grapheme, buffers, tokens);
            words_from = at + grapheme.len();
        }
    }
    push_words(&folded[words_from..], buffers, tokens);
    buffers.text = folded;
}

/// NFKC, case folding, NFKC. Folding a Greek iota that stands below another letter can make room for one more step.
pub(super) fn fold(text: &str, mut buffer: String) -> String {
    buffer.clear();
    buffer.extend(text.nfkc().default_case_fold().nfkc());
    while buffer.chars().any(is_greek) {
        let again: String = buffer.chars().default_case_fold().nfkc().collect();
        if again == buffer {
            break;
        }
        buffer = again;
    }
    buffer
}

fn is_greek(c: char) -> bool {
    matches!(c, '\u{345}' | '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

fn push_words(text: &str, buffers: &mut Buffers, tokens: &mut Tokens) {
    // A mark after a space makes a "word" with the space in it by UAX #29; no token of ours has white space.
    for word in text.split_whitespace().flat_map(str::unicode_words) {
        push(word, buffers, tokens);
    }
}

fn push(token: &str, buffers: &mut Buffers, tokens: &mut Tokens) {
    buffers.padded.clear();
    buffers.padded.extend_from_slice(token.as_bytes());
    buffers.padded.resize(token.len() + SLACK, 0);
    tokens.push(&buffers.padded, 0, token.len());
}

/// Letters and digits of scripts that put no spaces between words.
pub(super) fn stands_alone(c: char) -> bool {
    // No such script begins below Thai. It spares European text the look-up, and keeps U+02BC, an apostrophe that Thai uses among
    // many others, inside words.
    c >= '\u{e00}' && c.is_alphanumeric() && in_script_without_spaces(c.script_extension())
}

fn in_script_without_spaces(extension: ScriptExtension) -> bool {
    let particular = !extension.is_common() && !extension.is_inherited();
    particular && WITHOUT_SPACES.iter().any(|&script| extension.contains_script(script))
}
