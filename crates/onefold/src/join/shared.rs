//! Keys that at least two sets share: what the index is made of.
//!
//! Keys are scattered into partitions by their low bits. In a partition a table of two-bit counters drops keys of one set,
//! which most are, before anything is sorted. Where keys are too many for memory, partitions lie on disk and are looked at one by one.

use std::ops::Range;

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::sets::SetIndex;
use crate::error::Result;
use crate::exec::{Exec, HEADING, Spill, SpillFile};

pub(super) const PARTITIONS: usize = 256;

/// A key of a set, and where it stands among the set's keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) key: u64,
    pub(super) set: SetIndex,
    pub(super) place: u32,
}

impl Entry {
    fn partition(&self) -> usize {
        self.key as usize % PARTITIONS
    }

    fn to_words(self) -> [u64; 2] {
        [self.key, u64::from(self.set) << 32 | u64::from(self.place)]
    }

    fn from_words(words: &[u64]) -> Entry {
        Entry { key: words[0], set: (words[1] >> 32) as SetIndex, place: words[1] as u32 }
    }
}

/// The keys of sets.
pub(super) trait KeysOf: Sync {
    /// What is kept from call to call.
    type Buffers: Default + Send;
    /// How many keys a set has.
    fn count(&self, set: SetIndex) -> u64;
    /// Appends the entries of some sets.
    fn append(&self, sets: Range<SetIndex>, buffers: &mut Self::Buffers, entries: &mut Vec<Entry>) -> Result<()>;
}

/// The keys that sets share, by partition, key and set.
pub(super) struct Shared {
    place: Place,
    /// How many of its keys each set shares.
    keys_of_sets: Vec<u32>,
}

enum Place {
    Held(Vec<Vec<Entry>>),
    Spilled {
        file: SpillFile,
        /// Where each partition's frame begins, and how many words it has.
        frames: Vec<(u64, usize)>,
    },
}

/// Sets whose keys are scattered together: their entries stay in the cache.
const SETS: usize = 256;

impl Shared {
    /// Hundredths of the memory that is left that keys may take.
    pub(super) const SHARE: u64 = 60;

    /// Bytes of so many keys while those that are shared are found. Most keys are of one set; what is shared comes beside all of them
    /// for a while.
    pub(super) fn bytes(keys: u64) -> u64 {
        keys * size_of::<Entry>() as u64 * 3 / 2
    }

    /// The shared keys of `count` sets.
    pub(super) fn build<K: KeysOf>(count: usize, keys_of: &K, exec: &Exec<'_>) -> Result<Shared> {
        let keys: u64 = (0..count as SetIndex).map(|set| keys_of.count(set)).sum();
        if let Some(spill) = exec.spill_beyond(Shared::SHARE, Shared::bytes(keys)) {
            return Shared::build_spilled(count, keys_of, exec, spill);
        }
        let blocks = scatter(0..count, keys_of)?;
        let partitions: Vec<Vec<Entry>> = (0..PARTITIONS)
            .into_par_iter()
            .map(|partition| shared_keys(&blocks.iter().map(|block| block.partition(partition)).collect::<Vec<_>>()))
            .collect();
        let mut keys_of_sets = vec![0; count];
        partitions.iter().flatten().for_each(|entry| keys_of_sets[entry.set as usize] += 1);
        Ok(Shared { place: Place::Held(partitions), keys_of_sets })
    }

    fn build_spilled<K: KeysOf>(count: usize, keys_of: &K, exec: &Exec<'_>, spill: &Spill) -> Result<Shared> {
        let scattered = Scattered::write(count, keys_of, exec, spill)?;
        let file = spill.scratch("shared")?;
        let keys_of_sets: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
        let write = |partition: usize| {
            exec.check()?;
            let entries = shared_keys(&[&scattered.partition(partition)?]);
            entries.iter().for_each(|entry| _ = keys_of_sets[entry.set as usize].fetch_add(1, Ordering::Relaxed));
            let words: Vec<u64> = entries.iter().flat_map(|entry| entry.to_words()).collect();
            Ok((file.append_frame(partition as u32, &words)?, words.len()))
        };
        // A partition is there about three times while its keys are looked at.
        let at_once = at_once(exec, scattered.entries / PARTITIONS as u64 * 3 * size_of::<Entry>() as u64);
        let mut frames = Vec::with_capacity(PARTITIONS);
        for first in (0..PARTITIONS).step_by(at_once) {
            let some = (first..PARTITIONS.min(first + at_once)).into_par_iter().map(write);
            frames.extend(some.collect::<Result<Vec<_>>>()?);
        }
        let keys_of_sets = keys_of_sets.into_iter().map(AtomicU32::into_inner).collect();
        Ok(Shared { place: Place::Spilled { file, frames }, keys_of_sets })
    }

    /// Number of entries.
    pub(super) fn len(&self) -> u64 {
        self.keys_of_sets.iter().map(|&keys| u64::from(keys)).sum()
    }

