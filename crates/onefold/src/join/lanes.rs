//! Entries by partition of their keys, as they come from several threads: in memory while there is room, then on disk. The sets of which they
//! are may get other numbers later.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::gathered::{checksum, lock};
use super::sets::SetIndex;
use super::shared::{Entry, PARTITIONS, partition};
use crate::error::Result;
use crate::exec::{Exec, Idle, PAGE, Pages, SpillFile, Way, give_back};

/// Least and most words that are written at a time.
const BLOCK: std::ops::RangeInclusive<usize> = PAGE..=32 * PAGE;
/// Blocks of a lane that lie one after the other, to be read together.
const TOGETHER: usize = 4;
/// In the place of a set: nobody asks for it.
pub(super) const NONE: SetIndex = SetIndex::MAX;

/// Bits of a set's number in a packed entry. The blocks of a lane are of sets that have the others in common.
const SET_BITS: u32 = 24;
/// Bits of a place in a packed entry.
const PLACE_BITS: u32 = 8;

/// An entry in a lane as one word: bits of its key by which the lane was not chosen, about where it stands among the set's keys, and the last bits
/// of the set's number. Two keys of which these bits are the same are rare, and become one: what is verified is never the key.
#[inline]
fn pack(Entry { key, set, place }: Entry) -> u64 {
    let key = key >> PARTITIONS.ilog2() << (SET_BITS + PLACE_BITS);
    key | u64::from(coarse(place)) << SET_BITS | u64::from(set % (1 << SET_BITS))
}

/// The entry of a packed one of some partition and group.
#[inline]
fn unpack(word: u64, partition: usize, group: u32) -> Entry {
    let key = word >> (SET_BITS + PLACE_BITS) << PARTITIONS.ilog2() | partition as u64;
    let set = group << SET_BITS | (word % (1 << SET_BITS)) as u32;
    Entry { key, set, place: fine((word >> SET_BITS) as u8) }
}

/// The sets with which a set shares blocks.
#[inline]
fn group(set: SetIndex) -> u32 {
    set >> SET_BITS
}

/// A place in eight bits, which is enough to say that it is no smaller than some number.
#[inline]
fn coarse(place: u32) -> u8 {
    let bits = place.checked_ilog2().unwrap_or(0);
    if bits < 5 { place as u8 } else { (32 + (bits - 5) * 8 + (place >> (bits - 3) & 7)) as u8 }
}

/// The smallest place that is the same in eight bits.
#[inline]
fn fine(coarse: u8) -> u32 {
    let above = u32::from(coarse).saturating_sub(32);
    if coarse < 32 { coarse.into() } else { (8 + above % 8) << (above / 8 + 2) }
}

/// Entries of one partition that wait until they are so many: lanes are seldom locked then, and what is written to lies near together.
const WAITING: usize = 64;

/// Entries of one thread that wait to be added.
pub(super) struct Waiting {
    /// The group of their sets.
    group: u32,
    /// By partition: packed entries, and how many there are.
    all: Vec<([u64; WAITING], usize)>,
}

impl Default for Waiting {
    fn default() -> Self {
        Waiting { group: 0, all: vec![([0; WAITING], 0); PARTITIONS] }
    }
}

/// See the module. Each partition is a lane: some blocks in memory, some anywhere in the file, and last ones that
/// are being filled.
#[derive(Debug)]
pub(super) struct Lanes {
    file: SpillFile,
    /// Words of a block.
    block: usize,
    all: Vec<Mutex<Lane>>,
    /// Bytes of full blocks that are in memory, and that may be.
    held: AtomicU64,
    most_held: AtomicU64,
    /// Whether some had to go to disk that were in memory. Who makes room has it.
    letting_go: Mutex<bool>,
    /// Where the next block will be.
    next: AtomicU64,
    /// Words that the file has room for.
    room: Mutex<u64>,
    /// Blocks that have been written, to be filled again.
    spare: Idle<Pages>,
    /// Room for what is read of a partition.
    read: Idle<Pages>,
    /// By the number of a set in the entries: the set. Nothing where they are the same.
    sets: Vec<SetIndex>,
}

#[derive(Debug, Default)]
struct Lane {
    /// By group of sets; there is one unless there are millions of them.
    last: Vec<Last>,
    /// Where the next blocks will be.
    places: Range<u64>,
    held: Vec<Held>,
    written: Vec<Written>,
}

