//! Overlaps in crowds: pages made from one template are near-duplicates by the hundred, each of each other.
//!
//! A crowd has a leader and a vocabulary: the leader's elements, then those that others have beside them, as they come. A member is a bit
//! for each element of the vocabulary, and what two of them have in common is counted a word of bits at a time. And if one set is near a
//! leader while another is far from it, they can't be near each other, without any counting. The numbers are the same as those of merges
//! of the sets themselves; who leads whom decides only what they cost.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::sets::SetIndex;

/// From so many candidates on a set is looked at as one of a crowd.
pub(super) const CROWD: usize = 8;
/// Words that are held.
const WORDS: usize = 1 << 20;
/// Elements that a leader has at most.
const LEADER: usize = WORDS / 16;
/// Words that a member takes beside its bits, about.
const OVERHEAD: usize = 12;
/// Words that an element of the vocabulary takes, about.
const ELEMENT: usize = 4;
/// Elements that are compared at once where sets may be equal for a while.
const RUN: usize = 4;
/// A bit for each of them.
const ALL: u64 = (1 << RUN) - 1;

/// Elements of a set, as bits of a crowd's vocabulary.
struct Portrait {
    bits: Vec<u64>,
    /// How many elements it has or lacks that the leader lacks or has.
    changes: usize,
}

/// See the module.
struct Crowd {
    leader: Vec<u64>,
    /// The numbers of further elements.
    others: HashMap<u64, usize, Spread>,
}

impl Crowd {
    /// Sets that differ from the leader in more elements than so many are far from it: most of what they have would be new.
    fn far(&self, size: usize) -> usize {
        (self.leader.len() + size) / 3
    }

    /// A set in the words of the vocabulary, which learns what it lacks; nothing where it is far from the leader.
    fn portray(&mut self, set: &[u64]) -> Option<Portrait> {
        let most = self.far(set.len());
        let (mut bits, mut others) = (vec![0u64; self.leader.len().div_ceil(WORD)], Vec::new());
        let (mut at, mut rest, mut lacking) = (0, set, 0);
        while let (Some(x), Some((y, after))) = (self.leader.get(at), rest.split_first()) {
            if let (Some(run), Some((same, after))) = (self.leader[at..].first_chunk::<RUN>(), rest.split_first_chunk::<RUN>())
                && run == same
            {
                let (word, bit) = (at / WORD, at % WORD);
                bits[word] |= ALL << bit;
                if bit + RUN > WORD {
                    bits[word + 1] |= ALL >> (WORD - bit);
                }
                (at, rest) = (at + RUN, after);
                continue;
            }
            bits[at / WORD] |= u64::from(x == y) << (at % WORD);
            lacking += usize::from(x < y);
            at += usize::from(x <= y);
            if y <= x {
                rest = after;
            }
            if y < x {
                others.push(*y);
            }
            if lacking + others.len() > most {
                return None;
            }
        }
        others.extend_from_slice(rest);
        let changes = lacking + self.leader.len() - at + others.len();
        if changes > most {
            return None;
        }
        for other in others {
            let next = self.leader.len() + self.others.len();
            let number = *self.others.entry(other).or_insert(next);
            if bits.len() <= number / WORD {
                bits.resize(number / WORD + 1, 0);
            }
            bits[number / WORD] |= 1 << (number % WORD);
        }
        Some(Portrait { bits, changes })
    }
}

const WORD: usize = u64::BITS as usize;

