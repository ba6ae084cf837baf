//! Henzinger 2006 (M17): Broder's and Charikar's methods together.
//!
//! B: supershingles, two of which agree. C: a SimHash of 384 bits over words. A pair of B is a candidate if the documents are of different
//! sites, or if C agrees, too: on one site B takes pages of one template for copies. 355 equal bits of 384 speak for a cosine of 0.97.

use serde::{Deserialize, Serialize};

use super::{Fingerprint, Side, Supershingles, SupershinglesSettings, Taken, View};
use crate::error::{Error, Result};
use crate::shingle::hash::mix;
use crate::verify::simhash::SimHash;

/// Words of the SimHash.
const WORDS: usize = 6;
/// Its bits.
const BITS: u32 = 64 * WORDS as u32;

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Of 384 bits, so many have to agree on one site.
    pub equal_bits: u32,
    /// Features that have to agree, of 6 with 14 minima each.
    pub needed: u32,
    /// Of the functions.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { equal_bits: 355, needed: 2, seed: 0 }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Henzinger {
    settings: Settings,
    supershingles: Supershingles,
}

impl Henzinger {
    pub(super) fn new(settings: &Settings) -> Result<Henzinger> {
        let Settings { equal_bits, needed, seed } = *settings;
        if equal_bits > BITS {
            return Err(Error::setting("equal-bits", format!("from 0 to {BITS}"), equal_bits.to_string()));
        }
        let of_supershingles = SupershinglesSettings { needed, megashingles: false, seed, ..SupershinglesSettings::default() };
        Ok(Henzinger { settings: settings.clone(), supershingles: Supershingles::new(&of_supershingles)? })
    }
}

/// The host of an address, as a number; of documents with one set that of the first stands for all; 0 where it is not known.
fn site(url: Option<&str>) -> u64 {
    let rest = url.map(|url| url.split_once("://").map_or(url, |(_, rest)| rest));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#', ':']).next()).unwrap_or_default();
    let host = host.trim_start_matches("www.").to_ascii_lowercase();
    if host.is_empty() { 0 } else { host.bytes().fold(1, |hash, byte| mix(hash ^ u64::from(byte))) }
}

/// A sketch is the site, the words of the SimHash and the supershingles.
fn supershingles(sketch: &[u64]) -> &[u64] {
    sketch.get(1 + WORDS..).unwrap_or_default()
}

impl Fingerprint for Henzinger {
    fn takes_features(&self) -> bool {
        true
    }

    fn features(&self, taken: Taken<'_>, features: &mut Vec<u64>) {
        let mut words = taken.tokens.hashes().to_vec();
        features.push(site(taken.url));
        for part in 0..WORDS as u64 {
            words.iter_mut().for_each(|word| *word = mix(*word ^ part));
            features.push(SimHash::of_features(&words).map_or(0, |code| code.0));
        }
    }

    fn most_sketch(&self, size: u32, features: u32) -> u32 {
        1 + WORDS as u32 + self.supershingles.most_sketch(size, features)
    }

    fn sketch(&self, view: View<'_>, sketch: &mut Vec<u64>) {
        sketch.extend_from_slice(view.features);
        self.supershingles.sketch(view, sketch);
    }

    fn keys(&self, shingles: &[u64], sketch: &[u64], keys: &mut Vec<u64>) {
        self.supershingles.keys(shingles, supershingles(sketch), keys);
    }

    fn key_count(&self, set: Side) -> u32 {
        self.supershingles.key_count(Side { sketch: set.sketch.saturating_sub(1 + WORDS as u32), ..set })
    }

    fn needed_keys(&self, a: Side, b: Side) -> u32 {
        self.supershingles.needed_keys(a, b)
    }

    fn compares_sketches(&self) -> bool {
        true
    }

    /// Where a site is not known it is taken for the same: that asks for more.
    fn agrees(&self, a: &[u64], b: &[u64]) -> bool {
        let sites = [a, b].map(|sketch| sketch.first().copied().unwrap_or(0));
        let different = a[1..=WORDS].iter().zip(&b[1..=WORDS]).map(|(x, y)| (x ^ y).count_ones()).sum::<u32>();
        (sites[0] != sites[1] && !sites.contains(&0)) || BITS - different >= self.settings.equal_bits
    }

    fn estimate(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        self.supershingles.estimate(supershingles(a), supershingles(b))
    }

    /// Of pairs from different sites.
    fn recall(&self, similarity: f64, union: u32) -> Option<f64> {
        self.supershingles.recall(similarity, union)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Common;
    use super::*;
    use crate::normalize::{Tokenizer, Tokens};
    use crate::shingle::{Recipe, set_of};

    #[test]
    fn sites_are_hosts() {
        assert_eq!(site(Some("http://www.Example.org/a?b")), site(Some("https://example.org:80/c")));
        assert_ne!(site(Some("http://example.org/")), site(Some("http://example.com/")));
        assert_eq!(site(None), 0);
    }

    #[test]
    fn on_one_site_both_have_to_agree() {
        let method = Henzinger::new(&Settings { equal_bits: 370, ..Settings::default() }).unwrap();
        let sketch = |text: &str, url: Option<&str>| {
            let (mut tokens, mut features, mut sketch) = (Tokens::default(), Vec::new(), Vec::new());
            Tokenizer::default().tokenize(text, &mut tokens);
            method.features(Taken { tokens: &tokens, url }, &mut features);
            method.sketch(View::new(&set_of(text, Recipe::of_words(3)), &features, &Common::default()), &mut sketch);
            assert_eq!(sketch.len() as u32, method.most_sketch(9, 0));
            sketch
        };
        let text: String = (0..300).map(|n| format!("w{} ", n * n % 211)).collect();
        let other: String = format!("{text} {}", "other ".repeat(60));
        let [here, there] = ["http://a.org/1", "http://b.org/2"].map(Some);
        assert!(method.agrees(&sketch(&text, here), &sketch(&text, here)));
        assert!(!method.agrees(&sketch(&text, here), &sketch(&other, here)));
        assert!(method.agrees(&sketch(&text, here), &sketch(&other, there)));
        assert!(!method.agrees(&sketch(&text, None), &sketch(&other, there)), "an unknown site may be the same");
    }
}