/// A block that is being filled; nothing until there is an entry for it.
#[derive(Debug, Default)]
struct Last {
    words: Option<Pages>,
    filled: usize,
}

impl Last {
    fn words(&self) -> &[u64] {
        self.words.as_ref().map_or(&[], |words| &words.words()[..self.filled])
    }
}

/// A full block in memory.
#[derive(Debug)]
struct Held {
    group: u32,
    words: Pages,
}

/// One on disk.
#[derive(Debug)]
struct Written {
    group: u32,
    at: u64,
    checksum: u32,
}

impl Lanes {
    /// Bytes of so many entries.
    pub(super) fn bytes(entries: u64) -> u64 {
        entries * size_of::<u64>() as u64
    }

    /// Without entries. They go to disk until some may be held.
    pub(super) fn new(exec: &Exec<'_>) -> Result<Lanes> {
        let fit = exec.memory.part(16, 0) as usize / PARTITIONS / 8 / PAGE * PAGE;
        let block = fit.clamp(*BLOCK.start(), *BLOCK.end());
        let file = exec.spill()?.scratch("keys", Way::Past)?;
        let all = (0..PARTITIONS).map(|_| Mutex::default()).collect();
        let (held, most_held, letting_go, next, room) = Default::default();
        let (spare, read, sets) = Default::default();
        Ok(Lanes { file, block, all, held, most_held, letting_go, next, room, spare, read, sets })
    }

    /// Bytes that stay in memory.
    pub(super) fn memory(&self) -> u64 {
        let groups = self.all.first().map_or(0, |lane| lane.lock().map_or(0, |lane| lane.last.len()));
        (self.all.len() * groups) as u64 * self.bytes_of_block() + self.held()
    }

    /// Bytes of full blocks in memory.
    pub(super) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Whether nothing is on disk.
    pub(super) fn are_held(&self) -> bool {
        self.next.load(Ordering::Relaxed) == 0
    }