/// How many bits two portraits have in common.
fn common(a: &[u64], b: &[u64]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("popcnt") {
        #[expect(unsafe_code, reason = "an instruction that this machine has")]
        // SAFETY: it was just asked for.
        return unsafe { common_by_instruction(a, b) };
    }
    count_common(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn common_by_instruction(a: &[u64], b: &[u64]) -> u32 {
    count_common(a, b)
}

#[inline(always)]
fn count_common(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

/// Spreads numbers over a table: elements are hashes already, and nobody chooses which sets are near each other.
#[derive(Default)]
struct Multiplied(u64);

type Spread = BuildHasherDefault<Multiplied>;

impl Hasher for Multiplied {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// A crowd, by the order in which they were found.
type CrowdIndex = usize;

/// A set as some crowds see it; nothing where it is far from their leaders.
#[derive(Default)]
struct Member(Vec<(CrowdIndex, Option<Portrait>)>);

impl Member {
    fn seen_by(&self, crowd: CrowdIndex) -> Option<&Option<Portrait>> {
        self.0.iter().find(|(at, _)| *at == crowd).map(|(_, portrait)| portrait)
    }

    /// A crowd that it belongs to.
    fn crowd(&self) -> Option<CrowdIndex> {
        self.0.iter().find(|(_, portrait)| portrait.is_some()).map(|(at, _)| *at)
    }
}

/// The crowds that one thread has seen lately.
#[derive(Default)]
pub(super) struct Crowds {
    crowds: Vec<Crowd>,
    members: HashMap<SetIndex, Member, Spread>,
    words: usize,
    /// The crowd of the set that is looked at, and the set as this crowd sees it.
    own: Option<(CrowdIndex, Portrait)>,
}

impl Crowds {
    /// Looks at another set and its candidates, each with the number of keys that they share.
    pub(super) fn enter(&mut self, set: &[u64], candidates: &[(SetIndex, u32)]) {
        if self.words > WORDS {
            *self = Crowds::default();
        }
        let crowd_of = |candidate: &SetIndex| self.members.get(candidate)?.crowd();
        let nearest = candidates.iter().filter_map(|(candidate, keys)| Some((*keys, crowd_of(candidate)?))).max();
        self.own = nearest.and_then(|(_, crowd)| Some((crowd, self.portray(crowd, set)?)));
    }

    fn portray(&mut self, crowd: CrowdIndex, set: &[u64]) -> Option<Portrait> {
        let crowd = &mut self.crowds[crowd];
        let known = crowd.others.len();
        let portrait = crowd.portray(set);
        self.words += portrait.as_ref().map_or(0, |portrait| portrait.bits.len()) + (crowd.others.len() - known) * ELEMENT;
        portrait
    }

    /// The number of common elements of the set that is looked at and a candidate, if it is at least `needed`. `Err` where the sets have to
    /// be merged to know.
    pub(super) fn overlap(&self, set: &[u64], candidate: SetIndex, size: usize, needed: u32) -> Result<Option<u32>, Unknown> {
        let (crowd, own) = self.own.as_ref().ok_or(Unknown)?;
        let found = match self.members.get(&candidate).and_then(|member| member.seen_by(*crowd)).ok_or(Unknown)? {
            Some(portrait) => common(&own.bits, &portrait.bits),
            None => {
                // One is near the leader and the other far from it: they differ at least in what they differ from it.
                let different = (self.crowds[*crowd].far(size) + 1).saturating_sub(own.changes);
                let at_most = (set.len() + size).saturating_sub(different) / 2;
                return if at_most < needed as usize { Ok(None) } else { Err(Unknown) };
            }
        };
        Ok((found >= needed).then_some(found))
    }

    /// Remembers a candidate whose elements had to be looked at, and whether it has enough in common with the set.
    pub(super) fn meet(&mut self, set: &[u64], candidate: SetIndex, elements: &[u64], enough: bool) {
        if self.words > WORDS {
            return;
        }
        let Some(member) = self.members.get(&candidate) else {
            // Whoever is met again will be met often.
            self.words += OVERHEAD;
            self.members.insert(candidate, Member::default());
            return;
        };
        let crowd = match &self.own {
            Some((crowd, _)) if member.seen_by(*crowd).is_some() => return,
            Some((crowd, _)) => *crowd,
            None if !enough || elements.len() > LEADER => return,
            None => {
                self.words += elements.len();
                self.crowds.push(Crowd { leader: elements.to_vec(), others: HashMap::default() });
                let crowd = self.crowds.len() - 1;
                self.own = self.portray(crowd, set).map(|portrait| (crowd, portrait));
                crowd
            }
        };
        let portrait = self.portray(crowd, elements);
        self.words += OVERHEAD;
        self.members.entry(candidate).or_default().0.push((crowd, portrait));
    }

    /// Remembers the set that was looked at: sets that come later will have it among their candidates.
    pub(super) fn leave(&mut self, set: SetIndex) {
        if let Some((crowd, portrait)) = self.own.take() {
            self.words += OVERHEAD;
            let member = self.members.entry(set).or_default();
            if member.seen_by(crowd).is_none() {
                member.0.push((crowd, Some(portrait)));
            }
        }
    }
}

/// Too little is known of a set.
#[derive(Debug)]
pub(super) struct Unknown;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Elements = BTreeSet<u64>;

    /// Sets that come from two others by some changes.
    fn sets() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let base = || prop::collection::btree_set(0u64..400, 0..120);
        let changes = prop::collection::vec((any::<bool>(), prop::collection::btree_set(0u64..400, 0..60)), 2..40);
        let changed = |bases: [&Elements; 2], (second, change): &(bool, Elements)| -> Vec<u64> {
            (bases[usize::from(*second)] ^ change).into_iter().collect()
        };
        (base(), base(), changes)
            .prop_map(move |(a, b, changes)| changes.iter().map(|change| changed([&a, &b], change)).collect())
    }

    /// Each set looks for those before it; says how many merges that took.
    fn look_for_all(sets: &[Vec<u64>], needed: u32) -> usize {
        let (mut crowds, mut merged) = (Crowds::default(), 0);
        for (at, set) in sets.iter().enumerate() {
            let candidates: Vec<(SetIndex, u32)> =
                (0..at as SetIndex).map(|candidate| (candidate, crate::verify::common(set, &sets[candidate as usize]))).collect();
            crowds.enter(set, &candidates);
            for (candidate, _) in candidates {
                let elements = &sets[candidate as usize];
                let found = crate::verify::common(set, elements);
                match crowds.overlap(set, candidate, elements.len(), needed) {
                    Ok(overlap) => assert_eq!(overlap, (found >= needed).then_some(found)),
                    Err(Unknown) => {
                        merged += 1;
                        crowds.meet(set, candidate, elements, found >= needed);
                    }
                }
            }
            crowds.leave(at as SetIndex);
        }
        merged
    }

    proptest! {
        #[test]
        fn crowds_know_what_merging_finds(sets in sets(), needed in 0u32..100) {
            look_for_all(&sets, needed);
        }
    }

    #[test]
    fn a_crowd_is_merged_a_few_times_and_no_more() {
        // Two crowds that have a third in common, each with its own element in every set.
        let set = |nth: u64| {
            let base = (nth % 2 * 200..nth % 2 * 200 + 300).filter(|element| element % 100 != nth);
            base.chain([1000 + nth]).collect::<Vec<u64>>()
        };
        let sets: Vec<Vec<u64>> = (0..100).map(set).collect();
        let merged = look_for_all(&sets, 250);
        assert!(merged < 400, "{merged} of 4950");
    }
}
