//! Manber 1994 (M1): Rabin fingerprints of every 50 bytes, of which a fixed part is kept.

use super::Preset;
use crate::fingerprint::{Method, SampleSettings};
use crate::plan::Plan;
use crate::shingle::{Hash, Unit};
use crate::threshold::Threshold;

/// See the module.
pub(super) const PRESET: Preset =
    Preset { name: "sif", about: "one in 256 fingerprints of every 50 bytes", source: "Manber 1994", settings };

fn settings(plan: &mut Plan) {
    plan.shingle = Unit::Bytes;
    plan.ngram_size = 50;
    plan.hash = Hash::Rabin64;
    plan.threshold = Threshold::HALF;
    plan.method = Method::Sample(SampleSettings { modulo: 256, ..SampleSettings::default() });
}
