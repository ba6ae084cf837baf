//! Entries on disk by partition of their keys, as they come from several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::gathered::{checksum, lock};
use super::shared::{Entry, PARTITIONS, Partitioned};
use crate::error::Result;
use crate::exec::{Exec, PAGE, Pages, SpillFile, Way};

/// Words of an entry.
const ENTRY: usize = 2;
/// Least and most words that are written at a time.
const BLOCK: std::ops::RangeInclusive<usize> = PAGE..=32 * PAGE;

/// See the module. Each partition is a lane: some blocks anywhere in the file, and a last one that waits in memory.
pub(super) struct Lanes {
    file: SpillFile,
    all: Vec<Mutex<Lane>>,
    /// Where the next block will be.
    next: AtomicU64,
}

struct Lane {
    last: Pages,
    filled: usize,
    written: Vec<Block>,
}

struct Block {
    at: u64,
    words: usize,
    checksum: u32,
}

impl Lanes {
    /// Bytes of so many entries.
    pub(super) fn bytes(entries: u64) -> u64 {
        entries * (ENTRY * size_of::<u64>()) as u64
    }

    /// With room for so many entries.
    pub(super) fn new(entries: u64, exec: &Exec<'_>) -> Result<Lanes> {
        let fit = exec.memory.part(16, 0) as usize / PARTITIONS / 8 / PAGE * PAGE;
        let block = fit.clamp(*BLOCK.start(), *BLOCK.end());
        let file = exec.spill()?.scratch("keys", Way::Past)?;
        file.make_room(entries * ENTRY as u64 + (PARTITIONS * block) as u64)?;
        let lane = |_| Mutex::new(Lane { last: Pages::new(block), filled: 0, written: Vec::new() });
        Ok(Lanes { file, all: (0..PARTITIONS).map(lane).collect(), next: AtomicU64::new(0) })
    }

    /// Adds entries.
    pub(super) fn add(&self, entries: &Partitioned<Entry>) -> Result<()> {
        for (partition, lane) in self.all.iter().enumerate() {
            let mut entries = entries.partition(partition);
            let mut lane = if entries.is_empty() { continue } else { lock(lane)? };
            while !entries.is_empty() {
                let filled = lane.filled;
                let room = &mut lane.last.words_mut()[filled..];
                let (some, others) = entries.split_at(entries.len().min(room.len() / ENTRY));
                room.chunks_exact_mut(ENTRY).zip(some).for_each(|(words, entry)| words.copy_from_slice(&entry.to_words()));
                lane.filled += some.len() * ENTRY;
                entries = others;
                if lane.filled == lane.last.len() {
                    self.write(&mut lane)?;
                }
            }
        }
        Ok(())
    }

    fn write(&self, lane: &mut Lane) -> Result<()> {
        let at = self.next.fetch_add(lane.last.len() as u64, Ordering::Relaxed);
        self.file.write_at(at, lane.last.words())?;
        let checksum = checksum(&lane.last.words()[..lane.filled]);
        lane.written.push(Block { at, words: lane.filled, checksum });
        lane.filled = 0;
        Ok(())
    }

    /// How many entries a partition has.
    pub(super) fn len(&self, partition: usize) -> usize {
        let words = |lane: &Lane| lane.written.iter().map(|block| block.words).sum::<usize>() + lane.filled;
        self.all[partition].lock().map_or(0, |lane| words(&lane) / ENTRY)
    }

    /// Puts the entries of a partition into a buffer, in no order.
    pub(super) fn read(&self, partition: usize, entries: &mut Vec<Entry>) -> Result<()> {
        entries.clear();
        entries.reserve_exact(self.len(partition));
        let lane = lock(&self.all[partition])?;
        let mut pages = Pages::new(lane.last.len());
        for block in &lane.written {
            self.file.read_pages(block.at, block.words, pages.words_mut())?;
            let words = &pages.words()[..block.words];
            if checksum(words) != block.checksum {
                return Err(self.file.damaged(block.at, "keys are not what was written"));
            }
            entries.extend(words.chunks_exact(ENTRY).map(Entry::from_words));
        }
        entries.extend(lane.last.words()[..lane.filled].chunks_exact(ENTRY).map(Entry::from_words));
        Ok(())
    }
}
