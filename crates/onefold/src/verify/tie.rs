//! What ties a document to the one that may stand for it.

use std::cmp::Ordering;

use super::Similarity;
use crate::threshold::Threshold;

/// When a document lies inside another.
#[derive(Clone, Copy, Debug)]
pub struct Containment {
    /// The share of its shingles that the other must have.
    pub least: Threshold,
    /// A document with fewer shingles lies inside too much by chance, and takes no part.
    pub min_size: u32,
}

/// What decides whether two documents belong together.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// From this resemblance on they are near-duplicates.
    pub threshold: Threshold,
    /// Where being part of the other counts, too.
    pub containment: Option<Containment>,
    /// Whether it decides; otherwise all that was proposed belongs together.
    pub decides: bool,
}

impl Measure {
    /// How a set of `size` shingles is tied to a leader of `leader_size` that it is so similar to.
    pub fn tie(self, similarity: Similarity, size: u32, leader_size: u32) -> Option<Tie> {
        let Similarity { overlap, union } = similarity;
        if !self.decides || similarity.reaches(self.threshold) {
            return Some(Tie { kind: TieKind::Near, similarity, share: (overlap, union) });
        }
        let containment = self.containment.filter(|containment| size.min(leader_size) >= containment.min_size)?;
        let inside = |kind, size: u32| {
            let share = (overlap, size.into());
            containment.least.reached(share.0, share.1).then_some(Tie { kind, similarity, share })
        };
        inside(TieKind::Contained, size).or_else(|| inside(TieKind::Contains, leader_size))
    }

    /// Whether two sets of these sizes belong together.
    pub fn accepts(self, similarity: Similarity, a: u32, b: u32) -> bool {
        self.tie(similarity, a, b).is_some()
    }
}

/// How a document is tied to its leader; of two ties the greater holds.
#[derive(Clone, Copy, Debug)]
pub struct Tie {
    /// In which way.
    pub kind: TieKind,
    /// How alike the two are.
    pub similarity: Similarity,
    /// What ties of one kind are compared by.
    share: (u32, u64),
}

/// Ways to be tied, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TieKind {
    /// The leader lies inside the document.
    Contains,
    /// The document lies inside the leader.
    Contained,
    /// They resemble each other.
    Near,
}

impl Tie {
    /// Of documents with the same shingles.
    pub const SAME: Tie = Tie { kind: TieKind::Near, similarity: Similarity::ONE, share: (1, 1) };

    /// Whether it binds more closely than another.
    pub fn exceeds(self, other: Tie) -> bool {
        let product = |(a, _): (u32, u64), (_, b): (u32, u64)| u128::from(a) * u128::from(b);
        let by_share = product(self.share, other.share).cmp(&product(other.share, self.share));
        self.kind.cmp(&other.kind).then(by_share) == Ordering::Greater
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resemblance_comes_before_containment_and_short_documents_are_not_contained() {
        let containment = Containment { least: Threshold::NINE_TENTHS, min_size: 20 };
        let measure = Measure { threshold: Threshold::EIGHT_TENTHS, containment: Some(containment), decides: true };
        let tie = |overlap, size, leader| measure.tie(Similarity::new(overlap, size, leader), size, leader).map(|tie| tie.kind);
        assert_eq!(tie(90, 100, 100), Some(TieKind::Near));
        assert_eq!(tie(90, 100, 1000), Some(TieKind::Contained));
        assert_eq!(tie(89, 100, 1000), None);
        assert_eq!(tie(90, 1000, 100), Some(TieKind::Contains));
        assert_eq!(tie(19, 19, 1000), None, "too short to tell");
        let without = Measure { containment: None, ..measure };
        assert!(!without.accepts(Similarity::new(90, 100, 1000), 100, 1000));
    }
}
