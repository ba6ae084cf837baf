//! Two texts side by side: every measure we have, and where they differ.

use super::diff::{Diff, diff};
use super::edit::{Normalizer, edit_distance};
use super::passages::{Passage, passages};
use super::simhash::SimHash;
use super::{Similarity, common};
use crate::normalize::{Tokens, Words};
use crate::shingle::{Recipe, Unit, set_of};

/// How alike two texts are, in every way.
#[derive(Debug)]
pub struct Comparison {
    /// The words of the first text, as they are compared.
    pub first: Vec<String>,
    /// The words of the second.
    pub second: Vec<String>,
    /// Distinct shingles of each.
    pub shingles: [u32; 2],
    /// Distinct shingles that both have.
    pub common: u32,
    /// Words to insert, delete or replace to turn one into the other.
    pub edit_distance: u32,
    /// Bits of 64 in which the SimHashes of their word 3- and 5-grams differ; none where a text is too short for one.
    pub simhash_distance: Option<u32>,
    /// The longest passages they share, longest first.
    pub passages: Vec<Passage>,
    /// Which words stay, go and come.
    pub diff: Diff,
}

impl Comparison {
    /// Compares by shingles; shared passages have at least as many words as these.
    pub fn new(first: &str, second: &str, recipe: Recipe) -> Comparison {
        /// Where shingles are not made of words.
        const SHORTEST_PASSAGE: usize = 5;
        let (a, b) = (tokens(first, recipe), tokens(second, recipe));
        let (x, y) = (set_of(first, recipe), set_of(second, recipe));
        let shortest = if recipe.unit == Unit::Words { recipe.size as usize } else { SHORTEST_PASSAGE };
        let sketches = SimHash::of_tokens(a.hashes()).zip(SimHash::of_tokens(b.hashes()));
        Comparison {
            shingles: [x.len() as u32, y.len() as u32],
            common: common(&x, &y),
            edit_distance: edit_distance(a.hashes(), b.hashes()),
            simhash_distance: sketches.map(|(a, b)| a.distance(b)),
            passages: passages(a.hashes(), b.hashes(), shortest),
            diff: diff(a.hashes(), b.hashes()),
            first: words_of(&a),
            second: words_of(&b),
        }
    }

    /// Common shingles over all; `None` where neither text has any.
    pub fn resemblance(&self) -> Option<Similarity> {
        let [first, second] = self.shingles;
        (first + second > 0).then(|| Similarity::new(self.common, first, second))
    }

    /// The share of the first (0) or second (1) text's shingles that the other has.
    pub fn containment(&self, side: usize) -> Option<f64> {
        (self.shingles[side] > 0).then(|| f64::from(self.common) / f64::from(self.shingles[side]))
    }

    /// The edit distance as a share of the longer text.
    pub fn edit_share(&self) -> f64 {
        Normalizer::Longer.share(self.edit_distance, self.first.len(), self.second.len())
    }

    /// Whether the words are the same in the same order.
    pub fn is_exact(&self) -> bool {
        self.first == self.second
    }
}

fn tokens(text: &str, recipe: Recipe) -> Tokens {
    let mut tokens = Tokens::default();
    Words::new(recipe.text, recipe.filtering).cut(text, &mut tokens);
    tokens
}

fn words_of(tokens: &Tokens) -> Vec<String> {
    String::from_utf8_lossy(tokens.canonical()).split_terminator(' ').map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_changed_in_the_middle() {
        let first = "one two three four five six seven eight nine ten eleven twelve";
        let found = Comparison::new(first, &first.replace("six", "SIXTH"), Recipe::of_words(3));
        assert_eq!((found.shingles, found.common), ([10, 10], 7));
        assert_eq!(found.resemblance().map(Similarity::as_f64), Some(7.0 / 13.0));
        assert_eq!((found.containment(0), found.edit_distance), (Some(0.7), 1));
        assert_eq!(found.passages.iter().map(|p| (p.first, p.length)).collect::<Vec<_>>(), [(6, 6), (0, 5)]);
        assert!(!found.is_exact() && found.simhash_distance.is_some());
    }

    #[test]
    fn texts_too_short_to_measure() {
        let found = Comparison::new("", "two words", Recipe::of_words(5));
        assert_eq!((found.resemblance(), found.containment(0), found.edit_distance), (None, None, 2));
        assert!(Comparison::new("Two Words!", "two words", Recipe::of_words(5)).is_exact());
    }
}
