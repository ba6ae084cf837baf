//! Which candidates are verified at a time, where their sets do not fit in memory together.
//!
//! What is alike often comes close together: versions in one folder, pages of one host. So sets are gathered as they came, as many as fit, and
//! each such part is verified in itself; candidates of two parts come last. Where there are too many of these, parts are no use, and all
//! candidates are verified by size.

use std::ops::Range;

use super::sets::{SetIndex, Sets};
use super::tasks::{pieces, sums};

/// The part of sets that are in memory whatever is gathered.
const ANY: u32 = u32::MAX;

/// Parts of a collection, each of arenas that follow each other.
pub(super) struct Parts<'a> {
    sets: &'a Sets,
    of_arena: Vec<u32>,
    count: u32,
}

impl<'a> Parts<'a> {
    /// No part has more than `most` words, unless one arena does. By arena: how many of its words are to be gathered; `None` if it is in memory.
    pub(super) fn new(sets: &'a Sets, words: &[Option<u64>], most: u64) -> Parts<'a> {
        let before = sums(words.iter().map(|words| words.unwrap_or(0)));
        let (mut of_arena, mut count) = (vec![ANY; words.len()], 0);
        for arenas in pieces(&before, most, 0..words.len() as u32) {
            let spilled = arenas.filter(|&arena| words[arena as usize].is_some());
            spilled.for_each(|arena| of_arena[arena as usize] = count);
            count += 1;
        }
        Parts { sets, of_arena, count }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Whether a set is of a part.
    pub(super) fn has(&self, part: u32, set: SetIndex) -> bool {
        self.of(set) == part
    }

    /// Whether two sets are of two parts.
    pub(super) fn divide(&self, a: SetIndex, b: SetIndex) -> bool {
        self.of_both(a, b).is_none()
    }

    fn of(&self, set: SetIndex) -> u32 {
        self.of_arena[self.sets.refs()[set as usize].arena as usize]
    }

    /// The part in which two sets are looked at together.
    fn of_both(&self, a: SetIndex, b: SetIndex) -> Option<u32> {
        match (self.of(a), self.of(b)) {
            (ANY, ANY) => Some(0),
            (ANY, part) | (part, ANY) => Some(part),
            (a, b) => (a == b).then_some(a),
        }
    }
}

/// Candidates that are verified at a time.
pub(super) enum Wave<'p> {
    /// Those of sets of some sizes.
    Sizes(Range<SetIndex>),
    /// Those of one part in itself.
    Part(&'p Parts<'p>, u32),
    /// Those of two parts, of sets of some sizes.
    Across(&'p Parts<'p>, Range<SetIndex>),
}

impl Wave<'_> {
    /// Whether a set may have candidates among them.
    pub(super) fn has(&self, set: SetIndex) -> bool {
        match self {
            Wave::Sizes(sizes) | Wave::Across(_, sizes) => sizes.contains(&set),
            Wave::Part(parts, part) => [*part, ANY].contains(&parts.of(set)),
        }
    }

    /// Whether they have a candidate of such a set.
    pub(super) fn has_candidate(&self, set: SetIndex, partner: SetIndex) -> bool {
        match self {
            Wave::Sizes(_) => true,
            Wave::Part(parts, part) => parts.of_both(set, partner) == Some(*part),
            Wave::Across(parts, _) => parts.divide(set, partner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::ShingleRef;

    #[test]
    fn every_pair_is_verified_once() {
        // Ten arenas, the second and the last in memory.
        let refs: Vec<ShingleRef> =
            (0..200).map(|n| ShingleRef { arena: n * 7 % 10, start: 0, len: 1 + n / 17, hash: n.into() }).collect();
        let sets = Sets::of_refs(&refs);
        let words: Vec<Option<u64>> = (0..10).map(|arena| (arena != 1 && arena != 9).then_some(10 + arena % 3)).collect();
        for (most, count) in [(1000, 1), (25, 4), (1, 9)] {
            let parts = Parts::new(&sets, &words, most);
            assert!((count..count + 2).contains(&parts.count()), "{} parts", parts.count());
            let mut waves: Vec<Wave<'_>> = (0..parts.count()).map(|part| Wave::Part(&parts, part)).collect();
            waves.extend([0..90, 90..200].map(|sizes| Wave::Across(&parts, sizes)));
            for set in 0..200 {
                for partner in 0..set {
                    let of = waves.iter().filter(|wave| wave.has(set) && wave.has_candidate(set, partner)).count();
                    assert_eq!(of, 1, "{set} {partner}");
                }
            }
            let is_spilled = |set: &SetIndex| words[sets.refs()[*set as usize].arena as usize].is_some();
            for set in 0..200 {
                let of = (0..parts.count()).filter(|&part| parts.has(part, set)).count();
                assert_eq!(of, usize::from(is_spilled(&set)), "{set} is gathered with one part, or never");
            }
        }
    }
}
