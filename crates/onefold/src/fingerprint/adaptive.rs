//! Sampling by value with a share for each size (Y35, Y39): small documents keep many of their shingles, large ones few.
//!
//! What matters is how many shingles of a pair are sampled, not which share of them (§8.3), so one share for all is too little for small
//! documents or too much for large ones. Samples are nested: a document's sample holds its own smaller ones. Two documents of different classes
//! are compared by the smaller of their shares, and nothing is lost where classes meet (Y45, §8.6). Which shares keep a promise is for
//! `onefold tune` to find.

use serde::{Deserialize, Serialize};

use super::sample::{detected, needed};
use super::{Aim, Fingerprint, Side, View};
use crate::error::{Error, Result};
use crate::shingle::hash::{SHINGLE_BITS, mix};
use crate::verify::common;

/// What can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Another seed samples other shingles.
    pub seed: u64,
    /// How many standard deviations below the threshold an estimate may lie, where verification follows.
    pub margin: f64,
    /// Sizes and the share that documents from each size on keep; the first begins at 0.
    pub classes: Vec<SizeClass>,
}

/// Documents of about one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeClass {
    /// Shingles from which on a document belongs to it.
    pub from: u32,
    /// The share of shingles that it keeps, above 0 and up to 1.
    pub share: f64,
}

impl Default for Settings {
    /// From 64 to 128 shingles of any but the smallest documents.
    fn default() -> Self {
        let class = |step: u32| SizeClass { from: if step == 0 { 0 } else { 64 << step }, share: 1.0 / f64::from(1 << step) };
        Settings { seed: 0, margin: 3.0, classes: (0..=8).map(class).collect() }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Adaptive {
    settings: Settings,
    aim: Aim,
}

impl Adaptive {
    pub(super) fn new(settings: &Settings, aim: Aim) -> Result<Adaptive> {
        let Settings { margin, classes, .. } = settings;
        if !(0.0..=100.0).contains(margin) {
            return Err(Error::setting("margin", "from 0 to 100", margin.to_string()));
        }
        if classes.first().is_none_or(|class| class.from != 0) || !classes.is_sorted_by(|a, b| a.from < b.from) {
            return Err(Error::setting("classes", "sizes that begin at 0 and rise", format!("{classes:?}")));
        }
        if let Some(class) = classes.iter().find(|class| !(class.share > 0.0 && class.share <= 1.0)) {
            return Err(Error::setting("share", "above 0 and up to 1", class.share.to_string()));
        }
        Ok(Adaptive { settings: settings.clone(), aim })
    }

    /// The share that a document with so many shingles keeps.
    fn share(&self, size: u32) -> f64 {
        let classes = &self.settings.classes;
        classes[classes.partition_point(|class| class.from <= size).saturating_sub(1)].share
    }

    fn needed(&self, sizes: u32) -> u32 {
        needed(self.aim, self.settings.margin, sizes)
    }

    /// The samples of two documents at the smaller of their shares.
    fn alike<'a>(&self, a: &'a [u64], b: &'a [u64]) -> Option<(&'a [u64], &'a [u64])> {
        let ((&size_a, a), (&size_b, b)) = (a.split_first()?, b.split_first()?);
        let bound = sample_bound(self.share(size_a as u32).min(self.share(size_b as u32)));
        let within = |sample: &'a [u64]| &sample[..sample.partition_point(|&value| value < bound)];
        Some((within(a), within(b)))
    }
}

/// Where a shingle stands among all under a seed, in 61 bits. A sample holds those below [`sample_bound`].
pub fn sample_value(shingle: u64, seed: u64) -> u64 {
    mix(shingle ^ mix(seed.wrapping_add(1))) >> (u64::BITS - SHINGLE_BITS)
}

/// Values below this one are in the sample of a share.
pub fn sample_bound(share: f64) -> u64 {
    (share * (1u64 << SHINGLE_BITS) as f64) as u64
}

impl Fingerprint for Adaptive {
    fn most_sketch(&self, size: u32, _features: u32) -> u32 {
        // Twice what is expected, and a few.
        1 + ((f64::from(size) * self.share(size) * 2.0) as u32).saturating_add(16).min(size)
    }

    /// The size of the document, and its sample, rising.
    fn sketch(&self, view: View<'_>, sketch: &mut Vec<u64>) {
        let start = sketch.len();
        let size = view.all().count();
        let bound = sample_bound(self.share(size as u32));
        sketch.push(size as u64);
        let values = view.shingles().map(|shingle| sample_value(shingle, self.settings.seed));
        sketch.extend(values.filter(|&value| value < bound));
        sketch[start + 1..].sort_unstable();
    }

