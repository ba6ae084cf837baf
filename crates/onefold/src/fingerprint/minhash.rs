//! MinHash with bands: k minima, cut into bands of rows; two sets with an equal band are a candidate.
//!
//! A pair of resemblance J shares a band with probability 1 − (1 − J^rows)^bands. Verification follows, so bands are chosen for
//! recall: the most rows for which a pair at the threshold is missed with at most one percent.
//!
//! One hash function serves for all minima: shingles fall into k bins, and each bin keeps its smallest (one-permutation hashing). An
//! empty bin takes what another has that chance chooses, the same for all sets (Shrivastava's optimal densification). Each minimum then
//! agrees with probability J, as with k functions, and the cost is that of one.

use serde::{Deserialize, Serialize};

use super::{Aim, Fingerprint, Side, View};
use crate::error::{Error, Result};
use crate::shingle::hash::mix;
use crate::threshold::Threshold;

/// A pair at the threshold may be missed so often when bands are chosen by us.
const MISS_RATE: f64 = 0.01;

/// What can be set; bands and rows follow from the threshold where they are not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Number of minima.
    pub num_perm: u32,
    /// Number of bands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bands: Option<u32>,
    /// Minima in a band; more rows propose fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
    /// Of the hash function.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { num_perm: 128, bands: None, rows: None, seed: 42 }
    }
}

/// See the module.
#[derive(Debug)]
pub struct MinHash {
    bands: u32,
    rows: u32,
    seed: u64,
    /// Minima that have to agree before a candidate is verified: what four standard deviations below the threshold leave.
    needed: Option<u32>,
}

impl MinHash {
    pub(super) fn new(settings: &Settings, aim: Aim) -> Result<Self> {
        let (bands, rows) = bands_and_rows(settings, aim.threshold)?;
        let minima = f64::from(bands * rows);
        let least = aim.least_estimate(4.0, minima);
        let needed = aim.verified.then(|| (least * minima).floor().max(0.0) as u32);
        Ok(MinHash { bands, rows, seed: mix(settings.seed ^ 0x9e37_79b9_7f4a_7c15), needed })
    }

    fn bins(&self) -> usize {
        (self.bands * self.rows) as usize
    }

    /// Minima that agree.
    fn equal(&self, a: &[u64], b: &[u64]) -> u32 {
        let halves = |(x, y): (&u64, &u64)| u32::from(*x as u32 == *y as u32) + u32::from(x >> 32 == y >> 32);
        let equal: u32 = a.iter().zip(b).map(halves).sum();
        // The second half of the last word may be nobody's.
        equal - (2 * a.len() - self.bins()) as u32
    }
}

fn miss_rate(similarity: f64, bands: u32, rows: u32) -> f64 {
    (1.0 - similarity.powi(rows as i32)).powi(bands as i32)
}

fn bands_and_rows(settings: &Settings, threshold: Threshold) -> Result<(u32, u32)> {
    let k = settings.num_perm;
    if !(1..=4096).contains(&k) {
        return Err(Error::setting("num-perm", "from 1 to 4096", k.to_string()));
    }
    let fits = |bands: u32, rows: u32| bands > 0 && rows > 0 && bands.checked_mul(rows).is_some_and(|product| product <= k);
    let chosen = match (settings.bands, settings.rows) {
        (Some(bands), Some(rows)) => (bands, rows),
        (Some(bands), None) => (bands, k.checked_div(bands).unwrap_or(0)),
        (None, Some(rows)) => (k.checked_div(rows).unwrap_or(0), rows),
        (None, None) => {
            let sure = |rows: &u32| miss_rate(threshold.as_f64(), k / rows, *rows) <= MISS_RATE;
            let rows = (1..=k).rev().find(sure).unwrap_or(1);
            (k / rows, rows)
        }
    };
    if fits(chosen.0, chosen.1) {
        return Ok(chosen);
    }
    let allowed = format!("such that bands × rows is from 1 to num-perm ({k})");
    Err(Error::setting("bands and rows", allowed, format!("{} × {}", chosen.0, chosen.1)))
}

/// Two minima in a word.
fn minimum(sketch: &[u64], at: usize) -> u32 {
    (sketch[at / 2] >> (32 * (at % 2))) as u32
}

impl Fingerprint for MinHash {
    fn most_sketch(&self, _size: u32, _features: u32) -> u32 {
        self.bins().div_ceil(2) as u32
    }

