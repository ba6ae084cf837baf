//! Stage 6: shingle set → join keys. THE ONE PLUG: a method is one file here, one line in [`Method`], one in [`Method::build`].
//!
//! In: a shingle set in the order of the model. Out: its join keys and, for sketching methods, a sketch. Invariant: a method only *proposes* pairs (two
//! sets that share enough keys); verification decides. Cost: see each method. What a method may miss it states as its
//! [`Guarantee`].

mod exact;
mod minhash;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

pub use exact::Exact;
pub use minhash::MinHash;

use crate::error::Result;
use crate::threshold::Threshold;

/// How sets become join keys and when shared keys make a candidate.
pub trait Fingerprint: Sync {
    /// Appends the sketch of a set, where the method has one.
    fn sketch(&self, _shingles: &[u64], _sketch: &mut Vec<u32>) {}

    /// Appends the join keys of a set. Keys that stand for different things differ.
    fn keys(&self, shingles: &[u64], sketch: &[u32], keys: &mut Vec<u64>);

    /// How many keys a set of `size` shingles has.
    fn key_count(&self, size: u32) -> u32;

    /// Numbers in a sketch.
    fn sketch_len(&self) -> usize {
        0
    }

    /// Sizes that a partner of a set of `size` shingles can have.
    fn partner_sizes(&self, size: u32) -> RangeInclusive<u32>;

    /// The largest partner whose first shared key can be the one at `place`; `u32::MAX` where order says nothing.
    fn largest_partner_from(&self, size: u32, place: u32) -> u32;

    /// Shared keys that make sets of these sizes a candidate pair; at least 1.
    fn needed_keys(&self, a: u32, b: u32) -> u32;

    /// How many keys a set of `size` shingles has, where they are its first shingles.
    fn prefix(&self, _size: u32) -> Option<u32> {
        None
    }

    /// Whether every pair that reaches the threshold becomes a candidate.
    fn finds_all(&self) -> bool;

    /// The similarity that two sketches suggest, for methods that estimate.
    fn estimate(&self, _a: &[u32], _b: &[u32]) -> Option<f64> {
        None
    }
}

/// The methods, as they stand in plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Method {
    /// Every pair that reaches the threshold.
    Exact,
    /// MinHash signatures cut into bands; equal bands propose.
    #[serde(rename = "minhash")]
    MinHash(minhash::Settings),
}

/// What a method promises to find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Guarantee {
    /// All pairs at or above the threshold.
    Exact,
    /// A pair exactly at the threshold is missed with at most this probability; more similar ones with less.
    Probabilistic {
        /// The probability.
        miss_rate: f64,
    },
}

/// A method with its numbers worked out.
#[derive(Debug)]
pub enum Built {
    /// See [`Exact`].
    Exact(Exact),
    /// See [`MinHash`].
    MinHash(MinHash),
}

impl Method {
    /// The method's name as people type it.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Exact => "exact",
            Method::MinHash(_) => "minhash",
        }
    }

    /// Works out the numbers for a threshold.
    pub fn build(&self, threshold: Threshold) -> Result<Built> {
        Ok(match self {
            Method::Exact => Built::Exact(Exact::new(threshold)),
            Method::MinHash(settings) => Built::MinHash(MinHash::new(settings, threshold)?),
        })
    }

    /// What it promises at a threshold.
    pub fn guarantee(&self, threshold: Threshold) -> Result<Guarantee> {
        Ok(match self.build(threshold)? {
            Built::Exact(_) => Guarantee::Exact,
            Built::MinHash(method) => Guarantee::Probabilistic { miss_rate: method.miss_rate(threshold) },
        })
    }

    pub(crate) fn validate(&self, threshold: Threshold) -> Result<()> {
        self.build(threshold).map(|_| ())
    }
}

pub use minhash::Settings as MinHashSettings;
