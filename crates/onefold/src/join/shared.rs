//! Keys that at least two sets share: what the index is made of.
//!
//! Keys are looked at some thousands at a time, scattered into partitions by their low bits, and sorted inside their partitions, which shows
//! what is shared. Where all of them are too many for memory, a look before that sets bits for them: keys whose bits nobody else set are of one
//! set, and are never stored. Where the others are still too many, partitions lie on disk and are looked at one by one.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::index::Index;
use super::lanes::Lanes;
use super::seen::Seen;
use super::sets::SetIndex;
use super::tasks::{pieces, sums};
use crate::error::Result;
use crate::exec::{Exec, Spill, SpillFile, Way};

pub(super) const PARTITIONS: usize = 256;

/// The partition of a key.
#[inline]
pub(super) fn partition(key: u64) -> usize {
    key as usize % PARTITIONS
}

/// A key of a set, and where it stands among the set's keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) key: u64,
    pub(super) set: SetIndex,
    pub(super) place: u32,
}

impl Entry {
    pub(super) fn to_words(self) -> [u64; 2] {
        [self.key, u64::from(self.set) << 32 | u64::from(self.place)]
    }

    pub(super) fn from_words(words: &[u64]) -> Entry {
        Entry { key: words[0], set: (words[1] >> 32) as SetIndex, place: words[1] as u32 }
    }
}

/// The keys of sets.
pub(super) trait KeysOf: Sync {
    /// What is kept from call to call.
    type Buffers: Default + Send;
    /// How many keys a set has.
    fn count(&self, set: SetIndex) -> u64;
    /// Looks at the keys of some sets, one set after the other.
    fn each(&self, sets: Range<SetIndex>, buffers: &mut Self::Buffers, look: impl FnMut(SetIndex, &[u64])) -> Result<()>;
    /// Whether a second look costs next to nothing.
    fn is_held(&self) -> bool;
}

/// The keys of all sets, ready for a second look.
struct AllKeys<'a, K> {
    keys_of: &'a K,
    count: usize,
    /// Keys of all sets before each; one more for the end.
    before: Vec<u64>,
    /// Sets whose keys are looked at together.
    blocks: Vec<Range<SetIndex>>,
    /// The keys of each block, and where they begin, where it is cheaper to read them than to make them again.
    file: Option<(SpillFile, Vec<u64>)>,
}

