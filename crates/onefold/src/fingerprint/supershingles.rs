//! Supershingles: minima hashed together, some at a time, into a few features; two sets with enough equal features are a candidate.
//!
//! Two settings of it are published. Fetterly (M10): 84 one-to-one functions, the smallest shingle under each, 14 adjacent ones hashed into
//! each of 6 supershingles. Wang and Gemmell (W5): the 14 smallest under each of 6 functions, hashed into a feature. A feature agrees
//! with probability J^14, or a little less, and 2 of 6 have to: half of the pairs at 0.91 are found (§7.2), so it *cannot* find most at 0.8.
//! All pairs of features, hashed, are megashingles: one of these is equal where two features are.

use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

use super::odds;
use super::{Fingerprint, Side, View};
use crate::error::{Error, Result};
use crate::shingle::hash::mix;
use crate::shingle::rabin::{Rabin, random_irreducible};

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Features of a document.
    pub features: u32,
    /// Shingles that make a feature.
    pub per_feature: u32,
    /// Which shingles these are.
    pub minima: Minima,
    /// Features that have to agree.
    pub needed: u32,
    /// Join on pairs of features, where two have to agree, instead of counting equal ones.
    pub megashingles: bool,
    /// Of the functions.
    pub seed: u64,
}

/// Which shingles make a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Minima {
    /// The smallest under each of as many functions (Fetterly).
    OneOfEach,
    /// The smallest ones under one function: Rabin fingerprints for a polynomial of its own (Wang and Gemmell).
    ManyOfOne,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { features: 6, per_feature: 14, minima: Minima::OneOfEach, needed: 2, megashingles: true, seed: 0 }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Supershingles {
    settings: Settings,
    functions: Functions,
}

#[derive(Debug)]
enum Functions {
    /// An odd factor and a summand for each: one-to-one on 64 bits.
    Linear(Vec<(u64, u64)>),
    /// One for each feature.
    Rabin(Vec<Rabin>),
}

impl Supershingles {
    pub(super) fn new(settings: &Settings) -> Result<Supershingles> {
        let Settings { features, per_feature, minima, needed, megashingles, seed } = *settings;
        if !(1..=64).contains(&features) {
            return Err(Error::setting("features", "from 1 to 64", features.to_string()));
        }
        if !(1..=1024).contains(&per_feature) {
            return Err(Error::setting("per-feature", "from 1 to 1024", per_feature.to_string()));
        }
        if !(1..=features).contains(&needed) {
            return Err(Error::setting("needed", format!("from 1 to the number of features ({features})"), needed.to_string()));
        }
        if megashingles && needed != 2 {
            return Err(Error::setting("megashingles", "false where other than 2 features are needed", "true"));
        }
        // Mixed first, or the functions of the next seed would be these, one further on.
        let start = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
        let random = |n: u64| mix(start.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let functions = match minima {
            Minima::OneOfEach => {
                let linear = |i: u64| (random(2 * i) | 1, random(2 * i + 1));
                Functions::Linear((0..u64::from(features * per_feature)).map(linear).collect())
            }
            Minima::ManyOfOne => Functions::Rabin((0..u64::from(features)).map(|number| function(number, seed)).collect()),
        };
        Ok(Supershingles { settings: settings.clone(), functions })
    }

    /// The smallest shingle under each function, by mixed value: low values of a linear function are no better than others.
    fn smallest_of_each(&self, functions: &[(u64, u64)], shingles: &[u64], sketch: &mut Vec<u64>) {
        let smallest = |&(factor, summand): &(u64, u64)| {
            let value = |shingle: &u64| mix(shingle.wrapping_mul(factor).wrapping_add(summand));
            shingles.iter().map(value).min().unwrap_or(0)
        };
        let minima: Vec<u64> = functions.iter().map(smallest).collect();
        sketch.extend(minima.chunks(self.settings.per_feature as usize).enumerate().map(feature));
    }

    fn smallest_of_one(&self, functions: &[Rabin], shingles: &[u64], sketch: &mut Vec<u64>) {
        let count = self.settings.per_feature as usize;
        let mut values = Vec::with_capacity(shingles.len());
        for (number, rabin) in functions.iter().enumerate() {
            values.clear();
            values.extend(shingles.iter().map(|&shingle| mix(rabin.push_word(1, shingle))));
            values.select_nth_unstable(count - 1);
            values[..count].sort_unstable();
            sketch.push(feature((number, &values[..count])));
        }
    }
}

/// A polynomial of its own for each feature and seed.
fn function(number: u64, seed: u64) -> Rabin {
    random_irreducible(64, seed.wrapping_mul(1 << 16).wrapping_add(number))
}

/// SHA-1 of the minima, with the number of the feature; its first eight bytes.
fn feature((number, minima): (usize, &[u64])) -> u64 {
    let mut hash = Sha1::new_with_prefix([number as u8]);
    minima.iter().for_each(|minimum| hash.update(minimum.to_be_bytes()));
    super::first_bytes(&hash.finalize())
}

impl Fingerprint for Supershingles {
    fn most_sketch(&self, _size: u32, _features: u32) -> u32 {
        self.settings.features
    }

