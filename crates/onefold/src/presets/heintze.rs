//! Heintze 1996 (M4): the smallest hashes of a document, without shingles that many have. How many is not published; 100 of each here.

use super::Preset;
use crate::fingerprint::{BottomKSettings, Method};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset =
    Preset { name: "heintze", about: "the 100 smallest hashes, common shingles left out", source: "Heintze 1996", settings };

fn settings(plan: &mut Plan) {
    plan.common_shingles = Some(100);
    plan.method = Method::BottomK(BottomKSettings { k: 100, ..BottomKSettings::default() });
}
