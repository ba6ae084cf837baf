//! Adaptive sampling (Ye, Wen, Ma 2008; Y35–Y40): a share of the shingles for each size of document. `onefold tune` finds shares that keep a promise.

use super::Preset;
use crate::fingerprint::{AdaptiveSettings, Method};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "adaptive",
    about: "a sample of shingles whose share falls with the size of the document",
    source: "Ye, Wen, Ma 2008",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.method = Method::Adaptive(AdaptiveSettings::default());
}
