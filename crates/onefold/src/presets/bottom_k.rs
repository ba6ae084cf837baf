//! The smallest hashes of each document.

use super::Preset;
use crate::fingerprint::{BottomKSettings, Method};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "bottom-k",
    about: "the 128 smallest hashes estimate the resemblance",
    source: "Broder 1997; Cohen, Kaplan 2007",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.method = Method::BottomK(BottomKSettings::default());
}
