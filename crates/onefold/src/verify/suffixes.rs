//! All suffixes of a text in order, and for each the nearest living neighbours.
//!
//! In: a text of small numbers. Out: suffixes sorted so that those with long common beginnings stand together; walks from a
//! suffix to its neighbours by falling common length, past those that were put to death meanwhile. Invariant: order, ranks and
//! lengths are those of the definition. Cost: n log² n for any text (prefix doubling on the groups that are still undecided,
//! Larsson and Sadakane 2007), then log n a step, amortised. Drops nothing.

/// Sorted suffixes.
pub struct Suffixes {
    /// Where the suffixes begin, in sorted order.
    pub order: Vec<u32>,
    /// The place of each suffix in `order`.
    pub rank: Vec<u32>,
    /// Common words of each suffix in `order` with the one before it.
    pub common: Vec<u32>,
}

impl Suffixes {
    /// Sorts the suffixes of `text`.
    pub fn new(text: &[u32]) -> Self {
        let (order, rank) = sort(text);
        let common = common_with_previous(text, &order, &rank);
        Suffixes { order, rank, common }
    }
}

/// A group of suffixes that agree as far as was compared: their rank is where the group starts.
type Group = std::ops::Range<usize>;

fn sort(text: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut order = vec![0; text.len()];
    let mut rank = vec![0; text.len()];
    let mut keyed: Vec<(u32, u32)> = text.iter().zip(0..).map(|(&word, at)| (word, at)).collect();
    let mut groups = Vec::new();
    keyed.sort_unstable();
    divide(&keyed, 0, &mut order, &mut rank, &mut groups);
    let mut depth = 1;
    while !groups.is_empty() {
        for group in std::mem::take(&mut groups) {
            keyed.clear();
            let key = |at: u32| rank.get(at as usize + depth).map_or(0, |&rank| rank + 1);
            keyed.extend(order[group.clone()].iter().map(|&at| (key(at), at)));
            keyed.sort_unstable();
            divide(&keyed, group.start, &mut order, &mut rank, &mut groups);
        }
        depth *= 2;
    }
    (order, rank)
}

/// Writes a sorted group back from `start`, ranks its parts, and lists those with more than one suffix.
fn divide(keyed: &[(u32, u32)], start: usize, order: &mut [u32], rank: &mut [u32], groups: &mut Vec<Group>) {
    let mut at = start;
    for part in keyed.chunk_by(|a, b| a.0 == b.0) {
        for (offset, &(_, suffix)) in part.iter().enumerate() {
            order[at + offset] = suffix;
            rank[suffix as usize] = at as u32;
        }
        if part.len() > 1 {
            groups.push(at..at + part.len());
        }
        at += part.len();
    }
}

/// Kasai et al. 2001: the common length falls by at most one from a suffix to the next in the text.
fn common_with_previous(text: &[u32], order: &[u32], rank: &[u32]) -> Vec<u32> {
    let mut common = vec![0; text.len()];
    let mut length = 0;
    for at in 0..text.len() {
        let Some(previous) = rank[at].checked_sub(1) else {
            length = 0;
            continue;
        };
        let other = order[previous as usize] as usize;
        length += text[at + length..].iter().zip(&text[other + length..]).take_while(|(a, b)| a == b).count();
        common[rank[at] as usize] = length as u32;
        length = length.saturating_sub(1);
    }
    common
}

/// Walks down the order over the living; a union–find in which each link knows the common length on its way.
pub struct Descent {
    /// Common words with the entry below, as sorted.
    gaps: Vec<u32>,
    /// An entry at or below; itself for the living.
    links: Vec<u32>,
    /// Common words on the way to it.
    lengths: Vec<u32>,
}

impl Descent {
    /// Over entries with these common lengths to the one before; entry 0 stays alive as the end of every walk.
    pub fn new(gaps: Vec<u32>, alive: impl Fn(usize) -> bool) -> Self {
        let living = |entry: usize| entry == 0 || alive(entry);
        let links = (0..gaps.len()).map(|entry| if living(entry) { entry as u32 } else { entry as u32 - 1 }).collect();
        let lengths = (0..gaps.len()).map(|entry| if living(entry) { u32::MAX } else { gaps[entry] }).collect();
        Descent { gaps, links, lengths }
    }

    /// Puts an entry to death: walks pass it.
    pub fn kill(&mut self, entry: usize) {
        if self.links[entry] as usize == entry && entry > 0 {
            self.links[entry] = entry as u32 - 1;
            self.lengths[entry] = self.gaps[entry];
        }
    }

    /// The nearest living entry below `entry`, which is above 0, and the common words of the two.
    pub fn below(&mut self, entry: usize) -> (usize, u32) {
        let mut at = entry - 1;
        let mut length = self.gaps[entry];
        while self.links[at] as usize != at {
            let next = self.links[at] as usize;
            length = length.min(self.lengths[at]);
            // Shortcut for later walks; the living have a link to themselves and an unlimited length.
            self.lengths[at] = self.lengths[at].min(self.lengths[next]);
            self.links[at] = self.links[next];
            at = next;
        }
        (at, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &[u32]) {
        let found = Suffixes::new(text);
        let mut expected: Vec<u32> = (0..text.len() as u32).collect();
        expected.sort_by_key(|&at| &text[at as usize..]);
        assert_eq!(found.order, expected);
        for (place, &at) in found.order.iter().enumerate() {
            assert_eq!(found.rank[at as usize] as usize, place);
            let before = place.checked_sub(1).map_or(&[][..], |before| &text[found.order[before] as usize..]);
            let common = text[at as usize..].iter().zip(before).take_while(|(a, b)| a == b).count();
            assert_eq!(found.common[place] as usize, common);
        }
    }

    #[test]
    fn repetitive_texts_are_sorted() {
        check(&[]);
        check(&[7; 300]);
        check(&(0..300).map(|i| i % 2).collect::<Vec<u32>>());
        check(&(0..300u32).map(|i| i.count_ones() % 2).collect::<Vec<u32>>());
        check(&(0..300).rev().collect::<Vec<u32>>());
    }

    proptest! {
        #[test]
        fn texts_are_sorted(text in prop::collection::vec(0u32..3, 0..60)) {
            check(&text);
        }

        #[test]
        fn walks_pass_the_dead(gaps in prop::collection::vec(0u32..9, 1..40), alive in prop::collection::vec(any::<bool>(), 40), deaths in prop::collection::vec((0usize..40, 0usize..40), 0..60)) {
            let mut alive = alive;
            alive[0] = true;
            let mut descent = Descent::new(gaps.clone(), |entry| alive[entry]);
            for (dead, from) in deaths {
                let (dead, from) = (dead % gaps.len(), from % gaps.len());
                alive[dead] &= dead == 0;
                descent.kill(dead);
                if let Some(expected) = (0..from).rev().find(|&entry| alive[entry]) {
                    let length = gaps[expected + 1..=from].iter().min().copied().unwrap();
                    prop_assert_eq!(descent.below(from), (expected, length));
                }
            }
        }
    }
}
