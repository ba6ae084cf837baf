//! From a hash back to the text that it stands for.

use super::{Recipe, Shingler, Unit};
use crate::normalize::{Tokens, Words};

/// What the chunk with a hash says, as the rules of the recipe leave it, where a text has it. Lines and spots are not looked for.
///
/// ```
/// use onefold::{Recipe, Shingler, Tokenizer, Tokens, text_of_shingle};
///
/// let (text, recipe) = ("One, two, three!", Recipe::of_words(3));
/// let (mut tokens, mut set) = (Tokens::default(), Vec::new());
/// Tokenizer::default().tokenize(text, &mut tokens);
/// Shingler::new(recipe).shingle_into(text, &tokens, recipe, &mut set);
/// assert_eq!(text_of_shingle(text, recipe, set[0]).as_deref(), Some("one two three"));
/// ```
pub fn text_of_shingle(text: &str, recipe: Recipe, hash: u64) -> Option<String> {
    let (mut tokens, mut hashes) = (Tokens::default(), Vec::new());
    let mut words = Words::new(recipe.text, recipe.filtering);
    words.cut(text, &mut tokens);
    let tokens = words.filter(&tokens);
    Shingler::new(recipe).hash_chunks(text, tokens, recipe, &mut hashes);
    let place = hashes.iter().position(|&found| found == hash)?;
    let (text, bounds, size) = (tokens.text(), tokens.bounds(), recipe.size as usize);
    match recipe.unit {
        Unit::Words => Some(text[bounds[place].start..bounds[place + size - 1].end].to_owned()),
        Unit::Chars => Some(text[bounds[place].start..].chars().take(size).collect()),
        Unit::Bytes => Some(String::from_utf8_lossy(&text.as_bytes()[place..place + size]).into_owned()),
        Unit::Lines | Unit::Spots => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::TextRules;
    use crate::shingle::{Hash, set_of};
    use std::collections::BTreeSet;

    /// All chunks of a text, found by their hashes.
    fn texts(text: &str, recipe: Recipe) -> BTreeSet<String> {
        set_of(text, recipe).into_iter().filter_map(|hash| text_of_shingle(text, recipe, hash)).collect()
    }

    #[test]
    fn every_chunk_is_found_by_its_hash() {
        for hash in [Hash::Fast, Hash::Rabin64, Hash::Md5] {
            let recipe = |unit, size| Recipe { text: TextRules::Letters, unit, size, hash, ..Recipe::of_words(4) };
            let text = "Ä rose, is a\tROSE";
            assert_eq!(texts(text, recipe(Unit::Words, 3)), ["rose is a", "is a rose", "ä rose is"].map(String::from).into());
            assert_eq!(texts(text, recipe(Unit::Chars, 6)), ["ä rose", "rose i", "is a r", "a rose"].map(String::from).into());
            assert_eq!(texts("abca", recipe(Unit::Bytes, 2)), ["ab", "bc", "ca"].map(String::from).into());
            assert!(texts("one\ntwo", recipe(Unit::Lines, 1)).is_empty());
            assert_eq!(text_of_shingle(text, recipe(Unit::Words, 3), 7), None);
            assert_eq!(text_of_shingle("", recipe(Unit::Words, 3), 7), None);
        }
    }
}