    fn sketch(&self, view: View<'_>, sketch: &mut Vec<u64>) {
        /// No shingle's: its hash has 32 bits.
        const EMPTY: u64 = u64::MAX;
        let bins = self.bins();
        let mut minima = vec![EMPTY; bins];
        for shingle in view.shingles() {
            let hash = mix(shingle ^ self.seed);
            let bin = ((u128::from(hash) * bins as u128) >> 64) as usize;
            minima[bin] = minima[bin].min(hash & u64::from(u32::MAX));
        }
        if minima.iter().all(|&minimum| minimum == EMPTY) {
            return;
        }
        let taken = minima.clone();
        for (bin, minimum) in minima.iter_mut().enumerate().filter(|(_, minimum)| **minimum == EMPTY) {
            let other = |attempt: u64| mix(self.seed ^ (bin as u64) << 32 ^ attempt) as usize % bins;
            // Chance finds one sooner or later: there is one.
            *minimum = (1..).map(|attempt| taken[other(attempt)]).find(|&minimum| minimum != EMPTY).unwrap_or(EMPTY);
        }
        sketch.extend(minima.chunks(2).map(|two| two[0] | two.get(1).copied().unwrap_or(0) << 32));
    }

    fn keys(&self, _shingles: &[u64], sketch: &[u64], keys: &mut Vec<u64>) {
        if sketch.is_empty() {
            return;
        }
        for band in 0..self.bands as usize {
            let minima = (0..self.rows as usize).map(|row| minimum(sketch, band * self.rows as usize + row));
            keys.push(minima.fold(band as u64, |key, minimum| mix(key ^ u64::from(minimum)).wrapping_add(1)));
        }
    }

    fn key_count(&self, set: Side) -> u32 {
        if set.sketch == 0 { 0 } else { self.bands }
    }

    fn needed_keys(&self, _a: Side, _b: Side) -> u32 {
        1
    }

    fn compares_sketches(&self) -> bool {
        self.needed.is_some()
    }

    /// Merging sets takes far longer than comparing their minima.
    fn agrees(&self, a: &[u64], b: &[u64]) -> bool {
        self.needed.is_none_or(|needed| self.equal(a, b) >= needed)
    }

    fn estimate(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        (!a.is_empty() && !b.is_empty()).then(|| f64::from(self.equal(a, b)) / self.bins() as f64)
    }

    fn recall(&self, similarity: f64, _union: u32) -> Option<f64> {
        Some(1.0 - miss_rate(similarity, self.bands, self.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Common;
    use super::*;

    fn built(settings: Settings, threshold: &str) -> Result<MinHash> {
        MinHash::new(&settings, Aim { threshold: threshold.parse().unwrap(), verified: true })
    }

    #[test]
    fn bands_follow_from_the_threshold() {
        let shape = |settings: Settings, threshold: &str| {
            let MinHash { bands, rows, .. } = built(settings, threshold).unwrap();
            (bands, rows)
        };
        assert_eq!(shape(Settings::default(), "0.8"), (21, 6));
        let ((_, low), (_, high)) = (shape(Settings::default(), "0.5"), shape(Settings::default(), "0.95"));
        assert!(low < 6 && high > 6);
        let given = Settings { bands: Some(16), rows: Some(8), ..Settings::default() };
        assert_eq!(shape(given, "0.8"), (16, 8));
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let bad = [
            Settings { bands: Some(32), rows: Some(8), ..Settings::default() },
            Settings { bands: Some(0), ..Settings::default() },
            Settings { rows: Some(129), ..Settings::default() },
            Settings { num_perm: 0, ..Settings::default() },
        ];
        for settings in bad {
            assert!(built(settings.clone(), "0.8").is_err(), "{settings:?}");
        }
    }

    /// Sets with more shingles than bins, and with far fewer.
    #[test]
    fn estimates_lie_near_the_resemblance() {
        for size in [1000, 100, 12] {
            let mut sum = 0.0;
            let rounds = 200;
            for seed in 0..rounds {
                let method = built(Settings { seed, ..Settings::default() }, "0.5").unwrap();
                let sketch = |from: u64| {
                    let shingles: Vec<u64> = (from..from + size).map(|i| mix(i) >> 3).collect();
                    let mut sketch = Vec::new();
                    method.sketch(View::new(&shingles, &[], &Common::default()), &mut sketch);
                    sketch
                };
                sum += method.estimate(&sketch(0), &sketch(size / 4)).unwrap();
            }
            let (mean, truth) = (sum / rounds as f64, 0.6);
            let deviation = (truth * (1.0 - truth) / 126f64.min(size as f64) / rounds as f64).sqrt();
            assert!((mean - truth).abs() < 4.0 * deviation, "{size}: {mean}");
        }
    }
}
