//! Schleimer, Wilkerson, Aiken 2003 (M18).

use super::Preset;
use crate::fingerprint::{Method, WinnowingSettings};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "winnowing",
    about: "the smallest hash of every window of 20; finds local reuse",
    source: "Schleimer, Wilkerson, Aiken 2003",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.method = Method::Winnowing(WinnowingSettings::default());
}