    /// Full blocks may take so many bytes of memory, and never more once they had to take less. If they take more now some go to disk, and a few
    /// more than must.
    pub(super) fn hold(&self, most: u64) -> Result<()> {
        let enough = most / 8 * 7;
        let Ok(mut has_let_go) = self.letting_go.try_lock() else { return Ok(()) };
        if self.held() <= most {
            if !*has_let_go {
                self.most_held.store(most, Ordering::Relaxed);
            }
            return Ok(());
        }
        *has_let_go = true;
        self.most_held.store(enough, Ordering::Relaxed);
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for lane in &self.all {
                goes_on |= self.held() > enough && self.let_go(&mut *lock(lane)?)?;
            }
        }
        give_back();
        Ok(())
    }

    /// Writes a block of a lane that is in memory; says whether there was one.
    fn let_go(&self, lane: &mut Lane) -> Result<bool> {
        let Some(full) = lane.held.pop() else { return Ok(false) };
        self.held.fetch_sub(self.bytes_of_block(), Ordering::Relaxed);
        let at = self.place(lane);
        lane.written.push(self.write(at, &full)?);
        Ok(true)
    }

    /// Nobody will read a partition again: what it has in memory is given back.
    pub(super) fn forget(&self, partition: usize) -> Result<()> {
        let held = std::mem::take(&mut lock(&self.all[partition])?.held);
        self.held.fetch_sub(held.len() as u64 * self.bytes_of_block(), Ordering::Relaxed);
        Ok(())
    }

    /// Now it is known which sets the numbers stand for, and which of them nobody asks for.
    pub(super) fn rename(&mut self, sets: Vec<SetIndex>) {
        self.sets = sets;
    }

    /// Adds the keys of a set; some of them wait for others of their partitions.
    pub(super) fn add(&self, set: SetIndex, keys: &[u64], waiting: &mut Waiting) -> Result<()> {
        if waiting.group != group(set) {
            self.add_all(waiting)?;
            waiting.group = group(set);
        }
        for (&key, place) in keys.iter().zip(0..) {
            let partition = partition(key);
            let (words, count) = &mut waiting.all[partition];
            words[*count] = pack(Entry { key, set, place });
            *count += 1;
            if *count == WAITING {
                *count = 0;
                self.append(partition, waiting.group, words)?;
            }
        }
        Ok(())
    }

    /// Adds those that wait.
    pub(super) fn add_all(&self, waiting: &mut Waiting) -> Result<()> {
        for (partition, (words, count)) in waiting.all.iter_mut().enumerate().filter(|(_, (_, count))| *count > 0) {
            self.append(partition, waiting.group, &words[..*count])?;
            *count = 0;
        }
        Ok(())
    }

    fn append(&self, partition: usize, group: u32, mut words: &[u64]) -> Result<()> {
        let mut lane = lock(&self.all[partition])?;
        while !words.is_empty() {
            let taken = self.fill(lane.last(group), words);
            words = &words[taken..];
            if lane.last(group).filled == self.block {
                lane = self.put_away(partition, group, lane)?;
            }
        }
        Ok(())
    }

    /// Takes as many words as a block has room for; returns how many.
    fn fill(&self, last: &mut Last, words: &[u64]) -> usize {
        let block = last.words.get_or_insert_with(|| self.spare.take_or(|| Pages::new(self.block)));
        let room = &mut block.words_mut()[last.filled..self.block];
        let taken = words.len().min(room.len());
        room[..taken].copy_from_slice(&words[..taken]);
        last.filled += taken;
        taken
    }

    /// Puts a last block of a lane away; others may fill the next one meanwhile.
    fn put_away<'l>(&'l self, partition: usize, group: u32, mut lane: MutexGuard<'l, Lane>) -> Result<MutexGuard<'l, Lane>> {
        let Some(words) = std::mem::take(lane.last(group)).words else { return Ok(lane) };
        let full = Held { group, words };
        let bytes = self.bytes_of_block();
        if self.held.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.most_held.load(Ordering::Relaxed) {
            lane.held.push(full);
            return Ok(lane);
        }
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        let at = self.place(&mut lane);
        drop(lane);
        let written = self.write(at, &full)?;
        self.spare.put(full.words);
        let mut lane = lock(&self.all[partition])?;
        lane.written.push(written);
        Ok(lane)
    }

    /// Where the next block of a lane will be.
    fn place(&self, lane: &mut Lane) -> u64 {
        if lane.places.is_empty() {
            let together = (TOGETHER * self.block) as u64;
            let first = self.next.fetch_add(together, Ordering::Relaxed);
            lane.places = first..first + together;
        }
        let at = lane.places.start;
        lane.places.start += self.block as u64;
        at
    }

    fn write(&self, at: u64, full: &Held) -> Result<Written> {
        let words = full.words.words();
        self.make_room(at + words.len() as u64)?;
        self.file.write_at(at, words)?;
        Ok(Written { group: full.group, at, checksum: checksum(words) })
    }

    fn make_room(&self, words: u64) -> Result<()> {
        let mut room = lock(&self.room)?;
        if *room < words {
            // For a block of each lane, as they come at about the same time.
            *room = words + (PARTITIONS * self.block) as u64;
            self.file.make_room(*room)?;
        }
        Ok(())
    }

    /// How many entries a partition has, with those that nobody asks for.
    pub(super) fn len(&self, partition: usize) -> usize {
        let filled = |lane: &Lane| lane.last.iter().map(|last| last.filled).sum::<usize>();
        let entries = |lane: &Lane| (lane.held.len() + lane.written.len()) * self.block + filled(lane);
        self.all[partition].lock().map_or(0, |lane| entries(&lane))
    }

    /// Calls `look` with the entries of a partition, in no order.
    pub(super) fn read<T>(&self, partition: usize, look: impl FnOnce(&Entries<'_>) -> T) -> Result<T> {
        let lane = lock(&self.all[partition])?;
        let mut written: Vec<&Written> = lane.written.iter().collect();
        written.sort_unstable_by_key(|written| written.at);
        let all = written.len() * self.block;
        let mut pages = self.read.take_or(|| Pages::new(all));
        if pages.len() < all {
            pages = Pages::new(all);
        }
        let is_next = |a: &&Written, b: &&Written| a.at + self.block as u64 == b.at;
        let mut start = 0;
        for run in written.chunk_by(is_next) {
            let words = run.len() * self.block;
            self.file.read_pages(run[0].at, words, &mut pages.words_mut()[start..])?;
            start += words;
        }
        let mut blocks = Vec::with_capacity(written.len() + lane.held.len() + lane.last.len());
        for (block, words) in written.iter().zip(pages.words().chunks(self.block)) {
            if checksum(words) != block.checksum {
                return Err(self.file.damaged(block.at, "keys are not what was written"));
            }
            blocks.push((block.group, words));
        }
        blocks.extend(lane.held.iter().map(|full| (full.group, full.words.words())));
        blocks.extend((0..).zip(lane.last.iter().map(Last::words)));
        let result = look(&Entries { partition, blocks, sets: &self.sets });
        self.read.put(pages);
        Ok(result)
    }

    fn bytes_of_block(&self) -> u64 {
        (self.block * size_of::<u64>()) as u64
    }
}