    /// How many of its keys each set shares.
    pub(super) fn keys_of_sets(&self) -> &[u32] {
        &self.keys_of_sets
    }

    /// Looks at the entries of each key that two or more of the wanted sets share.
    pub(super) fn each_posting(
        &self,
        exec: &Exec<'_>,
        wanted: impl Fn(SetIndex) -> bool + Sync,
        mut look: impl FnMut(&[Entry]),
    ) -> Result<()> {
        let (file, frames) = match &self.place {
            Place::Held(partitions) => {
                partitions.iter().for_each(|entries| each_shared(entries, &wanted, &mut look));
                return Ok(());
            }
            Place::Spilled { file, frames } => (file, frames),
        };
        let read = |(partition, &(at, words)): (usize, &(u64, usize))| {
            let mut buffer = Vec::new();
            let words = file.read_frame(at, partition as u32, words, &mut buffer)?;
            let mut entries: Vec<Entry> = words.chunks_exact(2).map(Entry::from_words).collect();
            entries.retain(|entry| wanted(entry.set));
            Ok(entries)
        };
        let together = at_once(exec, 2 * size_of::<Entry>() as u64 * self.len() / PARTITIONS as u64);
        let numbered: Vec<_> = frames.iter().enumerate().collect();
        for some in numbered.chunks(together) {
            let partitions = some.par_iter().map(|&frame| read(frame)).collect::<Result<Vec<_>>>()?;
            partitions.iter().for_each(|entries| each_shared(entries, |_| true, &mut look));
        }
        Ok(())
    }
}

/// Looks at the wanted entries of each key, if they are two or more.
fn each_shared(entries: &[Entry], wanted: impl Fn(SetIndex) -> bool, mut look: impl FnMut(&[Entry])) {
    let mut some = Vec::new();
    for posting in entries.chunk_by(|a, b| a.key == b.key) {
        let all = posting.iter().all(|entry| wanted(entry.set));
        if !all {
            some.clear();
            some.extend(posting.iter().filter(|entry| wanted(entry.set)));
        }
        let posting = if all { posting } else { some.as_slice() };
        if posting.len() > 1 {
            look(posting);
        }
    }
}

/// How many partitions, each of so many bytes, are looked at together: a thread has one, if there is memory for all.
fn at_once(exec: &Exec<'_>, bytes: u64) -> usize {
    let fit = exec.memory.part(4, bytes.max(1)) / bytes.max(1);
    (fit as usize).clamp(1, rayon::current_num_threads())
}

/// Entries on disk, in pieces that were each scattered in memory.
struct Scattered {
    file: SpillFile,
    /// How many there are.
    entries: u64,
    /// By piece: where each partition's frame begins; one more for the end.
    pieces: Vec<Vec<u64>>,
}

impl Scattered {
    fn write<K: KeysOf>(count: usize, keys_of: &K, exec: &Exec<'_>, spill: &Spill) -> Result<Scattered> {
        let mut scattered = Scattered { file: spill.scratch("keys")?, entries: 0, pieces: Vec::new() };
        // A piece is in memory twice while it is written.
        let most = exec.memory.part(8, 4 << 20).min(256 << 20) as usize / size_of::<Entry>();
        let (mut first, mut end, mut entries) = (0, 0, 0);
        while first < count {
            exec.check()?;
            while end < count && (end == first || entries < most) {
                entries += keys_of.count(end as SetIndex) as usize;
                end += 1;
            }
            scattered.append(&scatter(first..end, keys_of)?)?;
            scattered.entries += entries as u64;
            (first, entries) = (end, 0);
        }
        Ok(scattered)
    }

    fn append(&mut self, blocks: &[Block]) -> Result<()> {
        let piece = self.pieces.len() as u32;
        let (mut frames, mut words, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for partition in 0..PARTITIONS {
            words.clear();
            words.extend(blocks.iter().flat_map(|block| block.partition(partition)).flat_map(|entry| entry.to_words()));
            starts.push(frames.len() as u64);
            self.file.frame(piece, &words, &mut frames);
        }
        starts.push(frames.len() as u64);
        let at = self.file.append(&frames)?;
        starts.iter_mut().for_each(|start| *start += at);
        self.pieces.push(starts);
        Ok(())
    }

    fn partition(&self, partition: usize) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let mut buffer = Vec::new();
        for (piece, starts) in self.pieces.iter().enumerate() {
            let (at, end) = (starts[partition], starts[partition + 1]);
            let words = self.file.read_frame(at, piece as u32, (end - at) as usize - HEADING, &mut buffer)?;
            entries.extend(words.chunks_exact(2).map(Entry::from_words));
        }
        Ok(entries)
    }
}

/// The entries of some sets, by partition and then by set.
struct Block {
    entries: Vec<Entry>,
    /// Where each partition begins; one more for the end.
    starts: Vec<u32>,
}

