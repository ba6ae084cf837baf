//! I-Match (Chowdhury 2002) with randomised lexicons (Kołcz, Chowdhury 2008; M12, M13, §7.4): one hash of the terms that matter.
//!
//! Terms of the collection that are neither too common nor in too few documents are the lexicon; the sorted unique terms of a document that
//! are in it, hashed together, are its signature. One term more or less changes it, so more lexicons, each without a random part of the
//! words, get signatures, too: documents with any equal one are candidates. One that leaves all n changed terms out is unharmed: of K with
//! probability 1 − (1 − pⁿ)^K. Documents with too few such terms have no signature, or they would all match.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

use super::counted::{self, term_of};
use super::{Fingerprint, Side, Taken, View};
use crate::error::{Error, Result};
use crate::shingle::hash::mix;

/// What can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// ln(N/n) that a term needs, where n of N documents have it.
    pub min_idf: f64,
    /// Documents that a term needs; what only one has says nothing of pairs.
    pub min_documents: u32,
    /// Lexicons beside the first.
    pub lexicons: u32,
    /// The share of words that each of them leaves out.
    pub left_out: f64,
    /// Terms of the lexicon that a document needs.
    pub min_terms: u32,
    /// The share of its terms that they have to be.
    pub min_share: f64,
    /// Of the lexicons.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { min_idf: 1.5, min_documents: 2, lexicons: 10, left_out: 0.33, min_terms: 5, min_share: 0.1, seed: 42 }
    }
}

/// See the module.
#[derive(Debug)]
pub struct IMatch {
    settings: Settings,
    lexicon: HashSet<u64>,
}

impl IMatch {
    pub(super) fn new(settings: &Settings) -> Result<IMatch> {
        if settings.lexicons > 1000 {
            return Err(Error::setting("lexicons", "from 0 to 1000", settings.lexicons.to_string()));
        }
        for (name, share) in [("left-out", settings.left_out), ("min-share", settings.min_share)] {
            if !(0.0..1.0).contains(&share) {
                return Err(Error::setting(name, "from 0 to below 1", share.to_string()));
            }
        }
        if !settings.min_idf.is_finite() {
            return Err(Error::setting("min-idf", "a number", settings.min_idf.to_string()));
        }
        Ok(IMatch { settings: settings.clone(), lexicon: HashSet::new() })
    }

    /// Whether a lexicon has a term of the first; that one, number 0, has all.
    fn has(&self, lexicon: u64, term: u64) -> bool {
        let draw = mix(mix(self.settings.seed.wrapping_add(lexicon)) ^ term);
        lexicon == 0 || draw as f64 >= self.settings.left_out * u64::MAX as f64
    }

    /// The signature of sorted terms under a lexicon. Where it leaves too few of them, all are signed: what is left would match too much.
    fn signature(&self, lexicon: u64, terms: &[u64]) -> u64 {
        let left: Vec<u64> = terms.iter().copied().filter(|&term| self.has(lexicon, term)).collect();
        let signed = if left.len() < self.settings.min_terms as usize { terms } else { &left };
        let mut hash = Sha1::new_with_prefix(lexicon.to_be_bytes());
        signed.iter().for_each(|term| hash.update(term.to_be_bytes()));
        super::first_bytes(&hash.finalize())
    }
}

