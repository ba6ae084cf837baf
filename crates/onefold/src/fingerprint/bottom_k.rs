//! Bottom-k: the k smallest hashes of a set (Heintze 1996; §7.8).
//!
//! Of the k smallest of the union, the share that both have estimates the resemblance, with variance J(1−J)/k·(U−k)/(U−1); it is exact
//! where the union has no more than k. Candidates share as many of their smallest as an estimate near the threshold needs.

use serde::{Deserialize, Serialize};

use super::odds;
use super::{Aim, Fingerprint, Side, View};
use crate::error::{Error, Result};

/// What can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Hashes that are kept of a document.
    pub k: u32,
    /// How many standard deviations below the threshold an estimate may lie, where verification follows.
    pub margin: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { k: 128, margin: 3.0 }
    }
}

/// See the module.
#[derive(Debug)]
pub struct BottomK {
    k: usize,
    margin: f64,
    aim: Aim,
}

impl BottomK {
    pub(super) fn new(settings: &Settings, aim: Aim) -> Result<BottomK> {
        let Settings { k, margin } = *settings;
        if !(1..=1 << 20).contains(&k) {
            return Err(Error::setting("k", "from 1 to 1048576", k.to_string()));
        }
        if !(0.0..=100.0).contains(&margin) {
            return Err(Error::setting("margin", "from 0 to 100", margin.to_string()));
        }
        Ok(BottomK { k: k as usize, margin, aim })
    }

    /// Of so many of the smallest of the union, those that both need to have.
    fn needed(&self, seen: usize) -> u32 {
        let seen = seen as f64;
        let margin = if self.aim.verified { self.margin } else { 0.0 };
        let least = self.aim.least_estimate(margin, seen);
        // A little less than a rounding error may take away.
        ((least * seen - 1e-9).ceil().max(1.0)) as u32
    }
}

impl Fingerprint for BottomK {
    fn most_sketch(&self, size: u32, _features: u32) -> u32 {
        size.min(self.k as u32)
    }

    fn sketch(&self, view: View<'_>, sketch: &mut Vec<u64>) {
        let start = sketch.len();
        sketch.extend(view.shingles());
        if sketch.len() - start > self.k {
            sketch[start..].select_nth_unstable(self.k);
            sketch.truncate(start + self.k);
        }
        sketch[start..].sort_unstable();
    }

    fn keys(&self, _shingles: &[u64], sketch: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(sketch);
    }

    fn key_count(&self, set: Side) -> u32 {
        set.sketch
    }

    /// The smallest of the union are at least as many as either has kept, up to k.
    fn needed_keys(&self, a: Side, b: Side) -> u32 {
        self.needed((a.sketch.max(b.sketch) as usize).min(self.k))
    }

    fn compares_sketches(&self) -> bool {
        true
    }

    fn agrees(&self, a: &[u64], b: &[u64]) -> bool {
        let (seen, both) = smallest_of_union(a, b, self.k);
        both >= self.needed(seen)
    }

    fn estimate(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let (seen, both) = smallest_of_union(a, b, self.k);
        (seen > 0).then(|| f64::from(both) / seen as f64)
    }

    fn recall(&self, similarity: f64, union: u32) -> Option<f64> {
        let seen = self.k.min(union as usize);
        if seen == union as usize {
            return Some(f64::from(u8::from(similarity * f64::from(union) >= f64::from(self.needed(seen)))));
        }
        Some(odds::at_least(self.needed(seen), seen as u32, similarity))
    }
}

/// How many of the smallest `k` of the union there are, and how many of them both have.
fn smallest_of_union(a: &[u64], b: &[u64], k: usize) -> (usize, u32) {
    let (mut i, mut j, mut seen, mut both) = (0, 0, 0, 0);
    while seen < k && (i < a.len() || j < b.len()) {
        let (x, y) = (a.get(i).copied().unwrap_or(u64::MAX), b.get(j).copied().unwrap_or(u64::MAX));
        both += u32::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
        seen += 1;
    }
    (seen, both)
}

#[cfg(test)]
mod tests {
    use super::super::Common;
    use super::*;
    use crate::shingle::hash::mix;
    use crate::threshold::Threshold;

    fn sketch(method: &BottomK, shingles: &[u64]) -> Vec<u64> {
        let mut sketch = Vec::new();
        method.sketch(View::new(shingles, &[], &Common::default()), &mut sketch);
        sketch
    }

    #[test]
    fn small_unions_are_measured_exactly_and_large_ones_nearly() {
        let aim = Aim { threshold: Threshold::EIGHT_TENTHS, verified: false };
        let method = BottomK::new(&Settings::default(), aim).unwrap();
        let set = |from: u64, to: u64| (from..to).map(|i| mix(i) >> 3).collect::<Vec<u64>>();
        let estimate = |a: &[u64], b: &[u64]| method.estimate(&sketch(&method, a), &sketch(&method, b)).unwrap();
        assert_eq!(estimate(&set(0, 90), &set(10, 100)), 0.8);
        assert!(method.agrees(&sketch(&method, &set(0, 90)), &sketch(&method, &set(10, 100))), "at the threshold");
        let large = estimate(&set(0, 9000), &set(1000, 10_000));
        assert!((large - 0.8).abs() < 4.0 * (0.16f64 / 128.0).sqrt(), "{large}");
    }

    #[test]
    fn a_candidate_shares_as_many_keys_as_are_asked_for() {
        let aim = Aim { threshold: Threshold::EIGHT_TENTHS, verified: false };
        let method = BottomK::new(&Settings { k: 16, ..Settings::default() }, aim).unwrap();
        for round in 0..300u64 {
            let set = |from: u64, len: u64| (from..from + len).map(|i| mix(i * 7919 + round) >> 3).collect::<Vec<u64>>();
            let (a, b) = (sketch(&method, &set(0, 5 + round % 30)), sketch(&method, &set(round % 4, 5 + round % 31)));
            let side = |sketch: &[u64]| Side { size: 0, sketch: sketch.len() as u32 };
            let shared = a.iter().filter(|x| b.contains(x)).count() as u32;
            assert!(!method.agrees(&a, &b) || shared >= method.needed_keys(side(&a), side(&b)), "{round}");
        }
    }
}
