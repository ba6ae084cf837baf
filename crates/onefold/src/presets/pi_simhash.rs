//! Pi et al. (P1–P4, P6): SimHash of 64 bits, at most 3 different; the document with the higher score (PageRank) stays.

use super::Preset;
use crate::fingerprint::{Method, SimHashSettings};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "pi-simhash",
    about: "SimHashes of runs of 3 and 5 words that differ in at most 3 of 64 bits",
    source: "Charikar 2002; Manku, Jain, Das Sarma 2007; Pi et al.",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.method = Method::SimHash(SimHashSettings::default());
}
