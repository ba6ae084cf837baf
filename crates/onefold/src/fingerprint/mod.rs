//! Stage 6: shingle set → sketch and join keys. THE ONE PLUG: a method is one file here, one line in [`Method`], one in [`Method::build`].
//!
//! In: a shingle set in an order that all sets have in common, and what the method took from the tokens when they passed. Out: a sketch, for
//! methods that have one, and join keys. Invariant: a method only *proposes* pairs (two sets that share enough keys, and whose sketches
//! agree); verification decides, unless the plan leaves it out. Cost: see each method. What a method may miss it states as its
//! [`Guarantee`], and as a curve: [`Fingerprint::recall`].

mod adaptive;
mod bottom_k;
mod exact;
mod henzinger;
mod i_match;
mod minhash;
mod sample;
mod simhash;
pub(crate) use simhash::counted;
mod supershingles;
mod terms;
mod winnowing;
pub(crate) use winnowing::winnow;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

pub use adaptive::{Adaptive, Settings as AdaptiveSettings, SizeClass, sample_bound, sample_value};
pub use bottom_k::{BottomK, Settings as BottomKSettings};
pub use exact::Exact;
pub use henzinger::{Henzinger, Settings as HenzingerSettings};
pub use i_match::{IMatch, Settings as IMatchSettings};
pub use minhash::{MinHash, Settings as MinHashSettings};
pub use sample::{Detection, Sample, Settings as SampleSettings, Sizes as SampleSizes};
pub use simhash::{Features as SimHashFeatures, Settings as SimHashSettings, SimHashes, Weights};
pub use supershingles::{Minima, Settings as SupershinglesSettings, Supershingles};
pub use terms::{Compare, Settings as TermsSettings, Terms};
pub use winnowing::{Settings as WinnowingSettings, Winnowing};

use crate::error::Result;
use crate::normalize::Tokens;
use crate::shingle::first_bytes;
use crate::shingle::hash::SHINGLE_BITS;
use crate::threshold::Threshold;

/// What a method is told before it begins.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
    /// Pairs from this resemblance on are wanted.
    pub threshold: Threshold,
    /// Whether proposals are verified. Then a method may propose generously; otherwise what it says is final.
    pub verified: bool,
}

impl Aim {
    /// An estimate from so many draws that a pair at the threshold falls short of by `margin` standard deviations.
    fn least_estimate(self, margin: f64, draws: f64) -> f64 {
        let t = self.threshold.as_f64();
        t - margin * (t * (1.0 - t) / draws.max(1.0)).sqrt()
    }
}

/// What is known of a set beside its content.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Number of shingles.
    pub size: u32,
    /// Words of its sketch.
    pub sketch: u32,
}

/// How sets become join keys and when shared keys make a candidate.
pub trait Fingerprint: Send + Sync {
    /// Whether it takes something from the tokens of a document, beside their shingles.
    fn takes_features(&self) -> bool {
        false
    }

    /// Appends what it takes.
    fn features(&self, _taken: Taken<'_>, _features: &mut Vec<u64>) {}

    /// Whether it has to know how many documents have each of its features.
    fn learns(&self) -> bool {
        false
    }

    /// Takes in how many of so many documents have each feature (without its count: see [`simhash`]).
    fn learn(&mut self, _documents: u64, _frequencies: HashMap<u64, u32>) {}

    /// Most words of the sketch of a set of `size` shingles whose document gave so many words of features; 0 where there are no sketches.
    fn most_sketch(&self, _size: u32, _features: u32) -> u32 {
        0
    }

    /// Appends the sketch of a set.
    fn sketch(&self, _view: View<'_>, _sketch: &mut Vec<u64>) {}

    /// Appends the join keys of a set. Keys that stand for different things differ.
    fn keys(&self, shingles: &[u64], sketch: &[u64], keys: &mut Vec<u64>);

    /// How many keys a set has.
    fn key_count(&self, set: Side) -> u32;

    /// The largest partner whose first shared key can be the one at `place`; `u32::MAX` where order says nothing.
    fn largest_partner_from(&self, _size: u32, _place: u32) -> u32 {
        u32::MAX
    }

    /// Shared keys that make two sets a candidate pair; at least 1.
    fn needed_keys(&self, a: Side, b: Side) -> u32;

    /// How many keys a set of `size` shingles has, where they are its first shingles.
    fn prefix(&self, _size: u32) -> Option<u32> {
        None
    }

    /// For methods whose sketch is one word and whose candidates differ in few of its bits: in how many at most. They have no keys.
    fn radius(&self) -> Option<u32> {
        None
    }

    /// Whether every pair that reaches the threshold becomes a candidate.
    fn finds_all(&self) -> bool {
        false
    }

    /// Whether [`Fingerprint::agrees`] has a say.
    fn compares_sketches(&self) -> bool {
        false
    }

    /// Whether the sketches of two sets that share enough keys let them be a candidate.
    fn agrees(&self, _a: &[u64], _b: &[u64]) -> bool {
        true
    }

    /// The similarity that two sketches suggest, for methods that estimate.
    fn estimate(&self, _a: &[u64], _b: &[u64]) -> Option<f64> {
        None
    }

    /// The probability that a pair becomes a candidate, where it is known: of resemblance `similarity` (for SimHash: of that cosine) with
    /// `union` shingles in either.
    fn recall(&self, similarity: f64, union: u32) -> Option<f64>;

    /// What is promised instead, where resemblance says little.
    fn promise(&self) -> Option<String> {
        None
    }
}

/// What a method may take something from, as a document passes.
#[derive(Clone, Copy)]
pub struct Taken<'a> {
    /// Its words.
    pub tokens: &'a Tokens,
    /// Where it came from.
    pub url: Option<&'a str>,
}

/// What a method sees of a document when it sketches it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    all: &'a [u64],
    common: &'a Common,
    /// What the method took from the tokens.
    pub features: &'a [u64],
}

