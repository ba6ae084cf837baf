//! Words between white space, as published works cut them: in small letters, with or without their punctuation (Y1, Y2, N3).

use super::Tokens;
use crate::shingle::hash::SLACK;

/// Replaces `tokens` by the words of `text`; `keep` tells which characters stay.
pub(super) fn tokenize(text: &str, keep: impl Fn(char) -> bool, tokens: &mut Tokens) {
    tokens.clear();
    let mut word = String::new();
    for piece in text.split_whitespace() {
        word.clear();
        word.extend(piece.chars().flat_map(char::to_lowercase).filter(|&c| keep(c)));
        let len = word.len();
        if len > 0 {
            // Room for those that read in blocks.
            word.extend([' '; SLACK]);
            tokens.push(word.as_bytes(), 0, len);
        }
    }
}
