//! SimHash (Charikar 2002; P1–P4): one number for a document; documents whose numbers differ in at most k bits are candidates.
//!
//! Each bit is the sign of a random projection of the document's weighted features, so two documents at an angle θ differ in a bit with
//! probability θ/π, and in at most k of 64 with that of the binomial: k = 3 means almost identical pages (cosine 0.99: two of three).
//! Features are runs of words: single words tell pages apart badly (§9.4).

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::odds;
use super::{Fingerprint, Side, Taken, View};
use crate::error::{Error, Result};
use crate::normalize::Tokens;
use crate::shingle::hash;
use crate::verify::simhash::{RUNS, SimHash};

/// Bits of the number.
const BITS: u32 = 64;

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Bits in which candidates may differ.
    pub k: u32,
    /// What a document is made of.
    pub features: Features,
    /// How much each counts.
    pub weights: Weights,
    /// Of the hash of features.
    pub seed: u64,
}

/// What a document is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// Words.
    Words,
    /// Runs of 3 and of 5 words.
    Runs,
}

/// How much a feature counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// As much as any other, however often it occurs.
    Uniform,
    /// As often as it occurs.
    Tf,
    /// As often as it occurs, times ln(N/n) where n of N documents have it.
    TfIdf,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { k: 3, features: Features::Runs, weights: Weights::Uniform, seed: 0 }
    }
}

/// See the module.
#[derive(Debug)]
pub struct SimHashes {
    settings: Settings,
    /// ln(N/n) of each term.
    idf: HashMap<u64, f64>,
}

impl SimHashes {
    /// More bits than this are as good as all.
    const MOST: u32 = 16;

    pub(super) fn new(settings: &Settings) -> Result<SimHashes> {
        if settings.k > SimHashes::MOST {
            return Err(Error::setting("k", format!("from 0 to {}", SimHashes::MOST), settings.k.to_string()));
        }
        Ok(SimHashes { settings: settings.clone(), idf: HashMap::new() })
    }

    fn each_feature(&self, tokens: &Tokens, mut take: impl FnMut(u64)) {
        let seed = hash::mix(self.settings.seed);
        match self.settings.features {
            Features::Words => tokens.hashes().iter().for_each(|&word| take(hash::mix(word ^ seed))),
            // Shingles leave their highest bits free: mixing makes all 64 good again.
            Features::Runs => {
                RUNS.iter().for_each(|&words| hash::shingles(tokens.hashes(), words, |run| take(hash::mix(run ^ seed))));
            }
        }
    }
}

/// A feature with the number of its occurrences in the lowest bits; the rest is what it is known by.
pub(crate) mod counted {
    use crate::normalize::Tokens;
    use crate::shingle::hash::mix;

    const COUNT_BITS: u32 = 16;

    /// Appends the words of a document, each once, with their counts.
    pub fn words(tokens: &Tokens, features: &mut Vec<u64>) {
        let start = features.len();
        features.extend(tokens.hashes().iter().map(|&word| mix(word)));
        pack(features, start);
    }

    /// Sorts features and counts how often each occurs.
    pub fn pack(features: &mut Vec<u64>, start: usize) {
        features[start..].sort_unstable_by_key(|feature| feature >> COUNT_BITS);
        let mut end = start;
        for at in start..features.len() {
            let term = features[at] >> COUNT_BITS;
            if end > start && term_of(features[end - 1]) == term {
                features[end - 1] += u64::from(count_of(features[end - 1]) < u16::MAX.into());
            } else {
                features[end] = term << COUNT_BITS | 1;
                end += 1;
            }
        }
        features.truncate(end);
    }

    /// What it is known by.
    pub fn term_of(feature: u64) -> u64 {
        feature >> COUNT_BITS
    }

    /// How often it occurs.
    pub fn count_of(feature: u64) -> u32 {
        (feature & u64::from(u16::MAX)) as u32
    }
}

impl Fingerprint for SimHashes {
    fn takes_features(&self) -> bool {
        true
    }

    /// The number itself; where its weights need the whole collection, what it will be made of.
    fn features(&self, taken: Taken<'_>, features: &mut Vec<u64>) {
        let start = features.len();
        self.each_feature(taken.tokens, |feature| features.push(feature));
        if self.settings.weights == Weights::TfIdf {
            counted::pack(features, start);
            return;
        }
        if self.settings.weights == Weights::Uniform {
            features[start..].sort_unstable();
            super::dedup_from(features, start);
        }
        let code = SimHash::of_features(&features[start..]);
        features.truncate(start);
        features.extend(code.map(|code| code.0));
    }

    fn learns(&self) -> bool {
        self.settings.weights == Weights::TfIdf
    }

    fn learn(&mut self, documents: u64, frequencies: HashMap<u64, u32>) {
        self.idf = super::idf(documents, frequencies);
    }

    fn most_sketch(&self, _size: u32, _features: u32) -> u32 {
        1
    }