impl<'a> View<'a> {
    /// Of a set in any order that all sets have in common.
    pub fn new(shingles: &'a [u64], features: &'a [u64], common: &'a Common) -> Self {
        View { all: shingles, common, features }
    }

    /// All distinct shingles.
    pub fn all(&self) -> impl Iterator<Item = u64> + 'a {
        self.all.iter().map(|&shingle| own_bits(shingle))
    }

    /// Those that are not too common.
    pub fn shingles(&self) -> impl Iterator<Item = u64> + 'a {
        let common = self.common;
        self.all().filter(move |&shingle| !common.has(shingle))
    }
}

/// Shingles that too many documents have.
#[derive(Clone, Debug, Default)]
pub struct Common(HashSet<u64>);

impl Common {
    #[inline]
    fn has(&self, shingle: u64) -> bool {
        !self.0.is_empty() && self.0.contains(&shingle)
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<u64> for Common {
    fn from_iter<I: IntoIterator<Item = u64>>(shingles: I) -> Self {
        Common(shingles.into_iter().map(own_bits).collect())
    }
}

/// ln(N/n) of each term that n of N documents have.
fn idf(documents: u64, frequencies: HashMap<u64, u32>) -> HashMap<u64, f64> {
    let idf = |(term, frequency): (u64, u32)| (term, (documents as f64 / f64::from(frequency)).ln());
    frequencies.into_iter().map(idf).collect()
}

/// Drops repetitions from a sorted end.
fn dedup_from(values: &mut Vec<u64>, start: usize) {
    let mut end = start;
    for at in start..values.len() {
        if end == start || values[end - 1] != values[at] {
            values[end] = values[at];
            end += 1;
        }
    }
    values.truncate(end);
}

/// A shingle without what the join writes above it.
#[inline]
fn own_bits(shingle: u64) -> u64 {
    shingle & ((1 << SHINGLE_BITS) - 1)
}

/// The methods, as they stand in plans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Method {
    /// Every pair that reaches the threshold.
    Exact,
    /// MinHash signatures cut into bands; equal bands propose.
    #[serde(rename = "minhash")]
    MinHash(MinHashSettings),
    /// Shingles whose hash has a chosen remainder; their resemblance proposes.
    Sample(SampleSettings),
    /// Shingles whose hash is small, a share of them that depends on the size of the document.
    Adaptive(AdaptiveSettings),
    /// The smallest hashes; their resemblance proposes.
    BottomK(BottomKSettings),
    /// Minima hashed together, some at a time; some equal ones propose.
    Supershingles(SupershinglesSettings),
    /// One number for a document; a small Hamming distance proposes.
    #[serde(rename = "simhash")]
    SimHash(SimHashSettings),
    /// Supershingles, and a SimHash where both are of one site.
    Henzinger(HenzingerSettings),
    /// One hash of the terms that matter, under several lexicons.
    IMatch(IMatchSettings),
    /// The smallest hash of every window.
    Winnowing(WinnowingSettings),
    /// Weighted terms.
    Terms(TermsSettings),
}

/// What a method promises to find.
#[derive(Clone, Debug, PartialEq)]
pub enum Guarantee {
    /// All pairs at or above the threshold.
    Exact,
    /// A pair exactly at the threshold is missed with this probability; more similar ones with less.
    Probabilistic {
        /// The probability.
        miss_rate: f64,
    },
    /// What it finds depends on other things than resemblance: these.
    Other(String),
}

/// A method with its numbers worked out.
pub enum Built {
    /// See [`Exact`]. It has code of its own: it is the fastest.
    Exact(Exact),
    /// Any other.
    Sketching(Box<dyn Fingerprint>),
}

impl Built {
    /// As one of many.
    pub fn as_dyn(&self) -> &dyn Fingerprint {
        match self {
            Built::Exact(method) => method,
            Built::Sketching(method) => &**method,
        }
    }
}

impl Method {
    /// The method's name in plans.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Exact => "exact",
            Method::MinHash(_) => "minhash",
            Method::Sample(_) => "sample",
            Method::Adaptive(_) => "adaptive",
            Method::BottomK(_) => "bottom-k",
            Method::Supershingles(_) => "supershingles",
            Method::SimHash(_) => "simhash",
            Method::Henzinger(_) => "henzinger",
            Method::IMatch(_) => "i-match",
            Method::Winnowing(_) => "winnowing",
            Method::Terms(_) => "terms",
        }
    }

    /// Works out the numbers.
    pub fn build(&self, aim: Aim) -> Result<Built> {
        Ok(Built::Sketching(match self {
            Method::Exact => return Ok(Built::Exact(Exact::new(aim.threshold))),
            Method::MinHash(settings) => Box::new(MinHash::new(settings, aim)?),
            Method::Sample(settings) => Box::new(Sample::new(settings, aim)?),
            Method::Adaptive(settings) => Box::new(Adaptive::new(settings, aim)?),
            Method::BottomK(settings) => Box::new(BottomK::new(settings, aim)?),
            Method::Supershingles(settings) => Box::new(Supershingles::new(settings)?),
            Method::SimHash(settings) => Box::new(SimHashes::new(settings)?),
            Method::Henzinger(settings) => Box::new(Henzinger::new(settings)?),
            Method::IMatch(settings) => Box::new(IMatch::new(settings)?),
            Method::Winnowing(settings) => Box::new(Winnowing::new(settings)?),
            Method::Terms(settings) => Box::new(Terms::new(settings)?),
        }))
    }
}

