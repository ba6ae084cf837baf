//! Shivakumar, Garcia-Molina 1998 and Cho et al. 2000 (M8): runs of four lines, 32 bits, 15 in common; no sampling. Sensitive to where lines end.

use super::Preset;
use crate::fingerprint::{Method, SampleSettings};
use crate::plan::Plan;
use crate::shingle::{Hash, Unit};

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "line-chunks",
    about: "15 runs of four lines in common, 32 bits",
    source: "Shivakumar, Garcia-Molina 1998; Cho, Shivakumar, Garcia-Molina 2000",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.shingle = Unit::Lines;
    plan.ngram_size = 4;
    plan.hash = Hash::Rabin32;
    plan.method = Method::Sample(SampleSettings { modulo: 1, least: Some(15), ..SampleSettings::default() });
}
