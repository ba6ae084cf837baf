//! Chowdhury, Frieder, Grossman, McCabe 2002 (M12) with the randomised lexicons of Kołcz and Chowdhury 2008 (M13).

use super::Preset;
use crate::fingerprint::{IMatchSettings, Method};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "i-match",
    about: "one hash of the terms that matter, under 11 lexicons; one has to agree",
    source: "Chowdhury et al. 2002; Kołcz, Chowdhury 2008",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.method = Method::IMatch(IMatchSettings::default());
}