    fn keys(&self, _shingles: &[u64], sketch: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(sketch.get(1..).unwrap_or_default());
    }

    fn key_count(&self, set: Side) -> u32 {
        set.sketch.saturating_sub(1)
    }

    /// Of different classes the sample of the larger share counts in part; the other's counts whole.
    fn needed_keys(&self, a: Side, b: Side) -> u32 {
        let (of_a, of_b) = (self.share(a.size), self.share(b.size));
        let sizes = match of_a.total_cmp(&of_b) {
            std::cmp::Ordering::Equal => self.key_count(a) + self.key_count(b),
            std::cmp::Ordering::Less => self.key_count(a),
            std::cmp::Ordering::Greater => self.key_count(b),
        };
        self.needed(sizes)
    }

    fn compares_sketches(&self) -> bool {
        true
    }

    fn agrees(&self, a: &[u64], b: &[u64]) -> bool {
        self.alike(a, b).is_some_and(|(a, b)| common(a, b) >= self.needed((a.len() + b.len()) as u32))
    }

    fn estimate(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let (a, b) = self.alike(a, b)?;
        let common = common(a, b) as usize;
        let union = a.len() + b.len() - common;
        (union > 0).then(|| common as f64 / union as f64)
    }

    /// §8.1, for documents of one size.
    fn recall(&self, similarity: f64, union: u32) -> Option<f64> {
        let size = f64::from(union) * (1.0 + similarity) / 2.0;
        let common = ((similarity * f64::from(union)).round() as u32).min(union);
        Some(detected(common, union - common, self.share(size as u32), |sizes| self.needed(sizes)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Common;
    use super::*;

    fn built(threshold: &str, verified: bool) -> Adaptive {
        let classes = vec![SizeClass { from: 0, share: 0.5 }, SizeClass { from: 1000, share: 0.125 }];
        Adaptive::new(&Settings { classes, ..Settings::default() }, Aim { threshold: threshold.parse().unwrap(), verified })
            .unwrap()
    }

    fn sketch(method: &Adaptive, numbers: std::ops::Range<u64>) -> Vec<u64> {
        let shingles: Vec<u64> = numbers.map(|n| mix(n) >> 3).collect();
        let mut sketch = Vec::new();
        method.sketch(View::new(&shingles, &[], &Common::default()), &mut sketch);
        sketch
    }

    /// Y45: 999 and 1001 shingles are of different classes, and compared all the same, by the smaller share.
    #[test]
    fn documents_of_different_classes_are_compared_by_the_smaller_share() {
        let method = built("0.8", false);
        let (small, large) = (sketch(&method, 0..999), sketch(&method, 0..1001));
        assert!((400..600).contains(&small.len()), "{}", small.len());
        assert!((90..160).contains(&large.len()), "{}", large.len());
        assert!(method.estimate(&small, &large).unwrap() > 0.97);
        assert!(method.agrees(&small, &large) && method.agrees(&large, &small));
        let far = sketch(&method, 500..1501);
        assert!((method.estimate(&small, &far).unwrap() - 1.0 / 3.0).abs() < 0.12);
        assert!(!method.agrees(&small, &far));
    }

    /// Keys that two sets need never exclude a pair whose samples agree.
    #[test]
    fn fewer_keys_are_needed_than_agreement_takes() {
        for verified in [false, true] {
            let method = built("0.6", verified);
            for shift in (0..700).step_by(20) {
                let (a, b) = (sketch(&method, 0..950), sketch(&method, shift..shift + 1050));
                let side = |sketch: &[u64]| Side { size: sketch[0] as u32, sketch: sketch.len() as u32 };
                if method.agrees(&a, &b) {
                    assert!(common(&a[1..], &b[1..]) >= method.needed_keys(side(&a), side(&b)));
                }
            }
        }
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let aim = Aim { threshold: "0.8".parse().unwrap(), verified: true };
        let class = |from, share| SizeClass { from, share };
        for classes in [vec![], vec![class(5, 1.0)], vec![class(0, 0.0)], vec![class(0, 1.5)], vec![class(0, 1.0), class(0, 0.5)]]
        {
            assert!(Adaptive::new(&Settings { classes: classes.clone(), ..Settings::default() }, aim).is_err(), "{classes:?}");
        }
        assert!(Adaptive::new(&Settings { margin: -1.0, ..Settings::default() }, aim).is_err());
    }
}
