//! Fetterly, Manasse, Najork 2003 (M10): 84 minima of 5-word shingles in six supershingles; two have to agree, found by megashingles.

use super::Preset;
use crate::fingerprint::{Method, SupershinglesSettings};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "fetterly2003",
    about: "2 of 6 supershingles of 14 minima agree, found by megashingles",
    source: "Fetterly, Manasse, Najork 2003",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.ngram_size = 5;
    plan.method = Method::Supershingles(SupershinglesSettings::default());
}
