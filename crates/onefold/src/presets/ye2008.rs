//! Ye, Wen, Ma 2008 (Y1–Y4, Y18): words between spaces, 10-word shingles, MD5, one in 16 by remainder; samples alone are compared.

use super::Preset;
use crate::fingerprint::{Method, SampleSettings};
use crate::normalize::TextRules;
use crate::plan::Plan;
use crate::shingle::Hash;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "ye2008",
    about: "one in 16 shingles of 10 words by MD5; the resemblance of the samples proposes",
    source: "Ye, Wen, Ma 2008",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.text = TextRules::Plain;
    plan.ngram_size = 10;
    plan.hash = Hash::Md5;
    plan.method = Method::Sample(SampleSettings { modulo: 16, ..SampleSettings::default() });
}
