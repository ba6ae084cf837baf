//! Sampling by value: of every n shingles the one whose hash leaves a chosen remainder (Broder's and Ye's `mod n`; Y18, N14).
//!
//! Both documents of a pair keep the same of their common shingles, so the resemblance of the samples estimates that of the sets:
//! without bias, with variance J(1−J)(1−p)/(pU). Where verification follows, pairs are proposed whose estimate is a few deviations below
//! the threshold; where it does not, the estimate decides (Y23). The sizes that count are those of the samples. Common shingles may leave
//! both, or the numerator alone as in Nikkhoo's reducer (N23). Ye compared documents of about one length only (Y24): with `groups` a sampled
//! shingle is another in each group of lengths, so that nothing is found between groups.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::odds;
use super::{Aim, Fingerprint, Side, Taken, View};
use crate::error::{Error, Result};
use crate::shingle::hash::mix;
use crate::threshold::Threshold;

/// What can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// One in so many shingles is kept.
    pub modulo: u32,
    /// The remainder that is kept.
    pub residue: u32,
    /// Most shingles that a document keeps: those with the smallest hashes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_shingles: Option<u32>,
    /// Whether common shingles that are left out still count in the size of a document.
    pub sizes: Sizes,
    /// So many common shingles make a candidate, whatever the sizes (M8); otherwise the threshold says how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<u32>,
    /// How many standard deviations below the threshold an estimate may lie, where verification follows.
    pub margin: f64,
    /// Whether documents are compared only with those of about their length, in words (Y24); pairs between groups are lost (Y45).
    pub groups: bool,
}

/// Which shingles make the size of a document where common ones are left out (N23).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// Those that are left.
    Kept,
    /// All, so that leaving some out can only lower an estimate.
    Full,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { modulo: 16, residue: 0, max_shingles: None, sizes: Sizes::Kept, least: None, margin: 3.0, groups: false }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Sample {
    settings: Settings,
    aim: Aim,
}

impl Sample {
    pub(super) fn new(settings: &Settings, aim: Aim) -> Result<Sample> {
        let Settings { modulo, residue, max_shingles, margin, .. } = *settings;
        if modulo == 0 {
            return Err(Error::setting("modulo", "at least 1", "0"));
        }
        if residue >= modulo {
            return Err(Error::setting("residue", format!("below the modulo ({modulo})"), residue.to_string()));
        }
        for (name, value) in [("max-shingles", max_shingles), ("least", settings.least)] {
            if value == Some(0) {
                return Err(Error::setting(name, "at least 1", "0"));
            }
        }
        if !(0.0..=100.0).contains(&margin) {
            return Err(Error::setting("margin", "from 0 to 100", margin.to_string()));
        }
        Ok(Sample { settings: settings.clone(), aim })
    }

    /// A shingle as it is compared: with groups, one of its document's group.
    fn in_group(&self, view: &View<'_>) -> impl Fn(u64) -> u64 + use<> {
        let group = if self.settings.groups { view.features.first().copied() } else { None };
        move |shingle| group.map_or(shingle, |group| mix(shingle ^ mix(group)))
    }

    fn keeps(&self, shingle: u64) -> bool {
        shingle % u64::from(self.settings.modulo) == u64::from(self.settings.residue)
    }

    /// Common shingles that samples of `sizes` shingles together need.
    fn needed(&self, sizes: u32) -> u32 {
        self.settings.least.unwrap_or_else(|| needed(self.aim, self.settings.margin, sizes))
    }
}

/// Common elements that two samples need, which have `sizes` together.
pub(super) fn needed(aim: Aim, margin: f64, sizes: u32) -> u32 {
    if !aim.verified {
        return aim.threshold.needed_overlap(sizes, 0).max(1);
    }
    let t = aim.threshold.as_f64();
    // So many are in either, if the resemblance is just the threshold.
    let union = f64::from(sizes) / (1.0 + t);
    let least = aim.least_estimate(margin, union);
    if least <= 0.0 { 1 } else { ((least / (1.0 + least) * f64::from(sizes)).floor() as u32).max(1) }
}

/// The group of a document of so many words, from 1: below 500, below 1,000, below 2,000 and so on, from 9,000 on (Y24).
fn group(words: usize) -> u64 {
    match words {
        0..500 => 1,
        500..1000 => 2,
        _ => words as u64 / 1000 + 2,
    }
    .min(GROUPS)
}

/// So many groups of lengths there are.
const GROUPS: u64 = 11;

impl Fingerprint for Sample {
    fn takes_features(&self) -> bool {
        self.settings.groups
    }

    fn features(&self, taken: Taken<'_>, features: &mut Vec<u64>) {
        features.push(group(taken.tokens.hashes().len()));
    }