impl<'a, K: KeysOf> AllKeys<'a, K> {
    /// Nothing has been looked at yet.
    fn new(count: usize, keys_of: &'a K, exec: &Exec<'_>) -> AllKeys<'a, K> {
        let before = sums((0..count as SetIndex).map(|set| keys_of.count(set)));
        let blocks = pieces(&before, keys_together(before[count], exec), 0..count as SetIndex).collect();
        AllKeys { keys_of, count, before, blocks, file: None }
    }

    /// Looks at all keys for the first time.
    fn look(&mut self, exec: &Exec<'_>) -> Result<Seen> {
        let AllKeys { keys_of, count, before, blocks, .. } = &*self;
        let file = if keys_of.is_held() { None } else { Some(exec.spill()?.scratch("keys", Way::Past)?) };
        let slots = Seen::slots(before[*count], exec.memory.part(4, 1 << 20) / rayon::current_num_threads() as u64);
        let next = AtomicUsize::new(0);
        let look = || {
            let (mut seen, mut buffers, mut places) = (Seen::new(slots), K::Buffers::default(), Vec::new());
            let (mut keys, mut scattered) = (Vec::new(), Partitioned::default());
            loop {
                let block = next.fetch_add(1, Ordering::Relaxed);
                let Some(sets) = blocks.get(block) else { return Ok((seen, places)) };
                exec.check()?;
                keys.clear();
                keys_of.each(sets.clone(), &mut buffers, |_, of_set| keys.extend_from_slice(of_set))?;
                scattered.fill(&keys, |&key| key);
                scattered.items.iter().for_each(|&key| seen.add(key));
                if let Some(file) = &file {
                    places.push((block, file.append_frame(block as u32, &keys)?));
                }
            }
        };
        let looks: Vec<(Seen, Vec<(usize, u64)>)> = rayon::broadcast(|_| look()).into_iter().collect::<Result<_>>()?;
        let mut starts = vec![0; if file.is_some() { blocks.len() } else { 0 }];
        let (seen, places): (Vec<Seen>, Vec<_>) = looks.into_iter().unzip();
        places.into_iter().flatten().for_each(|(block, start)| starts[block] = start);
        self.file = file.map(|file| (file, starts));
        Ok(seen.into_iter().reduce(Seen::and).unwrap_or_else(|| Seen::new(slots)))
    }

    /// How many keys the sets of a block have.
    fn keys(&self, block: usize) -> u64 {
        self.before[self.blocks[block].end as usize] - self.before[self.blocks[block].start as usize]
    }

    /// Looks at the keys of the sets of a block, one set after the other.
    fn each(
        &self,
        block: usize,
        (buffers, words): &mut (K::Buffers, Vec<u64>),
        mut look: impl FnMut(SetIndex, &[u64]),
    ) -> Result<()> {
        let sets = self.blocks[block].clone();
        let Some((file, starts)) = &self.file else { return self.keys_of.each(sets, buffers, look) };
        let mut rest = file.read_frame(starts[block], block as u32, self.keys(block) as usize, words)?;
        for set in sets {
            let (keys, others) = rest.split_at(self.keys_of.count(set) as usize);
            look(set, keys);
            rest = others;
        }
        Ok(())
    }

    /// Bytes that it takes all threads to scatter the entries of a block each.
    fn bytes_to_scatter(&self) -> u64 {
        let most = (0..self.blocks.len()).map(|block| self.keys(block)).max().unwrap_or(0);
        let threads = rayon::current_num_threads().min(self.blocks.len()) as u64;
        2 * threads * most * size_of::<Entry>() as u64
    }

    /// How many keys were seen twice.
    fn count_seen_twice(&self, seen: &Seen) -> Result<u64> {
        let count = |buffers: &mut (K::Buffers, Vec<u64>), block: usize| {
            let mut found = 0;
            self.each(block, buffers, |_, keys| found += keys.iter().filter(|&&key| seen.twice(key)).count() as u64)?;
            Ok(found)
        };
        (0..self.blocks.len()).into_par_iter().map_init(Default::default, count).sum()
    }

    /// The entries of keys of the sets of some blocks; of those that were seen twice, if that is known.
    fn scatter(&self, blocks: Range<usize>, seen: Option<&Seen>) -> Result<Vec<Partitioned<Entry>>> {
        type Entries = (Vec<Entry>, Partitioned<Entry>);
        let scatter_block = |(buffers, (entries, all)): &mut ((K::Buffers, Vec<u64>), Entries), block: usize| {
            entries.clear();
            self.each(block, buffers, |set, keys| {
                entries.extend(keys.iter().zip(0..).map(|(&key, place)| Entry { key, set, place }));
            })?;
            all.fill(entries, |entry| entry.key);
            if let Some(seen) = seen {
                all.retain(|entry| seen.twice(entry.key));
            }
            Ok(all.clone())
        };
        blocks.into_par_iter().map_init(Default::default, scatter_block).collect()
    }
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

/// Least and most keys that are scattered together; one set may have more. The more they are, the better use is made of a partition's slots
/// while they are in the cache.
const KEYS: Range<u64> = 1 << 15..1 << 18;

/// How many of so many keys are scattered together: each thread has its share of them, and memory for that.
fn keys_together(keys: u64, exec: &Exec<'_>) -> u64 {
    let threads = rayon::current_num_threads() as u64;
    // Entries are there twice.
    let fit = exec.memory.part(16, 1 << 20) / threads / (4 * size_of::<Entry>() as u64);
    (keys / (8 * threads)).min(fit).clamp(KEYS.start, KEYS.end)
}

impl Shared {
    /// Hundredths of the memory that is left that keys may take.
    pub(super) const SHARE: u64 = 70;

    /// Bytes of so many keys until there is an index: their bits, and those that are seen twice, of which there are many in a collection
    /// with many duplicates. As measured.
    pub(super) fn bytes(keys: u64) -> u64 {
        keys * 20
    }

    /// Bytes of so many keys on disk, where they are too many for memory: those that are seen twice, and those that are shared. As measured.
    pub(super) fn bytes_on_disk(keys: u64) -> u64 {
        keys * 17
    }

    /// Bytes of entries while they are sorted: what is shared comes beside all others for a while.
    fn bytes_of_entries(entries: u64) -> u64 {
        entries * size_of::<Entry>() as u64 * 3 / 2
    }

