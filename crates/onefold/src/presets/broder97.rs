//! Broder, Glassman, Manasse, Zweig 1997 (M5, Y15, Y16): 10-word shingles, 40-bit fingerprints, one in 25, at most 400 of a document, none that
//! more than 1,000 documents have, resemblance 0.5.

use super::Preset;
use crate::fingerprint::{Method, SampleSettings};
use crate::plan::Plan;
use crate::shingle::Hash;
use crate::threshold::Threshold;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "broder97",
    about: "one in 25 shingles of 10 words, 40 bits, at most 400, common ones left out",
    source: "Broder, Glassman, Manasse, Zweig 1997",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.ngram_size = 10;
    plan.hash = Hash::Rabin40;
    plan.threshold = Threshold::HALF;
    plan.common_shingles = Some(1000);
    plan.method = Method::Sample(SampleSettings { modulo: 25, max_shingles: Some(400), ..SampleSettings::default() });
}