    /// Nothing for a document without features: all empty ones would agree.
    fn sketch(&self, view: View<'_>, sketch: &mut Vec<u64>) {
        if self.settings.weights != Weights::TfIdf {
            sketch.extend_from_slice(view.features);
            return;
        }
        let weight = |feature: u64| {
            let idf = self.idf.get(&counted::term_of(feature)).copied().unwrap_or(0.0);
            (hash::mix(counted::term_of(feature)), f64::from(counted::count_of(feature)) * idf)
        };
        let weighted = view.features.iter().map(|&feature| weight(feature));
        sketch.extend(SimHash::of_weighted(weighted).map(|code| code.0));
    }

    fn keys(&self, _shingles: &[u64], _sketch: &[u64], _keys: &mut Vec<u64>) {}

    fn key_count(&self, _set: Side) -> u32 {
        0
    }

    fn needed_keys(&self, _a: Side, _b: Side) -> u32 {
        1
    }

    fn radius(&self) -> Option<u32> {
        Some(self.settings.k)
    }

    /// The cosine that so many different bits speak for.
    fn estimate(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let different = (a.first()? ^ b.first()?).count_ones();
        Some((std::f64::consts::PI * f64::from(different) / f64::from(BITS)).cos())
    }

    /// §7.3, of pairs with this *cosine* of their weighted features.
    fn recall(&self, similarity: f64, _union: u32) -> Option<f64> {
        let differs = similarity.clamp(-1.0, 1.0).acos() / std::f64::consts::PI;
        Some(1.0 - odds::at_least(self.settings.k + 1, BITS, differs))
    }

    fn promise(&self) -> Option<String> {
        let at = |cosine: f64| 100.0 * self.recall(cosine, 0).unwrap_or(0.0);
        Some(format!("finds {:.0} % of pairs at a cosine of 0.95, {:.0} % at 0.99", at(0.95), at(0.99)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Common;
    use super::*;
    use crate::normalize::Tokenizer;

    fn features(method: &SimHashes, text: &str) -> Vec<u64> {
        let (mut tokens, mut features) = (Tokens::default(), vec![7]);
        Tokenizer::default().tokenize(text, &mut tokens);
        method.features(Taken { tokens: &tokens, url: None }, &mut features);
        assert_eq!(features[0], 7, "what was there stays");
        features.split_off(1)
    }

    fn built(features: Features, weights: Weights) -> SimHashes {
        SimHashes::new(&Settings { features, weights, ..Settings::default() }).unwrap()
    }

    /// The figures of §7.3.
    #[test]
    fn recall_is_the_published_curve() {
        let at = |k: u32, cosine: f64| SimHashes::new(&Settings { k, ..Settings::default() }).unwrap().recall(cosine, 0).unwrap();
        let figures = [(3, 0.9, 0.013), (3, 0.95, 0.101), (3, 0.98, 0.411), (3, 0.99, 0.674), (3, 0.995, 0.853)];
        for (k, cosine, expected) in
            figures.into_iter().chain([(7, 0.95, 0.682), (7, 0.98, 0.950), (12, 0.9, 0.879), (12, 0.95, 0.989)])
        {
            assert!((at(k, cosine) - expected).abs() < 0.001, "{k} {cosine}: {}", at(k, cosine));
        }
    }

    #[test]
    fn weights_count_what_they_say() {
        let [once, often] = ["a b c d", "a a a b c d"];
        let words = |weights, text| features(&built(Features::Words, weights), text);
        assert_eq!(words(Weights::Uniform, once), words(Weights::Uniform, often));
        let tf = words(Weights::Tf, often);
        assert_ne!(words(Weights::Tf, once), tf);
        assert!(words(Weights::Tf, "").is_empty(), "no features, no number");
        let counted: Vec<u32> = words(Weights::TfIdf, often).iter().map(|&feature| counted::count_of(feature)).collect();
        assert_eq!(
            {
                let mut sorted = counted;
                sorted.sort_unstable();
                sorted
            },
            [1, 1, 1, 3]
        );
    }

    /// With equal frequencies everywhere, tf·idf is tf.
    #[test]
    fn rare_features_outweigh_common_ones() {
        let mut method = built(Features::Words, Weights::TfIdf);
        let [a, b] = ["the same words and one rare", "the same words and one other"].map(|text| features(&method, text));
        let mut frequencies: HashMap<u64, u32> = HashMap::new();
        a.iter().chain(&b).for_each(|&feature| *frequencies.entry(counted::term_of(feature)).or_default() += 1);
        method.learn(2, frequencies);
        let sketch = |features: &[u64]| {
            let mut sketch = Vec::new();
            method.sketch(View::new(&[], features, &Common::default()), &mut sketch);
            sketch
        };
        // What both have weighs nothing: each is the number of its own word.
        let own = |features: &[u64], other: &[u64]| {
            let terms = |features: &[u64]| features.iter().map(|&f| counted::term_of(f)).collect::<Vec<u64>>();
            let own = terms(features).into_iter().find(|term| !terms(other).contains(term)).unwrap();
            hash::mix(own)
        };
        assert_eq!(sketch(&a), [own(&a, &b)]);
        assert_eq!(sketch(&b), [own(&b, &a)]);
    }

    #[test]
    fn a_radius_that_finds_everything_is_refused() {
        assert!(SimHashes::new(&Settings { k: 17, ..Settings::default() }).is_err());
    }
}
