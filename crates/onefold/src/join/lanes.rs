//! Entries on disk by partition of their keys, as they come from several threads. The sets of which they are may get other numbers later.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::gathered::{checksum, lock};
use super::sets::SetIndex;
use super::shared::{Entry, PARTITIONS, Partitioned};
use crate::error::Result;
use crate::exec::{Exec, PAGE, Pages, SpillFile, Way};

/// Words of an entry.
const ENTRY: usize = 2;
/// Least and most words that are written at a time.
const BLOCK: std::ops::RangeInclusive<usize> = PAGE..=32 * PAGE;
/// Blocks of a lane that lie one after the other, to be read together.
const TOGETHER: usize = 4;
/// In the place of a set: nobody asks for it.
pub(super) const NONE: SetIndex = SetIndex::MAX;

/// See the module. Each partition is a lane: some blocks anywhere in the file, and a last one that waits in memory.
#[derive(Debug)]
pub(super) struct Lanes {
    file: SpillFile,
    all: Vec<Mutex<Lane>>,
    /// Where the next block will be.
    next: AtomicU64,
    /// Words that the file has room for.
    room: Mutex<u64>,
    /// Blocks that have been written, to be filled again.
    spare: Mutex<Vec<Pages>>,
    /// By the number of a set in the entries: the set. Nothing where they are the same.
    sets: Vec<SetIndex>,
}

#[derive(Debug)]
struct Lane {
    last: Pages,
    filled: usize,
    /// Where the next blocks will be.
    places: Range<u64>,
    written: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    at: u64,
    checksum: u32,
}

impl Lanes {
    /// Bytes of so many entries.
    pub(super) fn bytes(entries: u64) -> u64 {
        entries * (ENTRY * size_of::<u64>()) as u64
    }

    /// Without entries.
    pub(super) fn new(exec: &Exec<'_>) -> Result<Lanes> {
        let fit = exec.memory.part(16, 0) as usize / PARTITIONS / 8 / PAGE * PAGE;
        let block = fit.clamp(*BLOCK.start(), *BLOCK.end());
        let file = exec.spill()?.scratch("keys", Way::Past)?;
        let lane = |_| Mutex::new(Lane { last: Pages::new(block), filled: 0, places: 0..0, written: Vec::new() });
        let all = (0..PARTITIONS).map(lane).collect();
        Ok(Lanes { file, all, next: AtomicU64::new(0), room: Mutex::new(0), spare: Mutex::default(), sets: Vec::new() })
    }

    /// Bytes that stay in memory.
    pub(super) fn memory(&self) -> u64 {
        let block = self.all.first().map_or(0, |lane| lane.lock().map_or(0, |lane| lane.last.len()));
        (self.all.len() * block * size_of::<u64>()) as u64
    }

    /// Now it is known which sets the numbers stand for, and which of them nobody asks for.
    pub(super) fn rename(&mut self, sets: Vec<SetIndex>) {
        self.sets = sets;
    }

    /// Adds entries.
    pub(super) fn add(&self, entries: &Partitioned<Entry>) -> Result<()> {
        for partition in 0..self.all.len() {
            let mut entries = entries.partition(partition);
            let mut lane = if entries.is_empty() { continue } else { lock(&self.all[partition])? };
            while !entries.is_empty() {
                let filled = lane.filled;
                let room = &mut lane.last.words_mut()[filled..];
                let (some, others) = entries.split_at(entries.len().min(room.len() / ENTRY));
                room.chunks_exact_mut(ENTRY).zip(some).for_each(|(words, entry)| words.copy_from_slice(&entry.to_words()));
                lane.filled += some.len() * ENTRY;
                entries = others;
                if lane.filled == lane.last.len() {
                    lane = self.write(partition, lane)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the last block of a lane, which others may fill meanwhile.
    fn write<'l>(&'l self, partition: usize, mut lane: MutexGuard<'l, Lane>) -> Result<MutexGuard<'l, Lane>> {
        let spare = lock(&self.spare)?.pop().unwrap_or_else(|| Pages::new(lane.last.len()));
        let full = std::mem::replace(&mut lane.last, spare);
        lane.filled = 0;
        if lane.places.is_empty() {
            let together = (TOGETHER * full.len()) as u64;
            let first = self.next.fetch_add(together, Ordering::Relaxed);
            lane.places = first..first + together;
        }
        let at = lane.places.start;
        lane.places.start += full.len() as u64;
        drop(lane);
        self.make_room(at + full.len() as u64, full.len())?;
        self.file.write_at(at, full.words())?;
        let checksum = checksum(full.words());
        lock(&self.spare)?.push(full);
        let mut lane = lock(&self.all[partition])?;
        lane.written.push(Block { at, checksum });
        Ok(lane)
    }

    fn make_room(&self, words: u64, block: usize) -> Result<()> {
        let mut room = lock(&self.room)?;
        if *room < words {
            // For a block of each lane, as they come at about the same time.
            *room = words + (PARTITIONS * block) as u64;
            self.file.make_room(*room)?;
        }
        Ok(())
    }

    /// How many entries a partition has, with those that nobody asks for.
    pub(super) fn len(&self, partition: usize) -> usize {
        let words = |lane: &Lane| lane.written.len() * lane.last.len() + lane.filled;
        self.all[partition].lock().map_or(0, |lane| words(&lane) / ENTRY)
    }

    /// Puts the entries of a partition into a buffer, in no order.
    pub(super) fn read(&self, partition: usize, entries: &mut Vec<Entry>) -> Result<()> {
        entries.clear();
        entries.reserve_exact(self.len(partition));
        let lane = lock(&self.all[partition])?;
        let block = lane.last.len();
        let mut pages = Pages::new(TOGETHER * block);
        let mut written: Vec<&Block> = lane.written.iter().collect();
        written.sort_unstable_by_key(|block| block.at);
        let is_next = |a: &&Block, b: &&Block| a.at + block as u64 == b.at;
        for run in written.chunk_by(is_next).flat_map(|run| run.chunks(TOGETHER)) {
            self.file.read_pages(run[0].at, run.len() * block, pages.words_mut())?;
            for (of_block, words) in run.iter().zip(pages.words().chunks(block)) {
                if checksum(words) != of_block.checksum {
                    return Err(self.file.damaged(of_block.at, "keys are not what was written"));
                }
                self.append(words, entries);
            }
        }
        self.append(&lane.last.words()[..lane.filled], entries);
        Ok(())
    }

    fn append(&self, words: &[u64], entries: &mut Vec<Entry>) {
        let read = words.chunks_exact(ENTRY).map(Entry::from_words);
        if self.sets.is_empty() {
            return entries.extend(read);
        }
        let renamed = read.map(|entry| Entry { set: self.sets[entry.set as usize], ..entry });
        entries.extend(renamed.filter(|entry| entry.set != NONE));
    }
}