    fn most_sketch(&self, size: u32, _features: u32) -> u32 {
        // Twice what is expected, and a few.
        let expected = (size / self.settings.modulo).saturating_mul(2).saturating_add(16);
        1 + expected.min(size).min(self.settings.max_shingles.unwrap_or(u32::MAX))
    }

    /// The size that counts, and the sample.
    fn sketch(&self, view: View<'_>, sketch: &mut Vec<u64>) {
        let start = sketch.len();
        sketch.push(0);
        sketch.extend(view.shingles().filter(|&shingle| self.keeps(shingle)).map(self.in_group(&view)));
        sketch[start + 1..].sort_unstable();
        let most = self.settings.max_shingles.map_or(usize::MAX, |most| most as usize);
        if sketch.len() - start - 1 > most {
            // The smallest of a second hash: the first has a fixed remainder.
            sketch[start + 1..].select_nth_unstable_by_key(most, |&shingle| mix(shingle));
            sketch.truncate(start + 1 + most);
            sketch[start + 1..].sort_unstable();
        }
        let kept = sketch.len() - start - 1;
        sketch[start] = match self.settings.sizes {
            Sizes::Kept => kept,
            Sizes::Full => view.all().filter(|&shingle| self.keeps(shingle)).count().min(most),
        } as u64;
    }

    fn keys(&self, _shingles: &[u64], sketch: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(sketch.get(1..).unwrap_or_default());
    }

    fn key_count(&self, set: Side) -> u32 {
        set.sketch.saturating_sub(1)
    }

    /// With sizes that are full this is a little too few; the estimate is looked at, too.
    fn needed_keys(&self, a: Side, b: Side) -> u32 {
        self.needed(self.key_count(a) + self.key_count(b))
    }

    fn compares_sketches(&self) -> bool {
        self.settings.sizes == Sizes::Full
    }

    fn agrees(&self, a: &[u64], b: &[u64]) -> bool {
        self.settings.sizes == Sizes::Kept || common(a, b) >= self.needed((a[0] + b[0]) as u32)
    }

    fn estimate(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let common = u64::from(common(a, b));
        let union = (a.first()? + b.first()?).checked_sub(common)?;
        (union > 0).then(|| common as f64 / union as f64)
    }

    /// §8.1: common and other shingles of the union are kept independently.
    fn recall(&self, similarity: f64, union: u32) -> Option<f64> {
        let p = 1.0 / f64::from(self.settings.modulo);
        let common = (similarity * f64::from(union)).round() as u32;
        Some(detected(common, union - common, p, |sizes| self.needed(sizes)))
    }
}

/// Whether a pair is found by its samples.
#[derive(Clone, Copy, Debug)]
pub struct Detection {
    aim: Aim,
    margin: f64,
}

impl Detection {
    /// Where samples have the last word: their resemblance has to reach the threshold.
    pub fn by_samples(threshold: Threshold) -> Detection {
        Detection { aim: Aim { threshold, verified: false }, margin: 0.0 }
    }

    /// Where verification follows: it has to come within so many standard deviations.
    pub fn before_verification(threshold: Threshold, margin: f64) -> Detection {
        Detection { aim: Aim { threshold, verified: true }, margin }
    }

    /// Whether samples with so many elements together find a pair with so many in common.
    pub fn finds(&self, sizes: u32, common: u32) -> bool {
        common >= needed(self.aim, self.margin, sizes)
    }

    /// The probability of that (§8.1), if each of `common` and `other` shingles is sampled with probability `share`.
    pub fn probability(&self, common: u32, other: u32, share: f64) -> f64 {
        detected(common, other, share, |sizes| needed(self.aim, self.margin, sizes))
    }
}

/// P(the sample of a pair with `common` and `other` shingles, each kept with probability `p`, has as many common ones as it needs).
pub(super) fn detected(common: u32, other: u32, p: f64, needed: impl Fn(u32) -> u32) -> f64 {
    let (of_common, of_other) = (likely(common, p), likely(other, p));
    let others: Vec<f64> = of_other
        .clone()
        .map(|y| odds::exactly(y, other, p))
        .scan(0.0, |sum, odds| {
            *sum += odds;
            Some(*sum)
        })
        .collect();
    let found = |x: u32| {
        // The more others, the more common ones are needed.
        let enough = of_other.start + partition(&of_other, |y| x >= needed(2 * x + y));
        let odds = if enough == of_other.start { 0.0 } else { others[(enough - of_other.start) as usize - 1] };
        odds * odds::exactly(x, common, p)
    };
    of_common.filter(|&x| x > 0).map(found).sum::<f64>().min(1.0)
}

/// How many of `n` may be kept with probability `p`; all else together is less likely than one in 10¹².
fn likely(n: u32, p: f64) -> Range<u32> {
    let mean = f64::from(n) * p;
    let reach = 8.0 * (mean * (1.0 - p)).sqrt() + 25.0;
    (mean - reach).max(0.0) as u32..((mean + reach) as u32).min(n) + 1
}

