//! The exact method: prefixes under a fixed order. Finds every pair that reaches the threshold.
//!
//! Of two sets with resemblance ≥ t, the first |x| − ⌈t|x|⌉ + 1 elements of each, in any fixed order, have one in common; with
//! rare shingles first that is nearly never so by chance. Sharing one is not enough to be merged: of the o common elements that are
//! needed, at most max(|x| − p(x), |y| − p(y)) can lie outside the common part of the prefixes, since a common element inside the
//! prefix that ends first in the order lies inside the other as well. So o minus that many must be seen.

use super::{Fingerprint, Side};
use crate::threshold::Threshold;

/// See the module.
#[derive(Debug)]
pub struct Exact {
    threshold: Threshold,
}

impl Exact {
    pub(crate) fn new(threshold: Threshold) -> Self {
        Exact { threshold }
    }
}

impl Fingerprint for Exact {
    fn keys(&self, shingles: &[u64], _sketch: &[u64], keys: &mut Vec<u64>) {
        let prefix = self.threshold.prefix(shingles.len() as u32);
        keys.extend_from_slice(&shingles[..prefix as usize]);
    }

    fn key_count(&self, set: Side) -> u32 {
        self.threshold.prefix(set.size)
    }

    fn largest_partner_from(&self, size: u32, place: u32) -> u32 {
        self.threshold.largest_partner_from(size, place)
    }

    fn needed_keys(&self, a: Side, b: Side) -> u32 {
        let outside = |size: u32| size - self.threshold.prefix(size);
        let needed = self.threshold.needed_overlap(a.size, b.size);
        needed.saturating_sub(outside(a.size).max(outside(b.size))).max(1)
    }

    fn prefix(&self, size: u32) -> Option<u32> {
        Some(self.threshold.prefix(size))
    }

    fn finds_all(&self) -> bool {
        true
    }

    fn recall(&self, similarity: f64, _union: u32) -> Option<f64> {
        Some(f64::from(u8::from(similarity >= self.threshold.as_f64())))
    }
}
