//! Bags of words: the cosine of weighted terms (M14), or SCAM's relative frequencies (M3).
//!
//! A document is the vector of its terms, each weighing tf · ln(N/n). The terms that weigh most are its join keys: documents that share
//! enough of them are compared by all terms. Cost: as many keys as are asked for, and a vector for each document. Pairs whose heavy
//! terms differ are missed.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::counted::{self, count_of, term_of};
use super::{Fingerprint, Side, Taken, View};
use crate::error::{Error, Result};

/// What can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// How vectors are compared.
    pub compare: Compare,
    /// From this value on two documents are candidates.
    pub least: f64,
    /// Terms that are looked up: those that weigh most.
    pub keys: u32,
    /// How many of them have to be common.
    pub shared: u32,
    /// With SCAM: how different frequencies may be; 2 is none.
    pub epsilon: f64,
}

/// How vectors are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// By the cosine of weighted terms.
    Cosine,
    /// By the terms that are about as frequent in both, relative to one document: it sees a part, too (Shivakumar, Garcia-Molina 1995).
    Scam,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { compare: Compare::Cosine, least: 0.9, keys: 32, shared: 8, epsilon: 2.5 }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Terms {
    settings: Settings,
    idf: HashMap<u64, f64>,
}

impl Terms {
    pub(super) fn new(settings: &Settings) -> Result<Terms> {
        let Settings { least, keys, shared, epsilon, .. } = *settings;
        if !(least > 0.0 && least <= 1.0) {
            return Err(Error::setting("least", "above 0 and up to 1", least.to_string()));
        }
        if !(1..=4096).contains(&keys) {
            return Err(Error::setting("keys", "from 1 to 4096", keys.to_string()));
        }
        if !(1..=keys).contains(&shared) {
            return Err(Error::setting("shared", format!("from 1 to the number of keys ({keys})"), shared.to_string()));
        }
        if !(epsilon > 2.0 && epsilon < 100.0) {
            return Err(Error::setting("epsilon", "above 2 and below 100", epsilon.to_string()));
        }
        Ok(Terms { settings: settings.clone(), idf: HashMap::new() })
    }

    fn weight(&self, feature: u64) -> f64 {
        f64::from(count_of(feature)) * self.idf.get(&term_of(feature)).copied().unwrap_or(0.0)
    }

    /// A sketch is the keys, the terms with their counts, the weight of each and the sum of their squares. Of one of this length so many are
    /// keys, and so many terms.
    fn shape(&self, sketch: u32) -> (usize, usize) {
        let (keys, rest) = (self.settings.keys as usize, (sketch as usize).saturating_sub(1));
        if rest >= 3 * keys { (keys, (rest - keys) / 2) } else { (rest / 3, rest / 3) }
    }

    /// Terms, weights and the sum of their squares.
    fn vector<'a>(&self, sketch: &'a [u64]) -> Option<(&'a [u64], &'a [u64], f64)> {
        let (keys, terms) = self.shape(sketch.len() as u32);
        let (square, sketch) = sketch.split_last()?;
        Some((&sketch[keys..keys + terms], &sketch[keys + terms..], f64::from_bits(*square)))
    }

    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let ((a, weights_a, square_a), (b, weights_b, square_b)) = (self.vector(a)?, self.vector(b)?);
        if square_a == 0.0 || square_b == 0.0 {
            return None;
        }
        let scam = self.settings.compare == Compare::Scam;
        let about_as_often = |x: u64, y: u64| {
            let ratio = f64::from(count_of(x)) / f64::from(count_of(y));
            self.settings.epsilon > ratio + 1.0 / ratio
        };
        let (mut i, mut j, mut product) = (0, 0, 0.0);
        while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
            let (s, t) = (term_of(x), term_of(y));
            if s == t && (!scam || about_as_often(x, y)) {
                product += f64::from_bits(weights_a[i]) * f64::from_bits(weights_b[j]);
            }
            i += usize::from(s <= t);
            j += usize::from(t <= s);
        }
        Some(match self.settings.compare {
            Compare::Cosine => product / (square_a * square_b).sqrt(),
            Compare::Scam => (product / square_a.min(square_b)).min(1.0),
        })
    }
}

impl Fingerprint for Terms {
    fn takes_features(&self) -> bool {
        true
    }

    fn features(&self, taken: Taken<'_>, features: &mut Vec<u64>) {
        counted::words(taken.tokens, features);
    }

    fn learns(&self) -> bool {
        true
    }

    fn learn(&mut self, documents: u64, frequencies: HashMap<u64, u32>) {
        self.idf = super::idf(documents, frequencies);
    }

    fn most_sketch(&self, _size: u32, features: u32) -> u32 {
        self.settings.keys.min(features) + 2 * features + 1
    }

