//! Documents and duplicates by name, for any number of names in bounded memory.
//!
//! Past [`MOST_NAMES`] names the smaller half is summed up as "others" and forgotten. A name that comes back afterwards starts
//! anew, so from then on figures are least values; [`Tally::is_exact`] says whether that happened.

use std::collections::HashMap;

/// Names remembered at most; 1,000,000 hosts with one document each must not cost 100 MB.
const MOST_NAMES: usize = 50_000;

/// What is counted for a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Documents.
    pub documents: u64,
    /// Of these removed, with the same words as their representative.
    pub exact: u64,
    /// Of these removed, near it.
    pub near: u64,
}

impl Share {
    /// Removed, exact or near.
    pub fn removed(self) -> u64 {
        self.exact + self.near
    }

    fn add(&mut self, other: Share) {
        self.documents += other.documents;
        self.exact += other.exact;
        self.near += other.near;
    }
}

/// Counts by name.
#[derive(Debug, Default)]
pub struct Tally {
    names: HashMap<String, Share>,
    forgotten: Share,
    forgotten_names: u64,
}

/// The names that lose most, and the sum of the others.
#[derive(Debug, PartialEq, Eq)]
pub struct Ranked {
    /// The greatest loss first.
    pub top: Vec<(String, Share)>,
    /// The sum of the others.
    pub others: Share,
    /// How many others.
    pub other_names: u64,
}

impl Tally {
    /// Counts a document.
    pub fn add(&mut self, name: &str, share: Share) {
        if let Some(known) = self.names.get_mut(name) {
            return known.add(share);
        }
        if self.names.len() >= MOST_NAMES {
            self.forget();
        }
        self.names.insert(name.into(), share);
    }

    fn forget(&mut self) {
        let mut all: Vec<(String, Share)> = self.names.drain().collect();
        all.sort_unstable_by(|(a, x), (b, y)| y.documents.cmp(&x.documents).then_with(|| a.cmp(b)));
        for (_, share) in all.drain(MOST_NAMES / 2..) {
            self.forgotten.add(share);
            self.forgotten_names += 1;
        }
        self.names.extend(all);
    }

    /// Whether every figure is exact.
    pub fn is_exact(&self) -> bool {
        self.forgotten_names == 0
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The `most` names that lose most.
    pub fn ranked(&self, most: usize) -> Ranked {
        let mut all: Vec<(&String, &Share)> = self.names.iter().collect();
        let key = |share: &Share| (share.removed(), share.documents);
        all.sort_unstable_by(|(a, x), (b, y)| key(y).cmp(&key(x)).then_with(|| a.cmp(b)));
        let mut ranked = Ranked { top: Vec::new(), others: self.forgotten, other_names: self.forgotten_names };
        for (at, (name, share)) in all.into_iter().enumerate() {
            if at < most {
                ranked.top.push((name.clone(), *share));
            } else {
                ranked.others.add(*share);
                ranked.other_names += 1;
            }
        }
        ranked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: Share = Share { documents: 1, exact: 0, near: 1 };
    const KEPT: Share = Share { documents: 1, exact: 0, near: 0 };

    #[test]
    fn the_greatest_loss_comes_first() {
        let mut tally = Tally::default();
        for (name, share) in [("a", KEPT), ("b", LOST), ("c", LOST), ("a", KEPT), ("c", LOST)] {
            tally.add(name, share);
        }
        let ranked = tally.ranked(2);
        let names: Vec<&str> = ranked.top.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["c", "b"]);
        assert_eq!((ranked.others, ranked.other_names), (Share { documents: 2, ..Share::default() }, 1));
        assert!(tally.is_exact());
    }

    #[test]
    fn a_million_names_stay_bounded_and_the_great_ones_survive() {
        let mut tally = Tally::default();
        for at in 0..200_000u32 {
            tally.add(&format!("small-{at}"), KEPT);
            if at % 10 == 0 {
                tally.add("great", LOST);
            }
        }
        let ranked = tally.ranked(1);
        assert_eq!(ranked.top, [("great".to_string(), Share { documents: 20_000, exact: 0, near: 20_000 })]);
        assert_eq!(ranked.others.documents, 200_000);
        assert!(tally.names.len() <= MOST_NAMES && !tally.is_exact());
    }
}
