//! The default: every pair that reaches the threshold.

use super::Preset;
use crate::fingerprint::Method;
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "exact",
    about: "every pair that reaches the threshold; misses none",
    source: "onefold (exact prefix join)",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.method = Method::Exact;
}
