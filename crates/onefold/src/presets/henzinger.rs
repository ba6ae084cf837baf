//! Henzinger 2006 (M17): supershingles of 8 words, and on one site a SimHash of 384 bits that agrees in 355.

use super::Preset;
use crate::fingerprint::{HenzingerSettings, Method};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "henzinger",
    about: "2 of 6 supershingles of 8 words agree, on one site a SimHash as well",
    source: "Henzinger 2006",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.ngram_size = 8;
    plan.method = Method::Henzinger(HenzingerSettings::default());
}