/// Probabilities that several methods need.
pub(crate) mod odds {
    /// P(at least `least` of `n` tosses succeed), each with probability `p`.
    pub fn at_least(least: u32, n: u32, p: f64) -> f64 {
        if least == 0 {
            return 1.0;
        }
        if least > n {
            return 0.0;
        }
        (least..=n).map(|x| exactly(x, n, p)).sum::<f64>().min(1.0)
    }

    /// P(exactly `x` of `n` tosses succeed).
    pub fn exactly(x: u32, n: u32, p: f64) -> f64 {
        if p <= 0.0 {
            return f64::from(u8::from(x == 0));
        }
        if p >= 1.0 {
            return f64::from(u8::from(x == n));
        }
        (ln_choose(n, x) + f64::from(x) * p.ln() + f64::from(n - x) * (1.0 - p).ln()).exp()
    }

    fn ln_choose(n: u32, x: u32) -> f64 {
        ln_factorial(n) - ln_factorial(x) - ln_factorial(n - x)
    }

    /// Stirling's series, which is good to ten digits from 10 on.
    fn ln_factorial(n: u32) -> f64 {
        if n < 10 {
            return (2..=n).map(|i| f64::from(i).ln()).sum();
        }
        let n = f64::from(n);
        let series = 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3)) + 1.0 / (1260.0 * n.powi(5));
        n * n.ln() - n + 0.5 * (2.0 * std::f64::consts::PI * n).ln() + series
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn tosses_add_up() {
            for (n, p) in [(1, 0.5), (6, 0.2), (64, 0.0637), (1000, 0.9)] {
                let all: f64 = (0..=n).map(|x| exactly(x, n, p)).sum();
                assert!((all - 1.0).abs() < 1e-8, "{n} {p} {all}");
            }
            assert!((at_least(2, 6, 0.95f64.powi(14)) - 0.879).abs() < 0.001, "§7.2");
            assert!((exactly(2, 4, 0.5) - 0.375).abs() < 1e-12);
            assert_eq!((at_least(0, 3, 0.1), at_least(4, 3, 0.9), at_least(3, 3, 1.0)), (1.0, 0.0, 1.0));
        }
    }
}