    /// The shared keys of `count` sets.
    pub(super) fn build<K: KeysOf>(count: usize, keys_of: &K, exec: &Exec<'_>) -> Result<Shared> {
        let mut all = AllKeys::new(count, keys_of, exec);
        let to_scatter = all.bytes_to_scatter();
        let spill_of = |entries| exec.spill_beyond(Shared::SHARE, Shared::bytes_of_entries(entries) + to_scatter);
        let blocks = if spill_of(all.before[count]).is_none() {
            all.scatter(0..all.blocks.len(), None)?
        } else {
            // Too many, unless most of them are of one set.
            let seen = all.look(exec)?;
            if let Some(spill) = spill_of(all.count_seen_twice(&seen)?) {
                return Shared::build_spilled(&all, seen, exec, spill);
            }
            all.scatter(0..all.blocks.len(), Some(&seen))?
        };
        let shared = |sorted: &mut Vec<Entry>, partition: usize| {
            shared_keys(blocks.iter().map(|block| block.partition(partition)), sorted)
        };
        Ok(Shared::hold((0..PARTITIONS).into_par_iter().map_init(Vec::new, shared).collect(), count))
    }

    fn hold(partitions: Vec<Vec<Entry>>, count: usize) -> Shared {
        let mut keys_of_sets = vec![0; count];
        partitions.iter().flatten().for_each(|entry| keys_of_sets[entry.set as usize] += 1);
        Shared { place: Place::Held(partitions), keys_of_sets }
    }

    fn build_spilled<K: KeysOf>(all: &AllKeys<'_, K>, seen: Seen, exec: &Exec<'_>, spill: &Spill) -> Result<Shared> {
        let scattered = Scattered::write(all, &seen, exec, spill)?;
        drop(seen);
        Shared::write(all.count, |partition, all| scattered.read(partition, all), scattered.entries, exec, spill)
    }

    /// The shared keys of `count` sets whose keys are all on disk.
    pub(super) fn of_lanes(count: usize, lanes: Lanes, exec: &Exec<'_>) -> Result<Shared> {
        let largest = (0..PARTITIONS).map(|partition| lanes.len(partition)).max().unwrap_or(0);
        // A partition is there as it is read, by key, and without what is not shared.
        exec.with_waiting((3 * largest * size_of::<Entry>()) as u64, || Shared::of_partitions(count, &lanes, exec))
    }

    fn of_partitions(count: usize, lanes: &Lanes, exec: &Exec<'_>) -> Result<Shared> {
        /// Of so many partitions it is known soon how many keys are shared in all: partitions are alike.
        const SOME: usize = 8;
        let entries = (0..PARTITIONS).map(|partition| lanes.len(partition) as u64).sum();
        let shared = |(entries, sorted): &mut (Vec<Entry>, Vec<Entry>), partition: usize| {
            exec.check()?;
            lanes.read(partition, entries)?;
            Ok(shared_keys([entries.as_slice()].into_iter(), sorted))
        };
        let all = |partitions: Range<usize>| {
            partitions.into_par_iter().map_init(Default::default, shared).collect::<Result<Vec<Vec<Entry>>>>()
        };
        if exec.memory.is_tight() {
            return Shared::write(count, |partition, all| lanes.read(partition, all), entries, exec, exec.spill()?);
        }
        let mut partitions = all(0..SOME)?;
        let expected = partitions.iter().map(|entries| entries.len() as u64).sum::<u64>() * (PARTITIONS / SOME) as u64;
        // The index is made while they are there.
        let bytes = expected * size_of::<Entry>() as u64 + Index::bytes(count, expected);
        if let Some(spill) = exec.spill_beyond(Shared::SHARE, bytes) {
            drop(partitions);
            return Shared::write(count, |partition, all| lanes.read(partition, all), entries, exec, spill);
        }
        partitions.extend(all(SOME..PARTITIONS)?);
        Ok(Shared::hold(partitions, count))
    }

