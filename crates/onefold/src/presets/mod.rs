//! Published works and plain methods as settings of the one path: what `--method` names.
//!
//! A preset fixes what its work fixes, flaws included, and leaves the rest as it is; any setting can be changed afterwards. Works that
//! never verify are verified here, too, unless the plan says otherwise.

mod adaptive;
mod bottom_k;
mod broder97;
mod clean_living;
mod cosine;
mod exact;
mod fetterly2003;
mod heintze;
mod henzinger;
mod i_match;
mod line_chunks;
mod minhash;
mod nikkhoo2010;
mod pi_simhash;
mod scam;
mod sif;
mod spotsigs;
mod winnowing;
mod ye2008;

use crate::error::{Error, Result};
use crate::plan::Plan;

/// A work, or a plain method.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// As people type it.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    settings: fn(&mut Plan),
}

impl Preset {
    /// Sets what the work fixes.
    pub fn apply(&self, plan: &mut Plan) {
        (self.settings)(plan);
        plan.preset = Some(self.name.into());
    }
}

/// All of them, the default first.
pub const PRESETS: [Preset; 19] = [
    exact::PRESET,
    minhash::PRESET,
    bottom_k::PRESET,
    adaptive::PRESET,
    broder97::PRESET,
    ye2008::PRESET,
    clean_living::PRESET,
    fetterly2003::PRESET,
    pi_simhash::PRESET,
    nikkhoo2010::PRESET,
    i_match::PRESET,
    winnowing::PRESET,
    line_chunks::PRESET,
    heintze::PRESET,
    sif::PRESET,
    spotsigs::PRESET,
    henzinger::PRESET,
    cosine::PRESET,
    scam::PRESET,
];

/// The one of this name.
pub fn preset(name: &str) -> Result<&'static Preset> {
    let names = || PRESETS.map(|preset| preset.name).join(", ");
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| Error::setting("method", format!("one of {}", names()), name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_valid_plan_with_a_name_of_its_own() {
        let mut names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        for preset in &PRESETS {
            let mut plan = Plan::default();
            preset.apply(&mut plan);
            plan.validate().unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            assert!(!preset.about.is_empty() && !preset.source.is_empty());
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan, "a plan reads back");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PRESETS.len());
        assert!(preset("nonsense").is_err());
    }
}
