//! Nikkhoo 2010 (N3–N10): 64 characters from each word on, Rabin fingerprints, resemblance 0.5. Sampling (modulo) counts sampled sizes, the
//! limit for common shingles full ones (N23).

use super::Preset;
use crate::fingerprint::{Method, SampleSettings, SampleSizes};
use crate::normalize::TextRules;
use crate::plan::Plan;
use crate::shingle::{Hash, Unit};
use crate::threshold::Threshold;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "nikkhoo2010",
    about: "64 characters from each word on, Rabin fingerprints, all of them or a sample",
    source: "Nikkhoo 2010",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.text = TextRules::Letters;
    plan.shingle = Unit::Chars;
    plan.ngram_size = 64;
    plan.hash = Hash::Rabin64;
    plan.threshold = Threshold::HALF;
    plan.method = Method::Sample(SampleSettings { modulo: 1, sizes: SampleSizes::Full, ..SampleSettings::default() });
}
