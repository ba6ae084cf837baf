//! Term cosine, as in Chowdhury 2002, Cooper 2002, Conrad 2003 (M14).

use super::Preset;
use crate::fingerprint::{Method, TermsSettings};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "cosine",
    about: "cosine of tf-idf weighted words, from 0.9 on",
    source: "Salton; Chowdhury 2002; Conrad 2003",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.method = Method::Terms(TermsSettings::default());
}