/// How many of a range are `wanted`, where wanted ones come first.
fn partition(range: &Range<u32>, wanted: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if wanted(middle) { low = middle + 1 } else { high = middle }
    }
    low - range.start
}

fn common(a: &[u64], b: &[u64]) -> u32 {
    crate::verify::common(a.get(1..).unwrap_or_default(), b.get(1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::Common;
    use super::*;

    fn built(settings: Settings, threshold: &str, verified: bool) -> Sample {
        Sample::new(&settings, Aim { threshold: threshold.parse().unwrap(), verified }).unwrap()
    }

    fn sketch(method: &Sample, shingles: &[u64], common: &Common) -> Vec<u64> {
        let mut sketch = Vec::new();
        method.sketch(View::new(shingles, &[], common), &mut sketch);
        sketch
    }

    #[test]
    fn residues_share_the_shingles_out() {
        let shingles: Vec<u64> = (0..1000).map(|i| mix(i) >> 3).collect();
        let sample = |residue| {
            let method = built(Settings { modulo: 8, residue, ..Settings::default() }, "0.8", true);
            sketch(&method, &shingles, &Common::default())[1..].to_vec()
        };
        let mut all: Vec<u64> = (0..8).flat_map(sample).collect();
        all.sort_unstable();
        let mut expected = shingles.clone();
        expected.sort_unstable();
        assert_eq!(all, expected);
    }

    /// N23: with full sizes leaving shingles out only lowers an estimate.
    #[test]
    fn sizes_follow_the_convention() {
        let a: Vec<u64> = (0..100).collect();
        let b: Vec<u64> = (20..120).collect();
        let common: Common = (90..100).collect();
        let estimate = |sizes| {
            let method = built(Settings { modulo: 1, sizes, ..Settings::default() }, "0.5", true);
            method.estimate(&sketch(&method, &a, &common), &sketch(&method, &b, &common)).unwrap()
        };
        assert_eq!(estimate(Sizes::Kept), 70.0 / 110.0);
        assert_eq!(estimate(Sizes::Full), 70.0 / 130.0);
    }

    #[test]
    fn at_most_so_many_are_kept_and_both_documents_keep_the_same() {
        let method = built(Settings { modulo: 1, max_shingles: Some(40), ..Settings::default() }, "0.5", true);
        let a: Vec<u64> = (0..100).collect();
        let b: Vec<u64> = (1..101).collect();
        let [a, b] = [a, b].map(|set| sketch(&method, &set, &Common::default()));
        assert_eq!((a.len(), b.len(), a[0]), (41, 41, 40));
        assert!(common(&a, &b) >= 38);
    }

    /// The figures of §8.1 for one edit in 200 words: here a word replaced, which touches fewer than ten shingles near the ends. Which edits
    /// it was there is not said; an insertion touches one shingle less.
    #[test]
    fn the_formula_gives_the_published_odds() {
        let (words, shingles) = (200u32, 191);
        for (t, expected) in [("0.85", 0.766), ("0.95", 0.311)] {
            let method = built(Settings { modulo: 16, ..Settings::default() }, t, false);
            let odds = |place: u32| {
                let touched = (place + 1).min(10).min(words - place);
                let union = shingles + touched;
                method.recall(f64::from(shingles - touched) / f64::from(union), union).unwrap()
            };
            let mean = (0..words).map(odds).sum::<f64>() / f64::from(words);
            assert!((mean - expected).abs() < 0.012, "{t}: {mean}");
        }
    }

    #[test]
    fn groups_are_half_open_and_share_nothing() {
        let groups = [0, 499, 500, 999, 1000, 1999, 2000, 8999, 9000, 1_000_000].map(group);
        assert_eq!(groups, [1, 1, 2, 2, 3, 3, 4, 10, 11, 11]);
        let method = built(Settings { modulo: 1, groups: true, ..Settings::default() }, "0.8", true);
        let of_group = |group: u64| {
            let mut sketch = Vec::new();
            method.sketch(View::new(&[1, 2, 3], &[group], &Common::default()), &mut sketch);
            sketch
        };
        assert_eq!((common(&of_group(1), &of_group(1)), common(&of_group(1), &of_group(2))), (3, 0));
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let aim = Aim { threshold: Threshold::EIGHT_TENTHS, verified: true };
        let bad = [
            Settings { modulo: 0, ..Settings::default() },
            Settings { residue: 16, ..Settings::default() },
            Settings { max_shingles: Some(0), ..Settings::default() },
            Settings { margin: f64::NAN, ..Settings::default() },
        ];
        for settings in bad {
            assert!(Sample::new(&settings, aim).is_err(), "{settings:?}");
        }
    }
}