    fn sketch(&self, view: View<'_>, sketch: &mut Vec<u64>) {
        if view.features.is_empty() {
            return;
        }
        let mut heavy: Vec<(f64, u64)> = view.features.iter().map(|&f| (self.weight(f), term_of(f))).collect();
        heavy.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        heavy.truncate(self.settings.keys as usize);
        sketch.extend(heavy.into_iter().map(|(_, term)| term));
        sketch.extend_from_slice(view.features);
        let scam = self.settings.compare == Compare::Scam;
        let weight = |feature: u64| if scam { f64::from(count_of(feature)) } else { self.weight(feature) };
        sketch.extend(view.features.iter().map(|&feature| weight(feature).to_bits()));
        sketch.push(view.features.iter().map(|&feature| weight(feature).powi(2)).sum::<f64>().to_bits());
    }

    fn keys(&self, _shingles: &[u64], sketch: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(&sketch[..self.shape(sketch.len() as u32).0]);
    }

    fn key_count(&self, set: Side) -> u32 {
        self.shape(set.sketch).0 as u32
    }

    /// A document of few terms can't share as many.
    fn needed_keys(&self, a: Side, b: Side) -> u32 {
        self.settings.shared.min(self.key_count(a).min(self.key_count(b)).div_ceil(2)).max(1)
    }

    fn compares_sketches(&self) -> bool {
        true
    }

    fn agrees(&self, a: &[u64], b: &[u64]) -> bool {
        self.similarity(a, b).is_some_and(|similarity| similarity >= self.settings.least)
    }

    fn estimate(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        self.similarity(a, b)
    }

    fn recall(&self, _similarity: f64, _union: u32) -> Option<f64> {
        None
    }

    fn promise(&self) -> Option<String> {
        let Settings { compare, least, keys, shared, .. } = self.settings;
        let measure = if compare == Compare::Cosine { "cosine" } else { "relative frequency" };
        Some(format!("finds pairs of {measure} {least} that share {shared} of their {keys} heaviest terms"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Common;
    use super::*;
    use crate::normalize::{Tokenizer, Tokens};

    /// The sketches of a collection of these texts.
    fn sketches(settings: Settings, texts: &[&str]) -> (Terms, Vec<Vec<u64>>) {
        let mut method = Terms::new(&settings).unwrap();
        let features = |text: &&str| {
            let (mut tokens, mut features) = (Tokens::default(), Vec::new());
            Tokenizer::default().tokenize(text, &mut tokens);
            method.features(Taken { tokens: &tokens, url: None }, &mut features);
            features
        };
        let all: Vec<Vec<u64>> = texts.iter().map(features).collect();
        let mut frequencies: HashMap<u64, u32> = HashMap::new();
        all.iter().flatten().for_each(|&feature| *frequencies.entry(term_of(feature)).or_default() += 1);
        method.learn(texts.len() as u64, frequencies);
        let sketch = |features: &Vec<u64>| {
            let mut sketch = Vec::new();
            method.sketch(View::new(&[1], features, &Common::default()), &mut sketch);
            sketch
        };
        let sketches = all.iter().map(sketch).collect();
        (method, sketches)
    }

    #[test]
    fn the_cosine_is_that_of_weighted_terms() {
        // a and b are in two of three documents, c and d in one each; ln 1.5 and ln 3.
        let (method, all) = sketches(Settings::default(), &["a a b c", "a b d", "e"]);
        let (common, own) = (1.5f64.ln(), 3f64.ln());
        let product = 2.0 * common * common + common * common;
        let norm = |a: f64| (a * a * common * common + common * common + own * own).sqrt();
        let expected = product / (norm(2.0) * norm(1.0));
        let found = method.estimate(&all[0], &all[1]).unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        assert!(method.estimate(&all[0], &all[0]).is_some_and(|one| (one - 1.0).abs() < 1e-12));
        assert_eq!(method.estimate(&all[0], &all[2]), Some(0.0));
    }

    #[test]
    fn scam_sees_that_a_document_is_part_of_another() {
        let settings = Settings { compare: Compare::Scam, ..Settings::default() };
        let (method, all) = sketches(settings, &["a b c d", "a b c d e f g h i j", "k l"]);
        assert_eq!(method.estimate(&all[0], &all[1]), Some(1.0));
        assert_eq!(method.estimate(&all[0], &all[2]), Some(0.0));
        let (method, all) = sketches(Settings { compare: Compare::Scam, ..Settings::default() }, &["a b", "a a a b", "k l"]);
        assert_eq!(method.estimate(&all[0], &all[1]), Some(0.5), "three times as often is not about as often");
    }

    #[test]
    fn keys_are_the_heaviest_terms() {
        let (method, all) =
            sketches(Settings { keys: 2, shared: 1, ..Settings::default() }, &["common rare1 rare2", "common other"]);
        let mut keys = Vec::new();
        method.keys(&[], &all[0], &mut keys);
        let side = Side { size: 9, sketch: all[0].len() as u32 };
        assert_eq!((keys.len(), method.key_count(side)), (2, 2));
        let mut others = Vec::new();
        method.keys(&[], &all[1], &mut others);
        assert_eq!(others.len(), 2);
        assert!(!others.iter().any(|key| keys.contains(key)), "what all documents have weighs nothing");
    }
}
