//! Shivakumar, Garcia-Molina 1995/1996 (M3): words about as frequent in both, relative to one document; sees a part, too.

use super::Preset;
use crate::fingerprint::{Compare, Method, TermsSettings};
use crate::plan::Plan;

/// See the module.
pub(super) const PRESET: Preset = Preset {
    name: "scam",
    about: "words about as frequent in both documents; finds parts, too",
    source: "Shivakumar, Garcia-Molina 1996",
    settings,
};

fn settings(plan: &mut Plan) {
    plan.method = Method::Terms(TermsSettings { compare: Compare::Scam, ..TermsSettings::default() });
}