    /// The features; none where a set has too few shingles for one (W19).
    fn sketch(&self, view: View<'_>, sketch: &mut Vec<u64>) {
        let shingles: Vec<u64> = view.shingles().collect();
        match &self.functions {
            _ if shingles.is_empty() => (),
            Functions::Linear(functions) => self.smallest_of_each(functions, &shingles, sketch),
            Functions::Rabin(_) if shingles.len() < self.settings.per_feature as usize => (),
            Functions::Rabin(functions) => self.smallest_of_one(functions, &shingles, sketch),
        }
    }

    fn keys(&self, _shingles: &[u64], sketch: &[u64], keys: &mut Vec<u64>) {
        if !self.settings.megashingles {
            keys.extend_from_slice(sketch);
            return;
        }
        for (at, &first) in sketch.iter().enumerate() {
            keys.extend(sketch[at + 1..].iter().map(|&second| mix(mix(first).wrapping_add(second))));
        }
    }

    fn key_count(&self, set: Side) -> u32 {
        if self.settings.megashingles { set.sketch * set.sketch.saturating_sub(1) / 2 } else { set.sketch }
    }

    fn needed_keys(&self, _a: Side, _b: Side) -> u32 {
        if self.settings.megashingles { 1 } else { self.settings.needed }
    }

    /// The share of features that agree: no estimate of the resemblance, but it grows with it.
    fn estimate(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let equal = a.iter().zip(b).filter(|(x, y)| x == y).count();
        (!a.is_empty() && a.len() == b.len()).then(|| equal as f64 / a.len() as f64)
    }

    /// §7.2.
    fn recall(&self, similarity: f64, union: u32) -> Option<f64> {
        let Settings { features, per_feature, needed, .. } = self.settings;
        let agrees = match self.functions {
            Functions::Linear(_) => similarity.powi(per_feature as i32),
            Functions::Rabin(_) => {
                if union < per_feature {
                    return Some(0.0);
                }
                let common = similarity * f64::from(union);
                let odds = |i: u32| ((common - f64::from(i)) / (f64::from(union) - f64::from(i))).max(0.0);
                (0..per_feature).map(odds).product()
            }
        };
        Some(odds::at_least(needed, features, agrees))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Common;
    use super::*;

    fn sketch(method: &Supershingles, shingles: &[u64]) -> Vec<u64> {
        let mut sketch = Vec::new();
        method.sketch(View::new(shingles, &[], &Common::default()), &mut sketch);
        sketch
    }

    /// The table of §7.2.
    #[test]
    fn recall_is_the_published_curve() {
        let method = Supershingles::new(&Settings::default()).unwrap();
        for (similarity, expected) in [(0.8, 0.026), (0.85, 0.120), (0.9, 0.415), (0.95, 0.879), (0.98, 0.996)] {
            let recall = method.recall(similarity, 1000).unwrap();
            assert!((recall - expected).abs() < 0.001, "{similarity}: {recall}");
        }
        let many = Settings { minima: Minima::ManyOfOne, megashingles: false, needed: 1, features: 1, ..Settings::default() };
        let many = Supershingles::new(&many).unwrap();
        for (union, expected) in [(40, 0.417), (100, 0.463), (500, 0.483)] {
            let recall = many.recall(0.95, union).unwrap();
            assert!((recall - expected).abs() < 0.001, "{union}: {recall}");
        }
    }

    #[test]
    fn one_megashingle_is_equal_where_two_features_are() {
        let method = Supershingles::new(&Settings::default()).unwrap();
        let keys = |sketch: &[u64]| {
            let mut keys = Vec::new();
            method.keys(&[], sketch, &mut keys);
            assert_eq!(keys.len() as u32, method.key_count(Side { size: 9, sketch: sketch.len() as u32 }));
            keys
        };
        let equal = |a: &[u64], b: &[u64]| keys(a).iter().zip(keys(b)).filter(|(x, y)| *x == y).count();
        assert_eq!(keys(&[1, 2, 3, 4, 5, 6]).len(), 15);
        assert_eq!(equal(&[1, 2, 3, 4, 5, 6], &[1, 20, 30, 40, 50, 6]), 1);
        assert_eq!(equal(&[1, 2, 3, 4, 5, 6], &[1, 20, 30, 40, 50, 60]), 0);
        assert_eq!(equal(&[1, 2, 3, 4, 5, 6], &[2, 1, 30, 40, 50, 60]), 0, "order matters");
    }

    #[test]
    fn too_small_sets_have_no_feature() {
        let settings = Settings { minima: Minima::ManyOfOne, megashingles: false, ..Settings::default() };
        let method = Supershingles::new(&settings).unwrap();
        let set: Vec<u64> = (0..14).map(|i| mix(i) >> 3).collect();
        assert!(sketch(&method, &set[..13]).is_empty());
        assert_eq!(sketch(&method, &set).len(), 6);
        let mut turned = set.clone();
        turned.reverse();
        assert_eq!(sketch(&method, &turned), sketch(&method, &set), "order does not matter");
    }

    #[test]
    fn settings_that_contradict_are_refused() {
        let bad = [
            Settings { features: 0, ..Settings::default() },
            Settings { per_feature: 0, ..Settings::default() },
            Settings { needed: 7, megashingles: false, ..Settings::default() },
            Settings { needed: 3, ..Settings::default() },
        ];
        for settings in bad {
            assert!(Supershingles::new(&settings).is_err(), "{settings:?}");
        }
    }
}
