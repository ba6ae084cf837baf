//! What is taken from sets while they are read, where many go to disk: their join keys and outlines. Otherwise all of them would have to be
//! read again for that.
//!
//! Which sets there are is known when everything has been read. Until then a set goes by a number that it gets here.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::gathered::{failed, lock};
use super::lanes::{Lanes, Waiting};
use super::outlines::draw;
use crate::document::ShingleRef;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::learn::Model;
use crate::threshold::Threshold;

/// See the module.
pub(crate) struct Taking {
    model: Model,
    threshold: Threshold,
    keys: Lanes,
    /// Numbers that have been given.
    count: AtomicU32,
    /// Words of outlines, and how many there may be.
    outlines: AtomicU64,
    most_outlines: u64,
    /// What nobody uses at the moment; keys wait in it.
    used: Mutex<Vec<Buffers>>,
}

/// What was taken from the sets of an arena.
#[derive(Debug)]
pub(crate) struct TakenArena {
    /// The number of its first set that has shingles; the others follow.
    pub(super) first: u32,
    /// Where each set and its outline begin.
    pub(super) starts: Vec<(u32, u32)>,
    /// Nothing where there was no room.
    pub(super) outlines: Vec<u64>,
}

/// What was taken in all.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The order of shingles that made them keys; for the first who asks.
    pub(crate) model: Option<Model>,
    pub(super) keys: Lanes,
    /// Numbers that were given.
    pub(super) count: u32,
    pub(super) arenas: Vec<Option<TakenArena>>,
}

/// What it takes to look at the sets of an arena, kept from arena to arena.
#[derive(Default)]
pub(super) struct Buffers {
    keys: Vec<u64>,
    scratch: Vec<u64>,
    waiting: Waiting,
}

impl Buffers {
    /// Takes the first so many keys of a set in the order of a model.
    pub(super) fn take(&mut self, model: &Model, number: u32, set: &[u64], count: u32, lanes: &Lanes) -> Result<()> {
        self.keys.clear();
        model.first_in_order(set, count as usize, &mut self.keys, &mut self.scratch);
        lanes.add(number, &self.keys, &mut self.waiting)
    }

    /// Hands over the keys that still wait.
    pub(super) fn hand_over(&mut self, lanes: &Lanes) -> Result<()> {
        lanes.add_all(&mut self.waiting)
    }
}

impl Taking {
    /// Hundredths of the memory that outlines may take.
    const SHARE: u64 = 10;

    /// For a join with this threshold.
    pub(crate) fn new(model: Model, threshold: Threshold, exec: &Exec<'_>) -> Result<Taking> {
        let keys = Lanes::new(exec)?;
        let most_outlines = exec.memory.limit().map_or(u64::MAX, |limit| limit / 100 * Taking::SHARE) / size_of::<u64>() as u64;
        let (count, outlines) = (AtomicU32::new(0), AtomicU64::new(0));
        Ok(Taking { model, threshold, keys, count, outlines, most_outlines, used: Mutex::default() })
    }

    /// Bytes that stay in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.outlines.load(Ordering::Relaxed) * size_of::<u64>() as u64 + self.keys.memory()
    }

    /// Bytes of so many keys.
    pub(crate) fn bytes_of_keys(keys: u64) -> u64 {
        Lanes::bytes(keys)
    }

    /// Bytes of keys that are in memory, and may go to disk.
    pub(crate) fn held_keys(&self) -> u64 {
        self.keys.held()
    }

    /// Keys may take so many bytes of memory; the others go to disk.
    pub(crate) fn hold_keys(&self, most: u64) -> Result<()> {
        self.keys.hold(most)
    }

    /// Takes what is needed of the sets of an arena, which lie one after the other; outlines only where there is room for them.
    pub(crate) fn take(&self, arena: &[u64], sets: impl Iterator<Item = ShingleRef>, has_room: bool) -> Result<TakenArena> {
        let sets: Vec<ShingleRef> = sets.filter(|set| set.len > 0).collect();
        let count = u32::try_from(sets.len()).map_err(|_| too_many())?;
        let first = self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |given| given.checked_add(count));
        let mut taken =
            TakenArena { first: first.map_err(|_| too_many())?, starts: Vec::with_capacity(sets.len()), outlines: Vec::new() };
        let draws = has_room && self.outlines.load(Ordering::Relaxed) <= self.most_outlines;
        let mut buffers = lock(&self.used)?.pop().unwrap_or_default();
        for (number, place) in (taken.first..).zip(sets) {
            let set = place.of(arena);
            taken.starts.push((place.start, taken.outlines.len() as u32));
            buffers.take(&self.model, number, set, self.threshold.prefix(place.len), &self.keys)?;
            if draws {
                draw(set, &mut taken.outlines);
            }
        }
        lock(&self.used)?.push(buffers);
        taken.outlines.shrink_to_fit();
        self.outlines.fetch_add(taken.outlines.len() as u64, Ordering::Relaxed);
        Ok(taken)
    }

    /// All sets have been read; what was taken from each arena.
    pub(crate) fn finish(self, arenas: Vec<Option<TakenArena>>) -> Result<Taken> {
        let used = self.used.into_inner().map_err(|_| failed())?;
        used.into_iter().try_for_each(|mut buffers| buffers.hand_over(&self.keys))?;
        Ok(Taken { model: Some(self.model), keys: self.keys, count: self.count.into_inner(), arenas })
    }
}

fn too_many() -> Error {
    Error::TooLarge { what: "documents", limit: u32::MAX.into() }
}
