//! Winnowing (Schleimer, Wilkerson, Aiken 2003; M18, §7.6): of every window of hashes of k-grams the smallest is kept.
//!
//! Any common passage of at least window + k − 1 words has a window in common, hence a fingerprint; none shorter than k is ever matched.
//! About 2 of window + 1 hashes are kept. The resemblance of winnowed sets is biased, so here they propose: sharing one fingerprint, or as
//! many as are asked for, makes a candidate.

use serde::{Deserialize, Serialize};

use super::{Fingerprint, Side, Taken, View};
use crate::error::{Error, Result};
use crate::shingle::hash;

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Words in a gram.
    pub k: u32,
    /// Grams in a window.
    pub window: u32,
    /// Fingerprints in common that make a candidate.
    pub least: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { k: 5, window: 20, least: 1 }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Winnowing {
    settings: Settings,
}

impl Winnowing {
    pub(super) fn new(settings: &Settings) -> Result<Winnowing> {
        for (name, value) in [("k", settings.k), ("window", settings.window), ("least", settings.least)] {
            if !(1..=10_000).contains(&value) {
                return Err(Error::setting(name, "from 1 to 10000", value.to_string()));
            }
        }
        Ok(Winnowing { settings: settings.clone() })
    }
}

/// Calls `keep` with the smallest hash of each window (the last one while it is smallest, else the rightmost of the smallest), and with
/// the first window that it is kept for: it is the smallest of all windows until the next is kept.
pub(crate) fn winnow(hashes: &[u64], window: usize, mut keep: impl FnMut(usize, u64)) {
    let window = window.min(hashes.len()).max(1);
    let mut last = None;
    for (start, some) in hashes.windows(window).enumerate() {
        let newest = start + window - 1;
        let chosen = match last {
            Some(at) if at >= start && hashes[at] <= hashes[newest] => continue,
            Some(at) if at >= start => newest,
            _ => start + some.iter().enumerate().rev().min_by_key(|(_, hash)| **hash).map_or(0, |(at, _)| at),
        };
        last = Some(chosen);
        keep(start, hashes[chosen]);
    }
}

impl Fingerprint for Winnowing {
    fn takes_features(&self) -> bool {
        true
    }

    fn features(&self, taken: Taken<'_>, features: &mut Vec<u64>) {
        let start = features.len();
        let mut grams = Vec::new();
        hash::shingles(taken.tokens.hashes(), self.settings.k as usize, |gram| grams.push(gram));
        winnow(&grams, self.settings.window as usize, |_, gram| features.push(gram));
        features[start..].sort_unstable();
        super::dedup_from(features, start);
    }

    fn most_sketch(&self, _size: u32, features: u32) -> u32 {
        features
    }

    fn sketch(&self, view: View<'_>, sketch: &mut Vec<u64>) {
        sketch.extend_from_slice(view.features);
    }

    fn keys(&self, _shingles: &[u64], sketch: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(sketch);
    }

    fn key_count(&self, set: Side) -> u32 {
        set.sketch
    }

    fn needed_keys(&self, _a: Side, _b: Side) -> u32 {
        self.settings.least
    }

    /// Biased (§7.6): grams beside a difference are kept by other windows.
    fn estimate(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let common = crate::verify::overlap(a, b, 0)? as usize;
        (!a.is_empty() || !b.is_empty()).then(|| common as f64 / (a.len() + b.len() - common) as f64)
    }

    fn recall(&self, _similarity: f64, _union: u32) -> Option<f64> {
        None
    }

    fn promise(&self) -> Option<String> {
        let Settings { k, window, least } = self.settings;
        let certain = if least == 1 { "finds every pair" } else { "notices every pair" };
        Some(format!("{certain} with a passage of {} words in common", window + k - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::{Tokenizer, Tokens};

    /// The example of the paper (§7.6).
    #[test]
    fn published_example() {
        let hashes = [77, 72, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 72, 42, 17, 98];
        let mut kept = Vec::new();
        winnow(&hashes, 4, |window, hash| kept.push((window, hash)));
        assert_eq!(kept, [(0, 17), (4, 17), (5, 8), (9, 39), (12, 17)]);
        assert_eq!(hashes.iter().filter(|hash| *hash % 4 == 0).collect::<Vec<_>>(), [&72, &8, &88, &72], "0 mod 4 leaves gaps");
    }

    #[test]
    fn what_is_kept_is_the_smallest_of_its_windows() {
        for (round, window) in (0..500u64).map(|round| (round, 1 + round as usize % 9)) {
            let hashes: Vec<u64> = (0..60).map(|at| hash::mix(round << 8 | at) % (2 + round % 20)).collect();
            let mut kept = Vec::new();
            winnow(&hashes, window, |window, hash| kept.push((window, hash)));
            for (at, some) in hashes.windows(window).enumerate() {
                let (_, hash) = kept[kept.partition_point(|&(from, _)| from <= at) - 1];
                assert_eq!(Some(&hash), some.iter().min(), "window {at} of {hashes:?}");
            }
        }
    }

    #[test]
    fn a_long_enough_passage_shares_a_fingerprint() {
        let method = Winnowing::new(&Settings::default()).unwrap();
        let kept = |text: &str| {
            let (mut tokens, mut features) = (Tokens::default(), Vec::new());
            Tokenizer::default().tokenize(text, &mut tokens);
            method.features(Taken { tokens: &tokens, url: None }, &mut features);
            features
        };
        let words =
            |from: u64, count: u64| (from..from + count).map(|n| format!("w{}", hash::mix(n))).collect::<Vec<_>>().join(" ");
        for round in 0..200u64 {
            let passage = words(round * 1000, 24);
            let a = kept(&format!("{} {passage} {}", words(round * 1000 + 100, 50), words(round * 1000 + 200, 30)));
            let b = kept(&format!("{} {passage} {}", words(round * 1000 + 300, 20), words(round * 1000 + 400, 70)));
            assert!(a.iter().any(|gram| b.contains(gram)), "{round}");
        }
        assert!(kept("three words here").is_empty());
        assert_eq!(kept("five words are one gram").len(), 1, "fewer grams than a window");
    }
}