impl Fingerprint for IMatch {
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
        let Settings { min_idf, min_documents, .. } = self.settings;
        let matters = |frequency: u32| frequency >= min_documents && (documents as f64 / f64::from(frequency)).ln() >= min_idf;
        self.lexicon = frequencies.into_iter().filter(|(_, frequency)| matters(*frequency)).map(|(term, _)| term).collect();
    }

    fn most_sketch(&self, _size: u32, _features: u32) -> u32 {
        self.settings.lexicons + 1
    }

    fn sketch(&self, view: View<'_>, sketch: &mut Vec<u64>) {
        let terms: Vec<u64> =
            view.features.iter().map(|&term| term_of(term)).filter(|term| self.lexicon.contains(term)).collect();
        let least = (self.settings.min_share * view.features.len() as f64).max(f64::from(self.settings.min_terms));
        if terms.len() as f64 >= least {
            sketch.extend((0..=u64::from(self.settings.lexicons)).map(|lexicon| self.signature(lexicon, &terms)));
        }
    }

    fn keys(&self, _shingles: &[u64], sketch: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(sketch);
    }

    fn key_count(&self, set: Side) -> u32 {
        set.sketch
    }

    fn needed_keys(&self, _a: Side, _b: Side) -> u32 {
        1
    }

    /// The share of signatures that agree.
    fn estimate(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let equal = a.iter().zip(b).filter(|(x, y)| x == y).count();
        (!a.is_empty() && a.len() == b.len()).then(|| equal as f64 / a.len() as f64)
    }

    fn recall(&self, _similarity: f64, _union: u32) -> Option<f64> {
        None
    }

    fn promise(&self) -> Option<String> {
        let Settings { lexicons, left_out, .. } = self.settings;
        // The first lexicon has all terms, so it is always harmed; each other leaves all n changed ones out with probability p^n.
        let survives = |changed: i32| 1.0 - (1.0 - left_out.powi(changed)).powi(lexicons as i32);
        let percent = |changed: i32| 100.0 * survives(changed);
        Some(format!("finds {:.0} % of pairs that differ in one term that matters, {:.0} % in two", percent(1), percent(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Common;
    use super::*;
    use crate::normalize::{Tokenizer, Tokens};

    fn features(method: &IMatch, text: &str) -> Vec<u64> {
        let (mut tokens, mut features) = (Tokens::default(), Vec::new());
        Tokenizer::default().tokenize(text, &mut tokens);
        method.features(Taken { tokens: &tokens, url: None }, &mut features);
        features
    }

    #[test]
    fn order_and_repetition_do_not_matter_and_rare_words_neither() {
        let settings = Settings { min_idf: 0.0, min_share: 0.0, ..Settings::default() };
        let mut method = IMatch::new(&settings).unwrap();
        let texts = [
            "one two three four five six ten eleven twelve",
            "twelve eleven ten six five four three two one one unique",
            "one two three four five seven seven ten eleven twelve",
        ];
        let all: Vec<Vec<u64>> = texts.iter().map(|text| features(&method, text)).collect();
        let mut frequencies: HashMap<u64, u32> = HashMap::new();
        all.iter().flatten().for_each(|&feature| *frequencies.entry(term_of(feature)).or_default() += 1);
        method.learn(3, frequencies);
        let sketch = |features: &[u64]| {
            let mut sketch = Vec::new();
            method.sketch(View::new(&[1], features, &Common::default()), &mut sketch);
            sketch
        };
        assert_eq!(sketch(&all[0]), sketch(&all[1]), "'unique' is in no lexicon");
        assert_ne!(sketch(&all[0])[0], sketch(&all[2])[0]);
        let equal = sketch(&all[0]).iter().zip(sketch(&all[2])).filter(|(a, b)| *a == b).count();
        assert!(equal > 0, "a lexicon without 'six' finds them equal");
        assert!(sketch(&all[0][..4]).is_empty(), "too few terms");
        let rare = Settings { left_out: 0.95, ..settings.clone() };
        let few = IMatch { settings: rare, lexicon: method.lexicon.clone() };
        let terms: Vec<u64> = all[0].iter().map(|&feature| term_of(feature)).collect();
        let others: Vec<u64> = all[2].iter().map(|&feature| term_of(feature)).collect();
        assert!(
            (1..=10).all(|lexicon| few.signature(lexicon, &terms) != few.signature(lexicon, &others)),
            "nothing is left to match"
        );
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        for settings in [Settings { left_out: 1.0, ..Settings::default() }, Settings { min_idf: f64::NAN, ..Settings::default() }]
        {
            assert!(IMatch::new(&settings).is_err());
        }
    }
}
