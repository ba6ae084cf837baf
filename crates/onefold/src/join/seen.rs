//! Which keys may be of more than one set: two bits for each slot of keys, seen and seen again.
//!
//! Each partition of keys has slots of its own: who looks at one partition after the other finds their slots in the cache, and all keys'
//! slots are far larger than any.

use super::shared::{PARTITIONS, partition};

/// Slots for each key: with fewer, more keys are taken for shared by collision.
const SLOTS: u64 = 2;
/// Slots in a word.
const IN_WORD: u64 = u64::BITS as u64 / 2;

/// Two bits for each slot.
#[derive(Default)]
pub(super) struct Slots(Vec<u64>);

impl Slots {
    /// Nothing is seen in so many slots.
    pub(super) fn clear(&mut self, slots: u64) {
        self.0.clear();
        self.0.resize(slots.div_ceil(IN_WORD) as usize, 0);
    }

    /// Sees what is in a slot.
    #[inline]
    pub(super) fn add(&mut self, slot: u64) {
        let bit = slot % IN_WORD * 2;
        let word = &mut self.0[(slot / IN_WORD) as usize];
        *word |= (*word >> bit & 1) << (bit + 1) | 1 << bit;
    }

    /// Whether two were seen in a slot.
    #[inline]
    pub(super) fn twice(&self, slot: u64) -> bool {
        self.0[(slot / IN_WORD) as usize] >> (slot % IN_WORD * 2 + 1) & 1 == 1
    }
}

/// See the module. What is never seen twice here is of one set.
pub(super) struct Seen {
    all: Slots,
    /// Slots of a partition.
    slots: u64,
}

impl Seen {
    /// How many slots to use for so many keys, in so many bytes at most.
    pub(super) fn slots(keys: u64, bytes: u64) -> u64 {
        (keys * SLOTS).min(bytes / 8 * IN_WORD).max(1)
    }

    /// With nothing seen.
    pub(super) fn new(slots: u64) -> Seen {
        let slots = slots.div_ceil(PARTITIONS as u64);
        let mut all = Slots::default();
        all.clear(slots * PARTITIONS as u64);
        Seen { all, slots }
    }

    /// The slot of a key. Keys are uniform but for a few leading bits.
    #[inline]
    fn slot(&self, key: u64) -> u64 {
        partition(key) as u64 * self.slots + ((u128::from(key << 8) * u128::from(self.slots)) >> 64) as u64
    }

    /// Sees a key.
    #[inline]
    pub(super) fn add(&mut self, key: u64) {
        self.all.add(self.slot(key));
    }

    /// Whether a key may have been seen twice.
    #[inline]
    pub(super) fn twice(&self, key: u64) -> bool {
        self.all.twice(self.slot(key))
    }

    /// What two have seen that have as many slots.
    pub(super) fn and(mut self, other: Seen) -> Seen {
        const FIRST: u64 = u64::MAX / 3;
        for (word, other) in self.all.0.iter_mut().zip(other.all.0) {
            *word |= other | (*word & other & FIRST) << 1;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::hash::mix;

    #[test]
    fn what_is_seen_twice_is_known_whoever_saw_it() {
        for slots in [1, 7, Seen::slots(1000, 1 << 20)] {
            let mut parts = [Seen::new(slots), Seen::new(slots)];
            for key in 0..1000 {
                parts[key as usize % 2].add(mix(key));
                if key % 3 == 0 {
                    parts[key as usize % 5 % 2].add(mix(key));
                }
            }
            let [a, b] = parts;
            let seen = a.and(b);
            assert!((0..1000).filter(|key| key % 3 == 0).all(|key| seen.twice(mix(key))), "{slots}");
            let by_collision = (0..1000).filter(|key| key % 3 != 0 && seen.twice(mix(*key))).count();
            assert!(slots < 1000 || by_collision < 300, "{by_collision} of 666");
        }
    }
}
