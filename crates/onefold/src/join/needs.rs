//! What a join will take, before there is one: for estimates.

use super::lanes::Lanes;
use super::postings::Postings;
use super::shared::Shared;
use super::sketches::Sketches;

/// What there will be to join.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) shingles: u64,
    /// Words that are kept behind them.
    pub(crate) words: u64,
    /// Join keys of all sets.
    pub(crate) keys: u64,
    /// Words of all sketches.
    pub(crate) sketches: u64,
}

impl Needs {
    /// Bytes of the sets in memory, and of what is kept behind them.
    pub(crate) fn held_sets(&self) -> u64 {
        (self.shingles + self.words) * size_of::<u64>() as u64
    }

    /// Bytes of keys while the index is built.
    pub(crate) fn keys(&self) -> u64 {
        Shared::bytes(self.keys)
    }

    /// Bytes of keys on disk for a second look, where sets are there as well.
    pub(crate) fn keys_of_spilled_sets(&self) -> u64 {
        self.keys * size_of::<u64>() as u64
    }

    /// Bytes of all keys on disk by partition, where sets are apart.
    pub(crate) fn keys_apart(&self) -> u64 {
        Lanes::bytes(self.keys)
    }

    /// Bytes of the sets that are among candidates, of collections with many duplicates, where sets are apart. As measured.
    pub(crate) fn gathered_sets(&self) -> u64 {
        self.held_sets() / 3
    }

    /// Bytes of the keys that sets share on disk, of such collections. As measured.
    pub(crate) fn shared_keys(&self) -> u64 {
        Postings::bytes(self.keys) / 2
    }

    /// Bytes of keys on disk, where they are too many for memory.
    pub(crate) fn spilled_keys(&self) -> u64 {
        Shared::bytes_on_disk(self.keys)
    }

    /// Bytes of sketches.
    pub(crate) fn sketches(&self) -> u64 {
        self.sketches * size_of::<u64>() as u64
    }

    /// Memory that must be left when the join begins, or keys go to disk.
    pub(crate) fn room_for_keys(&self) -> u64 {
        self.sketches() + self.keys() / Shared::SHARE * 100
    }

    /// Memory that must be left when the join begins, or sketches go to disk.
    pub(crate) fn room_for_sketches(&self) -> u64 {
        self.sketches() / Sketches::SHARE * 100
    }
}
