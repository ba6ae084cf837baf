//! Tokens by definition: fold the whole text, then walk it grapheme by grapheme. No fast path, no pieces.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

const WITHOUT_SPACES: [Script; 7] =
    [Script::Han, Script::Hiragana, Script::Katakana, Script::Thai, Script::Lao, Script::Khmer, Script::Myanmar];

pub fn tokens(text: &str) -> Vec<String> {
    let folded = fold(text);
    let mut tokens = Vec::new();
    let mut spaced = String::new();
    for grapheme in folded.graphemes(true) {
        if grapheme.chars().next().is_some_and(stands_alone) {
            push_words(&spaced, &mut tokens);
            spaced.clear();
            tokens.push(grapheme.to_string());
        } else {
            spaced.push_str(grapheme);
        }
    }
    push_words(&spaced, &mut tokens);
    tokens
}

/// NFKC, case folding, NFKC, until nothing changes: a normal form has to be its own normal form.
fn fold(text: &str) -> String {
    let mut folded: String = text.nfkc().default_case_fold().nfkc().collect();
    loop {
        let again: String = folded.nfkc().default_case_fold().nfkc().collect();
        if again == folded {
            return folded;
        }
        folded = again;
    }
}

fn push_words(text: &str, tokens: &mut Vec<String>) {
    for piece in text.split_whitespace() {
        let words = piece.split_word_bounds().filter(|word| word.chars().any(char::is_alphanumeric));
        tokens.extend(words.map(String::from));
    }
}

/// Of such a script, or shared by such scripts alone: U+02BC, an apostrophe of Latin, Thai and others, is inside words what it is in Latin.
fn stands_alone(c: char) -> bool {
    let scripts = c.script_extension();
    let shared = !scripts.is_common() && !scripts.is_inherited() && scripts.iter().all(|script| WITHOUT_SPACES.contains(&script));
    c.is_alphanumeric() && (WITHOUT_SPACES.contains(&c.script()) || shared)
}
