//! Wang, Gemmell 2006 (W5–W7, W11): six features, each SHA-1 of the 14 smallest Rabin fingerprints under a polynomial of its own; two have to
//! agree. Documents come in order, and join the first representative that they are near.

use super::Preset;
use crate::cluster::Members;
use crate::fingerprint::{Method, Minima, SupershinglesSettings};
use crate::plan::Plan;
use crate::rank::{KeepRules, Rule};

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "clean-living",
    about: "2 of 6 features agree, each of the 14 smallest fingerprints; by order of arrival",
    source: "Wang, Gemmell 2006",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.method = Method::Supershingles(SupershinglesSettings {
        minima: Minima::ManyOfOne,
        megashingles: false,
        ..SupershinglesSettings::default()
    });
    plan.keep = KeepRules(vec![Rule::Order]);
    plan.members = Members::First;
}
