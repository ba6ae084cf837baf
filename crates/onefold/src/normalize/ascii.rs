//! The fast path: UAX #29 words of ASCII text, byte by byte.

use super::Tokens;
use crate::shingle::hash::SLACK;

const OTHER: u8 = 0;
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const UNDERSCORE: u8 = 4;
/// Joins two letters: `:` `.` `'`.
const BETWEEN_LETTERS: u8 = 8;
/// Joins two digits: `,` `;` `.` `'`.
const BETWEEN_DIGITS: u8 = 16;
const WORD: u8 = LETTER | DIGIT | UNDERSCORE;

const CLASSES: [u8; 256] = {
    let mut classes = [OTHER; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b':' => BETWEEN_LETTERS,
            b',' | b';' => BETWEEN_DIGITS,
            b'.' | b'\'' => BETWEEN_LETTERS | BETWEEN_DIGITS,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
};

/// Adds the tokens of ASCII `text`.
pub(super) fn tokenize(text: &[u8], lowered: &mut Vec<u8>, tokens: &mut Tokens) {
    lowered.clear();
    lowered.extend_from_slice(text);
    lowered.make_ascii_lowercase();
    // Zeros end the last word, and give the hash its room.
    lowered.resize(text.len() + SLACK + 1, 0);
    tokens.make_room(text.len() + text.len() / 8);
    let class = |at: usize| CLASSES[lowered[at] as usize];
    let mut at = 0;
    while at < text.len() {
        if class(at) & WORD == 0 {
            at += 1;
            continue;
        }
        let start = at;
        let mut seen = 0;
        loop {
            while class(at) & WORD != 0 {
                seen |= class(at);
                at += 1;
            }
            if !joins(class(at - 1), class(at), class(at + 1)) {
                break;
            }
            at += 1;
        }
        if seen & (LETTER | DIGIT) != 0 {
            tokens.push(lowered, start, at - start);
        }
    }
}

/// Rules WB6, WB7, WB11 and WB12.
fn joins(before: u8, middle: u8, after: u8) -> bool {
    let letters = before & after & LETTER != 0 && middle & BETWEEN_LETTERS != 0;
    let digits = before & after & DIGIT != 0 && middle & BETWEEN_DIGITS != 0;
    letters || digits
}
