//! What was left out or taken with a remark, by reason.

use std::collections::BTreeMap;

/// Examples of a reason.
const EXAMPLES: usize = 3;
/// Reasons remembered; they are words of the program, so this only guards against a damaged file.
const MOST_REASONS: usize = 200;

/// An input that was left out or taken with a remark.
#[derive(Clone, Copy, Debug)]
pub struct Skip<'a> {
    /// `skipped` or `flagged`.
    pub kind: &'a str,
    /// Where it happened.
    pub stage: &'a str,
    /// A stable word.
    pub reason: &'a str,
    /// The file, `file:line` or id.
    pub input: &'a str,
    /// For people; may be empty.
    pub detail: &'a str,
}

/// What is remembered of a reason.
#[derive(Debug, Default)]
pub struct Group {
    /// How often.
    pub count: u64,
    /// Inputs with details.
    pub examples: Vec<(String, String)>,
}

/// (kind, reason, stage), in the order the page shows them.
pub type Key = (String, String, String);

/// Counts and examples by reason.
#[derive(Debug, Default)]
pub struct Skips {
    groups: BTreeMap<Key, Group>,
}

impl Skips {
    /// Counts one.
    pub fn add(&mut self, skip: &Skip<'_>) {
        let key = (skip.kind.into(), skip.reason.into(), skip.stage.into());
        if self.groups.len() >= MOST_REASONS && !self.groups.contains_key(&key) {
            return;
        }
        let group = self.groups.entry(key).or_default();
        group.count += 1;
        if group.examples.len() < EXAMPLES {
            group.examples.push((skip.input.into(), skip.detail.into()));
        }
    }

    /// All of a kind.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a Key, &'a Group)> {
        self.groups.iter().filter(move |((of, _, _), _)| of == kind)
    }
}