/// The entries of a partition.
pub(super) struct Entries<'a> {
    partition: usize,
    /// Words of each block, and their group.
    blocks: Vec<(u32, &'a [u64])>,
    sets: &'a [SetIndex],
}

impl Entries<'_> {
    /// How many there are, with those that nobody asks for.
    pub(super) fn len(&self) -> usize {
        self.blocks.iter().map(|(_, words)| words.len()).sum()
    }

    /// Looks at each that somebody asks for.
    pub(super) fn each(&self, mut look: impl FnMut(Entry)) {
        for &(group, words) in &self.blocks {
            for &word in words {
                let entry = unpack(word, self.partition, group);
                let set = if self.sets.is_empty() { entry.set } else { self.sets[entry.set as usize] };
                if set != NONE {
                    look(Entry { set, ..entry });
                }
            }
        }
    }
}

impl Lane {
    /// The block of a group that is being filled.
    fn last(&mut self, group: u32) -> &mut Last {
        let group = group as usize;
        if self.last.len() <= group {
            self.last.resize_with(group + 1, Last::default);
        }
        &mut self.last[group]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::{Memory, Spill};
    use crate::shingle::hash::mix;

    #[test]
    fn places_are_told_by_an_eighth_and_never_too_large() {
        let mut before = 0;
        for place in (0..5000).chain((13..32).map(|bits| 1 << bits)).chain([u32::MAX]) {
            let told = fine(coarse(place));
            assert!(told <= place && place - told <= place / 8, "{place}: {told}");
            assert!(coarse(place) >= before && coarse(told) == coarse(place));
            before = coarse(place);
        }
    }

    /// The entries of a partition in the order of sets.
    fn read(lanes: &Lanes, partition: usize) -> Vec<(u64, SetIndex, u32)> {
        let mut entries = Vec::new();
        let count = lanes.read(partition, |all| {
            all.each(|entry| entries.push((entry.key, entry.set, entry.place)));
            all.len()
        });
        assert_eq!((entries.len(), entries.len()), (lanes.len(partition), count.unwrap()));
        entries.sort_unstable_by_key(|&(_, set, place)| (set, place));
        entries
    }

    #[test]
    fn entries_come_back_from_memory_and_from_disk() {
        let folder = tempfile::tempdir().unwrap();
        let exec = Exec { memory: Memory::TIGHT, spill: Some(Spill::in_folder(folder.path().join("work"))), ..Exec::default() };
        let lanes = Lanes::new(&exec).unwrap();
        // Of sets in several groups.
        let set = |n: u32| (n / 20) << 15;
        let entry = |n: u32| Entry { key: mix(n.into()) >> 32 << 8 | u64::from(n % 3), set: set(n), place: n % 20 };
        let entries: Vec<Entry> = (0..30_000).map(entry).collect();
        // Of two threads, one of which hands over what waits again and again: blocks end in the middle of that.
        let (mut seldom, mut often) = (Waiting::default(), Waiting::default());
        // To disk, to memory, some of that to disk again.
        for (some, most) in entries.chunks(10_000).zip([0, u64::MAX, 64 << 10]) {
            lanes.hold(most).unwrap();
            for of_set in some.chunk_by(|a, b| a.set == b.set) {
                let keys: Vec<u64> = of_set.iter().map(|entry| entry.key).collect();
                let is_often = (of_set[0].set >> 15).is_multiple_of(3);
                lanes.add(of_set[0].set, &keys, if is_often { &mut often } else { &mut seldom }).unwrap();
                lanes.add_all(&mut often).unwrap();
            }
        }
        lanes.add_all(&mut seldom).unwrap();
        assert!(!lanes.are_held() && lanes.held() > 0 && lanes.held() <= 64 << 10, "{} bytes", lanes.held());
        for partition in 0..3 {
            let expected = entries.iter().filter(|entry| entry.key as usize % 256 == partition);
            let expected: Vec<_> = expected.map(|entry| (entry.key, entry.set, entry.place)).collect();
            assert!(read(&lanes, partition) == expected);
            lanes.forget(partition).unwrap();
        }
        assert_eq!(lanes.held(), 0);
    }
}
