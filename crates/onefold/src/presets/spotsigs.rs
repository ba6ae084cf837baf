//! Theobald, Siddharth, Paepcke 2008 (M21): spots at frequent words; their resemblance as multisets, exactly. The threshold is the published best.

use super::Preset;
use crate::fingerprint::Method;
use crate::plan::Plan;
use crate::shingle::Unit;
use crate::threshold::Threshold;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "spotsigs",
    about: "words after frequent short ones, compared exactly: favours running text",
    source: "Theobald, Siddharth, Paepcke 2008",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.shingle = Unit::Spots;
    plan.ngram_size = 1;
    plan.threshold = Threshold::ELEVEN_25THS;
    plan.method = Method::Exact;
}
