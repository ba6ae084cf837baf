//! MinHash with bands, for recall; verification restores precision.

use super::Preset;
use crate::fingerprint::{Method, MinHashSettings};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "minhash",
    about: "equal bands of minima propose; misses at most 1 % at the threshold",
    source: "Broder 1998; Indyk, Motwani 1998",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.method = Method::MinHash(MinHashSettings::default());
}
