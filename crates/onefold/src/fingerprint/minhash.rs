//! MinHash with bands: k minima of k hash functions, cut into bands of rows; two sets with an equal band are a candidate.
//!
//! A pair of resemblance J shares a band with probability 1 − (1 − J^rows)^bands. Verification follows, so bands are chosen for
//! recall: the most rows for which a pair at the threshold is missed with at most one percent.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::Fingerprint;
use crate::error::{Error, Result};
use crate::shingle::hash::mix;
use crate::threshold::Threshold;

/// A pair at the threshold may be missed so often when bands are chosen by us.
const MISS_RATE: f64 = 0.01;

/// What can be set; bands and rows follow from the threshold where they are not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Number of hash functions.
    pub num_perm: u32,
    /// Number of bands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bands: Option<u32>,
    /// Minima in a band; more rows propose fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
    /// Of the hash functions.
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
    threshold: Threshold,
    /// An odd factor and a summand for each function: one-to-one on 64 bits.
    functions: Vec<(u64, u64)>,
}

impl MinHash {
    pub(super) fn new(settings: &Settings, threshold: Threshold) -> Result<Self> {
        let (bands, rows) = bands_and_rows(settings, threshold)?;
        let random = |n: u64| mix(settings.seed.wrapping_add(n).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let functions = (0..u64::from(bands * rows)).map(|i| (random(2 * i) | 1, random(2 * i + 1))).collect();
        Ok(MinHash { bands, rows, threshold, functions })
    }

    /// Bands and rows in use.
    pub fn shape(&self) -> (u32, u32) {
        (self.bands, self.rows)
    }

    /// The probability that a pair exactly at `threshold` shares no band.
    pub fn miss_rate(&self, threshold: Threshold) -> f64 {
        miss_rate(threshold.as_f64(), self.bands, self.rows)
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

impl Fingerprint for MinHash {
    fn sketch(&self, shingles: &[u64], sketch: &mut Vec<u32>) {
        for &(factor, summand) in &self.functions {
            let minimum = shingles.iter().map(|s| s.wrapping_mul(factor).wrapping_add(summand) >> 32).min();
            sketch.push(minimum.unwrap_or(0) as u32);
        }
    }

    fn keys(&self, shingles: &[u64], sketch: &[u32], keys: &mut Vec<u64>) {
        if shingles.is_empty() {
            return;
        }
        for (band, minima) in sketch.chunks(self.rows as usize).enumerate() {
            keys.push(minima.iter().fold(band as u64, |key, &m| mix(key ^ u64::from(m)).wrapping_add(1)));
        }
    }

    fn key_count(&self, size: u32) -> u32 {
        if size == 0 { 0 } else { self.bands }
    }

    fn sketch_len(&self) -> usize {
        self.functions.len()
    }

    /// Verification would refuse all others.
    fn partner_sizes(&self, size: u32) -> RangeInclusive<u32> {
        self.threshold.smallest_partner(size)..=self.threshold.largest_partner(size)
    }

    fn largest_partner_from(&self, _size: u32, _place: u32) -> u32 {
        u32::MAX
    }

    fn needed_keys(&self, _a: u32, _b: u32) -> u32 {
        1
    }

    fn finds_all(&self) -> bool {
        false
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Option<f64> {
        let equal = a.iter().zip(b).filter(|(x, y)| x == y).count();
        Some(equal as f64 / self.functions.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(settings: Settings, threshold: &str) -> Result<MinHash> {
        MinHash::new(&settings, threshold.parse().unwrap())
    }

    #[test]
    fn bands_follow_from_the_threshold() {
        assert_eq!(built(Settings::default(), "0.8").unwrap().shape(), (21, 6));
        let (_, low) = built(Settings::default(), "0.5").unwrap().shape();
        let (_, high) = built(Settings::default(), "0.95").unwrap().shape();
        assert!(low < 6 && high > 6);
        let given = Settings { bands: Some(16), rows: Some(8), ..Settings::default() };
        assert_eq!(built(given, "0.8").unwrap().shape(), (16, 8));
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

    #[test]
    fn estimates_lie_near_the_resemblance() {
        let method = built(Settings::default(), "0.5").unwrap();
        let set = |range: std::ops::Range<u64>| range.map(|i| mix(i) >> 3).collect::<Vec<_>>();
        let sketch = |shingles: &[u64]| {
            let mut sketch = Vec::new();
            method.sketch(shingles, &mut sketch);
            sketch
        };
        let (a, b) = (sketch(&set(0..1000)), sketch(&set(250..1250)));
        let estimate = method.estimate(&a, &b).unwrap();
        assert!((estimate - 0.6).abs() < 4.0 * (0.6f64 * 0.4 / 128.0).sqrt(), "{estimate}");
    }
}