impl Block {
    fn new(entries: &[Entry]) -> Block {
        let mut starts = vec![0u32; PARTITIONS + 1];
        entries.iter().for_each(|entry| starts[entry.partition() + 1] += 1);
        for partition in 0..PARTITIONS {
            starts[partition + 1] += starts[partition];
        }
        let mut next = starts.clone();
        let mut scattered = vec![Entry::default(); entries.len()];
        for entry in entries {
            let slot = &mut next[entry.partition()];
            scattered[*slot as usize] = *entry;
            *slot += 1;
        }
        Block { entries: scattered, starts }
    }

    fn partition(&self, partition: usize) -> &[Entry] {
        &self.entries[self.starts[partition] as usize..self.starts[partition + 1] as usize]
    }
}

/// The entries of some sets, in blocks that stay in the cache while they are scattered.
fn scatter<K: KeysOf>(sets: Range<usize>, keys_of: &K) -> Result<Vec<Block>> {
    let firsts: Vec<usize> = sets.clone().step_by(SETS).collect();
    let scatter_block = |(buffers, entries): &mut (K::Buffers, Vec<Entry>), &first: &usize| {
        entries.clear();
        keys_of.append(first as SetIndex..sets.end.min(first + SETS) as SetIndex, buffers, entries)?;
        Ok(Block::new(entries))
    };
    firsts.par_iter().map_init(Default::default, scatter_block).collect()
}

/// The shared keys of one partition, by key and set.
fn shared_keys(pieces: &[&[Entry]]) -> Vec<Entry> {
    let all = || pieces.iter().copied().flatten();
    let mut seen = SeenTwice::with_capacity(pieces.iter().map(|piece| piece.len()).sum());
    all().for_each(|entry| seen.add(entry.key));
    let shared: Vec<Entry> = all().filter(|entry| seen.twice(entry.key)).copied().collect();
    let mut shared = by_key(shared);
    drop_singles(&mut shared);
    shared
}

/// Orders entries by key; those of one key stay in the order of sets. Keys are uniform, so a scatter by some of their bits nearly sorts them.
fn by_key(entries: Vec<Entry>) -> Vec<Entry> {
    let bits = entries.len().max(1).ilog2();
    // The low bits chose the partition.
    let bucket = |entry: &Entry| (entry.key >> PARTITIONS.ilog2()) as usize & ((1 << bits) - 1);
    let mut ends = vec![0u32; 1 << bits];
    entries.iter().for_each(|entry| ends[bucket(entry)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    let mut sorted = vec![Entry::default(); entries.len()];
    for entry in &entries {
        let slot = &mut ends[bucket(entry)];
        sorted[*slot as usize] = *entry;
        *slot += 1;
    }
    let mut start = 0;
    for end in ends {
        let keys = &mut sorted[start..end as usize];
        if keys.windows(2).any(|pair| pair[0].key != pair[1].key) {
            keys.sort_by_key(|entry| entry.key);
        }
        start = end as usize;
    }
    sorted
}

/// Drops the keys that passed the counters by collision.
fn drop_singles(sorted: &mut Vec<Entry>) {
    let mut kept = 0;
    let mut at = 0;
    while at < sorted.len() {
        let end = at + sorted[at..].iter().take_while(|entry| entry.key == sorted[at].key).count();
        if end - at > 1 {
            sorted.copy_within(at..end, kept);
            kept += end - at;
        }
        at = end;
    }
    sorted.truncate(kept);
}

/// Two bits for each slot of keys: seen, and seen again.
struct SeenTwice {
    once: Vec<u64>,
    again: Vec<u64>,
    slot_mask: u64,
}

impl SeenTwice {
    fn with_capacity(keys: usize) -> Self {
        let slots = (keys * 4).next_power_of_two().max(64);
        SeenTwice { once: vec![0; slots / 64], again: vec![0; slots / 64], slot_mask: slots as u64 - 1 }
    }

    fn slot(&self, key: u64) -> (usize, u64) {
        // The low bits chose the partition.
        let slot = (key >> 8) & self.slot_mask;
        ((slot / 64) as usize, 1 << (slot % 64))
    }

    fn add(&mut self, key: u64) {
        let (word, bit) = self.slot(key);
        self.again[word] |= self.once[word] & bit;
        self.once[word] |= bit;
    }

    fn twice(&self, key: u64) -> bool {
        let (word, bit) = self.slot(key);
        self.again[word] & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_one_key_stay_in_order() {
        let entry = |n: u32| Entry { key: crate::shingle::hash::mix((n % 50).into()) << 8, set: n, place: 0 };
        let sorted = by_key((0..1000).map(entry).collect());
        assert!(sorted.chunk_by(|a, b| a.key == b.key).all(|posting| posting.len() == 20 && posting.is_sorted_by_key(|e| e.set)));
    }
}