    /// Puts what is shared of so many entries on disk, partition by partition.
    fn write(
        count: usize,
        read: impl Fn(usize, &mut Vec<Entry>) -> Result<()> + Sync,
        entries: u64,
        exec: &Exec<'_>,
        spill: &Spill,
    ) -> Result<Shared> {
        let file = spill.scratch("shared", Way::Past)?;
        let idle = Idle::<(Vec<Entry>, Vec<Entry>, Vec<u64>)>::default();
        let keys_of_sets: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
        let write = |number: usize| {
            exec.check()?;
            let mut buffers = idle.take();
            let (all, sorted, words) = &mut buffers;
            read(number, all)?;
            by_key(&[all], sorted);
            drop_singles(sorted);
            sorted.iter().for_each(|entry| _ = keys_of_sets[entry.set as usize].fetch_add(1, Ordering::Relaxed));
            words.clear();
            words.extend(sorted.iter().flat_map(|entry| entry.to_words()));
            let frame = (file.append_frame(number as u32, words)?, words.len());
            idle.put(buffers);
            Ok(frame)
        };
        // A partition is there about three times while its keys are looked at.
        let at_once = at_once(exec, entries / PARTITIONS as u64 * 3 * size_of::<Entry>() as u64);
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
        mut look: impl FnMut(&[Entry]) + Send,
    ) -> Result<()> {
        let (file, frames) = match &self.place {
            Place::Held(partitions) => {
                partitions.iter().for_each(|entries| each_shared(entries, &wanted, &mut look));
                return Ok(());
            }
            Place::Spilled { file, frames } => (file, frames),
        };
        let idle = Idle::<(Vec<u64>, Vec<Entry>)>::default();
        let read = |(partition, &(at, words)): (usize, &(u64, usize))| {
            let (mut buffer, mut entries) = idle.take();
            let words = file.read_frame(at, partition as u32, words, &mut buffer)?;
            entries.clear();
            entries.extend(words.chunks_exact(2).map(Entry::from_words).filter(|entry| wanted(entry.set)));
            Ok((buffer, entries))
        };
        // Some are there as they are read, others while they are looked at.
        let together = at_once(exec, 3 * size_of::<Entry>() as u64 * self.len() / PARTITIONS as u64);
        let numbered: Vec<_> = frames.iter().enumerate().collect();
        let read_some = |some: &[_]| some.par_iter().map(|&frame| read(frame)).collect::<Result<Vec<_>>>();
        let mut partitions: Vec<(Vec<u64>, Vec<Entry>)> = Vec::new();
        // The next ones are read while these are looked at.
        for some in numbered.chunks(together).chain([&[][..]]) {
            let look_at_all = || {
                for (buffer, entries) in std::mem::take(&mut partitions) {
                    each_shared(&entries, |_| true, &mut look);
                    idle.put((buffer, entries));
                }
            };
            partitions = rayon::join(look_at_all, || read_some(some)).1?;
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

/// Buffers that nobody uses at the moment: fresh memory costs time.
#[derive(Default)]
pub(super) struct Idle<T>(Mutex<Vec<T>>);

impl<T: Default> Idle<T> {
    pub(super) fn take(&self) -> T {
        self.0.lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default()
    }

    pub(super) fn put(&self, buffers: T) {
        if let Ok(mut idle) = self.0.lock() {
            idle.push(buffers);
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
    /// By piece: where each partition's frame begins, and how many words it has.
    pieces: Vec<Vec<(u64, usize)>>,
}

impl Scattered {
    fn write<K: KeysOf>(all: &AllKeys<'_, K>, seen: &Seen, exec: &Exec<'_>, spill: &Spill) -> Result<Scattered> {
        let mut scattered = Scattered { file: spill.scratch("scattered", Way::Past)?, entries: 0, pieces: Vec::new() };
        // A piece is in memory twice while it is written.
        let most = exec.memory.part(8, 4 << 20).min(256 << 20) / size_of::<Entry>() as u64;
        let (mut first, mut end, mut keys) = (0, 0, 0);
        while first < all.blocks.len() {
            exec.check()?;
            while end < all.blocks.len() && (end == first || keys + all.keys(end) <= most) {
                keys += all.keys(end);
                end += 1;
            }
            scattered.append(&all.scatter(first..end, Some(seen))?)?;
            (first, keys) = (end, 0);
        }
        Ok(scattered)
    }

    fn append(&mut self, blocks: &[Partitioned<Entry>]) -> Result<()> {
        /// Partitions that are written at a time.
        const TOGETHER: usize = 8;
        let piece = self.pieces.len() as u32;
        let write = |first: usize| {
            let (mut frames, mut words, mut places) = (Vec::new(), Vec::new(), Vec::with_capacity(TOGETHER));
            for partition in first..PARTITIONS.min(first + TOGETHER) {
                words.clear();
                words.extend(blocks.iter().flat_map(|block| block.partition(partition)).flat_map(|entry| entry.to_words()));
                places.push((frames.len() as u64, words.len()));
                self.file.frame(piece, &words, &mut frames);
            }
            let at = self.file.append(&frames)?;
            places.iter_mut().for_each(|(start, _)| *start += at);
            Ok(places)
        };
        let places = (0..PARTITIONS).into_par_iter().step_by(TOGETHER).map(write).collect::<Result<Vec<_>>>()?;
        self.entries += blocks.iter().map(|block| block.items.len() as u64).sum::<u64>();
        self.pieces.push(places.concat());
        Ok(())
    }

    /// Puts the entries of a partition into a buffer, and nothing else.
    fn read(&self, partition: usize, entries: &mut Vec<Entry>) -> Result<()> {
        entries.clear();
        let mut buffer = Vec::new();
        for (piece, places) in self.pieces.iter().enumerate() {
            let (at, words) = places[partition];
            let words = self.file.read_frame(at, piece as u32, words, &mut buffer)?;
            entries.extend(words.chunks_exact(2).map(Entry::from_words));
        }
        Ok(())
    }
}

/// Keys, or their entries, by partition, and otherwise in the order in which they came.
#[derive(Clone)]
pub(super) struct Partitioned<T> {
    items: Vec<T>,
    /// Where each partition begins; one more for the end.
    starts: Vec<u32>,
}

impl<T> Default for Partitioned<T> {
    fn default() -> Self {
        Partitioned { items: Vec::new(), starts: vec![0; PARTITIONS + 1] }
    }
}

impl<T: Copy + Default> Partitioned<T> {
    /// Holds these items instead of others.
    pub(super) fn fill(&mut self, items: &[T], key: impl Fn(&T) -> u64) {
        self.starts.fill(0);
        items.iter().for_each(|item| self.starts[partition(key(item)) + 1] += 1);
        for partition in 0..PARTITIONS {
            self.starts[partition + 1] += self.starts[partition];
        }
        self.items.resize(items.len(), T::default());
        let mut next = self.starts.clone();
        for item in items {
            let slot = &mut next[partition(key(item))];
            self.items[*slot as usize] = *item;
            *slot += 1;
        }
    }

    /// Drops those that are not wanted. Every second one may be, so nothing branches on it.
    fn retain(&mut self, wanted: impl Fn(&T) -> bool) {
        let (mut from, mut to) = (0, 0);
        for end in &mut self.starts[1..] {
            while from < *end as usize {
                let item = self.items[from];
                self.items[to] = item;
                to += usize::from(wanted(&item));
                from += 1;
            }
            *end = to as u32;
        }
        self.items.truncate(to);
    }

    pub(super) fn partition(&self, partition: usize) -> &[T] {
        &self.items[self.starts[partition] as usize..self.starts[partition + 1] as usize]
    }
}

/// The shared keys of one partition, by key and set. The buffer is kept from partition to partition: fresh memory costs time.
fn shared_keys<'a>(pieces: impl Iterator<Item = &'a [Entry]>, sorted: &mut Vec<Entry>) -> Vec<Entry> {
    let pieces: Vec<&[Entry]> = pieces.collect();
    by_key(&pieces, sorted);
    drop_singles(sorted);
    sorted.as_slice().into()
}

/// Orders entries by key and set. Keys are uniform, so a scatter by some of their bits nearly sorts them.
fn by_key(pieces: &[&[Entry]], sorted: &mut Vec<Entry>) {
    let count: usize = pieces.iter().map(|piece| piece.len()).sum();
    let bits = count.max(1).ilog2();
    // The low bits chose the partition.
    let bucket = |entry: &Entry| (entry.key >> PARTITIONS.ilog2()) as usize & ((1 << bits) - 1);
    let mut ends = vec![0u32; 1 << bits];
    pieces.iter().copied().flatten().for_each(|entry| ends[bucket(entry)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    sorted.clear();
    sorted.resize(count, Entry::default());
    for entry in pieces.iter().copied().flatten() {
        let slot = &mut ends[bucket(entry)];
        sorted[*slot as usize] = *entry;
        *slot += 1;
    }
    let mut start = 0;
    for end in ends {
        let keys = &mut sorted[start..end as usize];
        let order = |entry: &Entry| (entry.key, entry.set);
        if !keys.is_sorted_by_key(order) {
            keys.sort_unstable_by_key(order);
        }
        start = end as usize;
    }
}

/// Drops the keys that were seen twice by collision.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_one_key_stay_in_order() {
        let entry = |n: u32| Entry { key: crate::shingle::hash::mix((n % 50).into()) << 8, set: n, place: 0 };
        let entries: Vec<Entry> = (0..1000).map(entry).collect();
        let mut sorted = Vec::new();
        by_key(&[&entries[..300], &entries[300..]], &mut sorted);
        assert!(sorted.chunk_by(|a, b| a.key == b.key).all(|posting| posting.len() == 20 && posting.is_sorted_by_key(|e| e.set)));
    }
}
