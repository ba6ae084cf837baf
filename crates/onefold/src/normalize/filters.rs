//! Words that are left out, or replaced, before documents are compared (W3): numbers, stop words, endings, common words.
//!
//! What is exact is decided before: filters can make documents near with similarity 1, never exact.

use std::collections::HashSet;
use std::sync::Arc;

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

/// Words that too many documents of a collection have, by their hashes.
#[derive(Debug)]
pub struct CommonWords {
    words: HashSet<u64>,
    documents: u64,
    distinct: u64,
}

impl CommonWords {
    /// Of a collection of so many documents with so many different words.
    pub(crate) fn new(words: HashSet<u64>, documents: u64, distinct: u64) -> CommonWords {
        CommonWords { words, documents, distinct }
    }

    /// How many documents there are.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// How many they are.
    pub fn left_out(&self) -> u64 {
        self.words.len() as u64
    }

    /// How many words the collection has, those that are left out among them.
    pub fn distinct(&self) -> u64 {
        self.distinct
    }
}

/// Which words are left out or replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filtering {
    /// What becomes of numbers.
    pub numbers: Numbers,
    /// Frequent words of this language are left out.
    pub stop_words: Option<Language>,
    /// Words lose the endings of this language.
    pub stem: Option<Language>,
    /// Words of which ln(N/n) is below this are left out, where n of N documents have them. This takes a collection: two texts alone
    /// are compared by all their words.
    pub min_idf: Option<f64>,
}

impl Filtering {
    /// All words as they are.
    pub const NONE: Filtering = Filtering { numbers: Numbers::Keep, stop_words: None, stem: None, min_idf: None };

    /// Checks that the languages are known, and that some words can be rare enough.
    pub(crate) fn validate(self) -> Result<()> {
        if let Some(bad) = self.min_idf.filter(|least| !(0.0..=MOST_IDF).contains(least)) {
            return Err(Error::setting("min-idf", format!("from 0 to {MOST_IDF}"), bad.to_string()));
        }
        Filters::new(self).map(|_| ())
    }
}

/// No collection is so large that a word of one document had a greater ln(N/n).
const MOST_IDF: f64 = 40.0;

/// Filters, ready for use.
#[derive(Default)]
pub(super) struct Filters {
    numbers: Option<Numbers>,
    stop_words: HashSet<&'static str>,
    stemmer: Option<Stemmer>,
    common: Option<Arc<CommonWords>>,
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
        Ok(Filters { numbers, stop_words: stop_words.iter().copied().collect(), stemmer, common: None })
    }

    /// Leaves out what too many documents have, as other filters leave it.
    pub(super) fn leave_out(&mut self, common: Arc<CommonWords>) {
        self.common = Some(common);
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
            let before = kept.mark();
            kept.push(&padded, 0, word.len());
            if let (Some(common), Some(word)) = (&self.common, kept.hashes().last())
                && common.words.contains(word)
            {
                kept.back_to(before);
            }
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
