//! Words that are left out, or replaced, before documents are compared (W3): numbers, stop words, endings.
//!
//! What is exact is decided before: filters can make documents near with similarity 1, never exact.

use std::collections::HashSet;

use frostem::Stemmer;
use serde::{Deserialize, Serialize};

use super::Tokens;
use crate::error::{Error, Result};
use crate::shingle::hash::SLACK;

/// What becomes of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    /// They stay.
    Keep,
    /// They are left out.
    Drop,
    /// They all look the same.
    Mask,
}

/// A language by its two letters.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Language([u8; 2]);

impl Language {
    /// The two letters.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

impl std::str::FromStr for Language {
    type Err = Error;

    fn from_str(typed: &str) -> Result<Self> {
        let code: Option<[u8; 2]> = typed.to_ascii_lowercase().as_bytes().try_into().ok();
        let letters = code.filter(|code| code.iter().all(u8::is_ascii_lowercase));
        letters.map(Language).ok_or_else(|| Error::setting("language", "two letters, such as en", typed))
    }
}

impl TryFrom<String> for Language {
    type Error = Error;

    fn try_from(typed: String) -> Result<Self> {
        typed.parse()
    }
}

impl From<Language> for String {
    fn from(language: Language) -> String {
        language.code().into()
    }
}

/// Which words are left out or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filtering {
    /// What becomes of numbers.
    pub numbers: Numbers,
    /// Frequent words of this language are left out.
    pub stop_words: Option<Language>,
    /// Words lose the endings of this language.
    pub stem: Option<Language>,
}

impl Filtering {
    /// All words as they are.
    pub const NONE: Filtering = Filtering { numbers: Numbers::Keep, stop_words: None, stem: None };

    /// Checks that the languages are known.
    pub(crate) fn validate(self) -> Result<()> {
        Filters::new(self).map(|_| ())
    }
}

/// Filters, ready for use.
#[derive(Default)]
pub(super) struct Filters {
    numbers: Option<Numbers>,
    stop_words: HashSet<&'static str>,
    stemmer: Option<Stemmer>,
}

impl Filters {
    pub(super) fn new(filtering: Filtering) -> Result<Filters> {
        let unknown = |name: &'static str, language: Language| {
            Error::setting(name, "a language that is known, such as en", language.code())
        };
        let stop_words = match filtering.stop_words {
            Some(language) => stop_words::lookup(language.code()).ok_or_else(|| unknown("stop-words", language))?,
            None => &[],
        };
        let stemmer = match filtering.stem {
            Some(language) => Some(Stemmer::try_from_name(language.code()).map_err(|_| unknown("stem", language))?),
            None => None,
        };
        let numbers = Some(filtering.numbers).filter(|numbers| *numbers != Numbers::Keep);
        Ok(Filters { numbers, stop_words: stop_words.iter().copied().collect(), stemmer })
    }

    /// Replaces `kept` by what is left of the tokens.
    pub(super) fn apply(&self, tokens: &Tokens, kept: &mut Tokens) {
        kept.clear();
        let mut padded = Vec::new();
        let text = tokens.text();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let number = self.numbers.filter(|_| is_number(word));
            let word = match (number, &self.stemmer) {
                (Some(Numbers::Drop), _) => continue,
                (Some(_), _) => "0".into(),
                (None, _) if self.stop_words.contains(word) => continue,
                (None, Some(stemmer)) => stemmer.stem(word),
                (None, None) => word.into(),
            };
            padded.clear();
            padded.extend_from_slice(word.as_bytes());
            padded.extend_from_slice(&[0; SLACK]);
            kept.push(&padded, 0, word.len());
        }
    }
}

/// Digits, with what stands between those of a number.
fn is_number(word: &str) -> bool {
    word.starts_with(char::is_numeric) && word.chars().all(|c| c.is_numeric() || matches!(c, '.' | ',' | '\'' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::Tokenizer;

    fn filtered(filtering: Filtering, text: &str) -> String {
        let (mut tokens, mut kept) = (Tokens::default(), Tokens::default());
        Tokenizer::default().tokenize(text, &mut tokens);
        Filters::new(filtering).unwrap().apply(&tokens, &mut kept);
        assert_eq!(kept.hashes().len(), kept.text().split(' ').filter(|word| !word.is_empty()).count());
        kept.text().into()
    }

    #[test]
    fn words_are_left_out_or_replaced() {
        let text = "The 3 connections of 2024: 1,000 x2 and 3.14";
        let numbers = |numbers| filtered(Filtering { numbers, ..Filtering::NONE }, text);
        assert_eq!(numbers(Numbers::Keep), "the 3 connections of 2024 1,000 x2 and 3.14");
        assert_eq!(numbers(Numbers::Drop), "the connections of x2 and");
        assert_eq!(numbers(Numbers::Mask), "the 0 connections of 0 0 x2 and 0");
        let english: Option<Language> = "EN".parse().ok();
        assert_eq!(filtered(Filtering { stop_words: english, ..Filtering::NONE }, text), "3 connections 2024 1,000 x2 3.14");
        assert_eq!(
            filtered(Filtering { stem: english, ..Filtering::NONE }, "connections connected connecting"),
            "connect connect connect"
        );
    }

    #[test]
    fn languages_that_are_not_known_are_refused() {
        assert!("english".parse::<Language>().is_err() && "e1".parse::<Language>().is_err());
        let nowhere: Option<Language> = "zz".parse().ok();
        assert!(Filtering { stop_words: nowhere, ..Filtering::NONE }.validate().is_err());
        assert!(Filtering { stem: nowhere, ..Filtering::NONE }.validate().is_err());
        assert!(Filtering::NONE.validate().is_ok());
    }
}
