//! Keys that at least two sets share: what the index is made of.
//!
//! Keys are looked at some thousands at a time, scattered into partitions by their low bits, and sorted inside their partitions, which shows
//! what is shared. Where all of them are too many for memory, a look before that sets bits for them: keys whose bits nobody else set are of one
//! set, and are never stored. Where the others are still too many, partitions lie on disk and are looked at one by one. Of keys that are shared
//! only the sets are kept.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::gathered::lock;
use super::index::Index;
use super::lanes::{self, Lanes};
use super::postings::{Member, Postings};
use super::seen::{Seen, Slots};
use super::sets::SetIndex;
use super::tasks::{pieces, sums};
use crate::error::Result;
use crate::exec::{Exec, Idle, Spill, SpillFile, Way, pack, unpack};

pub(super) const PARTITIONS: usize = 256;

/// The partition of a key.
#[inline]
pub(super) fn partition(key: u64) -> usize {
    key as usize % PARTITIONS
}

/// A key of a set, and where it stands among the set's keys; in files it is two words.
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Entry {
    pub(super) key: u64,
    pub(super) set: SetIndex,
    pub(super) place: u32,
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
    /// With how many of its first keys a set looks for others; it is found by all of them.
    fn looks_up(&self, _set: SetIndex) -> u32 {
        u32::MAX
    }
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

/// The keys that sets share.
pub(super) struct Shared {
    place: Place,
    counts: Counts,
}

enum Place {
    Held(Arc<Postings>),
    Spilled {
        file: SpillFile,
        /// Where the frame of each partition begins, and how many numbers it has.
        frames: Vec<(u64, usize)>,
    },
}

/// By set: how many of its keys others have, and with how many of them it looks for others, in one word.
struct Counts(Vec<AtomicU64>);

impl Counts {
    fn new(count: usize) -> Counts {
        Counts((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    fn add(&self, member: Member) {
        self.0[member.set as usize].fetch_add(1 << 32 | u64::from(!member.silent), Ordering::Relaxed);
    }

    /// Keys that a set shares.
    fn shared(&self, set: usize) -> u64 {
        self.0[set].load(Ordering::Relaxed) >> 32
    }

    /// Those of them that it looks up.
    fn looked_up(&self, set: usize) -> u64 {
        self.0[set].load(Ordering::Relaxed) & u64::from(u32::MAX)
    }
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

    /// The same of postings, and of an index of some sets.
    const HELD: u64 = 80;

    /// Bytes of so many keys until there is an index: their bits, and those that are seen twice, of which there are many in a collection
    /// with many duplicates. As measured.
    pub(super) fn bytes(keys: u64) -> u64 {
        keys * 20
    }

    /// Bytes of so many keys on disk, where they are too many for memory: those that are seen twice, and those that are shared. As measured.
    pub(super) fn bytes_on_disk(keys: u64) -> u64 {
        keys * 11
    }

    /// Bytes of entries while they are sorted: what is shared comes beside all others for a while.
    fn bytes_of_entries(entries: u64) -> u64 {
        entries * size_of::<Entry>() as u64 + Postings::bytes(entries)
    }

    /// The shared keys of `count` sets.
    pub(super) fn build<K: KeysOf>(count: usize, keys_of: &K, exec: &Exec<'_>) -> Result<Shared> {
        let partitions = Partitions::of_keys(count, keys_of, exec)?;
        Shared::of_partitions(count, partitions, |_, entry| entry.place >= keys_of.looks_up(entry.set), exec)
    }

    /// The shared keys of `count` sets whose keys are in lanes. If sets `look_back` alone, for those before them, the first that has a key does
    /// not look for others with it.
    pub(super) fn of_lanes(count: usize, lanes: Lanes, look_back: bool, exec: &Exec<'_>) -> Result<Shared> {
        Shared::of_partitions(count, Partitions::Apart(lanes), |nth, _| look_back && nth == 0, exec)
    }

    fn of_partitions(
        count: usize,
        partitions: Partitions,
        is_silent: impl Fn(usize, &Entry) -> bool + Sync + Send,
        exec: &Exec<'_>,
    ) -> Result<Shared> {
        /// Of so many partitions it is known soon how many keys are shared in all: partitions are alike.
        const SOME: usize = 8;
        Postings::check_sets(count)?;
        exec.memory.make_room();
        // What is read gives way to what is shared of it.
        let left = exec.memory.left().saturating_add(partitions.gives_way());
        partitions.with_threads(exec, || {
            let counts = Counts::new(count);
            let found = Mutex::new(Postings::default());
            let hold = |numbers: Range<usize>, is_last: bool| {
                partitions.post(numbers, &is_silent, &counts, exec, |partition, postings| {
                    if is_last {
                        partitions.forget(partition, exec)?;
                    }
                    lock(&found)?.append(postings)
                })
            };
            let held = || lock(&found).map(|found| found.len() as u64);
            hold(0..SOME, false)?;
            let expected = held()? * (PARTITIONS / SOME) as u64;
            // Where all keys are in memory, so is what is shared; otherwise there must be room, also for an index of some sets at a time.
            let bytes = Postings::bytes(expected) + Index::bytes(count, expected / 8);
            let fits = bytes <= left / 100 * Shared::HELD;
            if let Some(spill) = exec.spill.as_ref().filter(|_| !fits && !partitions.are_held()) {
                drop(found);
                return Shared::write(Counts::new(count), &partitions, is_silent, exec, spill);
            }
            hold(SOME..PARTITIONS, true)?;
            let mut postings = found.into_inner().map_err(|_| super::gathered::failed())?;
            postings.shrink_to_fit();
            Ok(Shared { place: Place::Held(Arc::new(postings)), counts })
        })
    }

    /// Puts what is shared on disk, partition by partition.
    fn write(
        counts: Counts,
        partitions: &Partitions,
        is_silent: impl Fn(usize, &Entry) -> bool + Sync,
        exec: &Exec<'_>,
        spill: &Spill,
    ) -> Result<Shared> {
        let file = spill.scratch("shared", Way::Past)?;
        let frames = Mutex::new(vec![(0, 0); PARTITIONS]);
        let idle = Idle::<Vec<u32>>::default();
        partitions.post(0..PARTITIONS, is_silent, &counts, exec, |partition, postings| {
            let mut numbers = idle.take();
            postings.to_numbers(&mut numbers);
            let at = file.append_frame(partition as u32, &pack(&numbers))?;
            lock(&frames)?[partition] = (at, numbers.len());
            idle.put(numbers);
            Ok(())
        })?;
        let frames = frames.into_inner().map_err(|_| super::gathered::failed())?;
        Ok(Shared { place: Place::Spilled { file, frames }, counts })
    }

    /// Number of sets, those among them that share no key.
    pub(super) fn sets(&self) -> usize {
        self.counts.0.len()
    }

    /// Keys that all sets before each look up, or share where these go to disk as well: what an index weighs; one more for the end.
    pub(super) fn weights(&self) -> Vec<u64> {
        let of_set = |set| if self.is_held() { self.counts.looked_up(set) } else { self.counts.shared(set) };
        sums((0..self.sets()).map(of_set))
    }

    /// Bytes of an index for each of these keys.
    pub(super) fn weight(&self) -> u64 {
        Index::bytes(0, 1) + if self.is_held() { 0 } else { Postings::bytes(1) }
    }

    /// Whether they are in memory; every index is then one of all sets.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.place, Place::Held(_))
    }

    /// The index of the sets that are `included`, for those that are `looking` for partners among them.
    pub(super) fn index(
        &self,
        exec: &Exec<'_>,
        included: impl Fn(SetIndex) -> bool + Sync + Send,
        looking: impl Fn(SetIndex) -> bool + Sync,
    ) -> Result<Index> {
        let postings = match &self.place {
            Place::Held(postings) => postings.clone(),
            Place::Spilled { file, frames } => Arc::new(read_postings(file, frames, exec, included)?),
        };
        Ok(Index::new(postings, self.sets(), |set| self.counts.looked_up(set as usize) as u32, looking))
    }
}

/// What is left of postings on disk where only some sets are included.
fn read_postings(
    file: &SpillFile,
    frames: &[(u64, usize)],
    exec: &Exec<'_>,
    included: impl Fn(SetIndex) -> bool + Sync + Send,
) -> Result<Postings> {
    let all = Mutex::new(Postings::default());
    type Buffers = (Vec<u64>, Postings, Postings);
    let read = |(buffer, postings, some): &mut Buffers, (partition, &(at, numbers)): (usize, &(u64, usize))| {
        exec.check()?;
        postings.read_numbers(&unpack(file.read_frame(at, partition as u32, numbers.div_ceil(2), buffer)?, numbers));
        some.clear();
        some.append_wanted(postings, &included);
        lock(&all)?.append(some)
    };
    let largest = frames.iter().map(|&(_, numbers)| numbers).max().unwrap_or(0);
    // Each is there as it is read, as numbers, as postings, and without what is not wanted.
    exec.with_waiting((4 * largest * size_of::<u32>()) as u64, || {
        frames.par_iter().enumerate().map_init(Buffers::default, read).collect::<Result<()>>()
    })?;
    all.into_inner().map_err(|_| super::gathered::failed())
}

/// The keys of all sets by partition, wherever they are.
pub(super) enum Partitions {
    Held(Vec<Partitioned<Entry>>),
    Scattered(Scattered),
    Apart(Lanes),
}

impl Partitions {
    /// Those of `count` sets; keys of one set may be missing.
    pub(super) fn of_keys<K: KeysOf>(count: usize, keys_of: &K, exec: &Exec<'_>) -> Result<Partitions> {
        let mut all = AllKeys::new(count, keys_of, exec);
        let to_scatter = all.bytes_to_scatter();
        let spill_of = |entries| exec.spill_beyond(Shared::SHARE, Shared::bytes_of_entries(entries) + to_scatter);
        if spill_of(all.before[count]).is_none() {
            return all.scatter(0..all.blocks.len(), None).map(Partitions::Held);
        }
        // Too many, unless most of them are of one set.
        let seen = all.look(exec)?;
        match spill_of(all.count_seen_twice(&seen)?) {
            Some(spill) => Scattered::write(&all, &seen, exec, spill).map(Partitions::Scattered),
            None => all.scatter(0..all.blocks.len(), Some(&seen)).map(Partitions::Held),
        }
    }

    fn are_held(&self) -> bool {
        matches!(self, Partitions::Held(_))
    }

    /// Bytes that are given back while partitions are forgotten one by one.
    fn gives_way(&self) -> u64 {
        if let Partitions::Apart(lanes) = self { lanes.held() } else { 0 }
    }

    /// Nobody will look at a partition again.
    fn forget(&self, partition: usize, exec: &Exec<'_>) -> Result<()> {
        /// How often it is given back to the system what was forgotten.
        const TIMES: usize = 4;
        let Partitions::Apart(lanes) = self else { return Ok(()) };
        lanes.forget(partition)?;
        if partition.is_multiple_of(PARTITIONS / TIMES) {
            exec.memory.make_room();
        }
        Ok(())
    }

    /// Does something with as many threads as partitions can be looked at in at a time.
    fn with_threads<T: Send>(&self, exec: &Exec<'_>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let largest = match self {
            Partitions::Held(_) => return work(),
            Partitions::Scattered(scattered) => scattered.entries as usize / PARTITIONS,
            Partitions::Apart(lanes) => (0..PARTITIONS).map(|partition| lanes.len(partition)).max().unwrap_or(0),
        };
        // A partition is there as it is read, by key, and without what is not shared.
        let bytes = (3 * largest * size_of::<Entry>()) as u64;
        match self {
            Partitions::Apart(lanes) if lanes.are_held() => exec.with_buffers(bytes, work),
            _ => exec.with_waiting(bytes, work),
        }
    }

    /// Looks at the entries of some partitions, each by key and set, from several threads.
    fn each(
        &self,
        partitions: Range<usize>,
        exec: &Exec<'_>,
        look: impl Fn(usize, &[Entry]) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        let idle = Idle::<(Vec<Entry>, Sorting)>::default();
        let look_at = |partition: usize| {
            exec.check()?;
            let mut buffers = idle.take();
            let (entries, sorting) = &mut buffers;
            entries.clear();
            match self {
                Partitions::Held(blocks) => {
                    blocks.iter().for_each(|block| entries.extend_from_slice(block.partition(partition)));
                    sorting.drop_lonely(entries);
                }
                Partitions::Scattered(scattered) => {
                    scattered.read(partition, entries)?;
                    sorting.drop_lonely(entries);
                }
                Partitions::Apart(lanes) => lanes.read(partition, |all| sorting.take_shared(all, entries))?,
            }
            look(partition, sorting.by_key(entries))?;
            idle.put(buffers);
            Ok(())
        };
        partitions.into_par_iter().map(look_at).collect()
    }

    /// Makes postings of what is shared in some partitions, counts them, and hands them to `take`. `is_silent` is asked of each entry, and which
    /// it is of its posting, whether its set does not look for others with this key.
    fn post(
        &self,
        partitions: Range<usize>,
        is_silent: impl Fn(usize, &Entry) -> bool + Sync,
        counts: &Counts,
        exec: &Exec<'_>,
        take: impl Fn(usize, &Postings) -> Result<()> + Sync,
    ) -> Result<()> {
        let idle = Idle::<Postings>::default();
        let member = |(nth, entry): (usize, &Entry)| {
            let member = Member { set: entry.set, place: entry.place, silent: is_silent(nth, entry) };
            counts.add(member);
            member
        };
        self.each(partitions, exec, |partition, entries| {
            let mut postings = idle.take();
            postings.clear();
            shared_keys(entries).for_each(|entries| postings.push(entries.iter().enumerate().map(member)));
            take(partition, &postings)?;
            idle.put(postings);
            Ok(())
        })
    }

    /// Looks at the entries of each key that sets share, from several threads.
    pub(super) fn each_shared(&self, exec: &Exec<'_>, look: impl Fn(&[Entry]) + Sync + Send) -> Result<()> {
        self.with_threads(exec, || {
            self.each(0..PARTITIONS, exec, |_, entries| {
                shared_keys(entries).for_each(&look);
                Ok(())
            })
        })
    }
}

/// Those entries of each key, if they are two or more; entries come by key.
fn shared_keys(entries: &[Entry]) -> impl Iterator<Item = &[Entry]> {
    entries.chunk_by(|a, b| a.key == b.key).filter(|of_key| of_key.len() > 1)
}

/// Entries on disk, in pieces that were each scattered in memory.
pub(super) struct Scattered {
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
                blocks.iter().for_each(|block| words.extend_from_slice(bytemuck::cast_slice(block.partition(partition))));
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

    /// Appends the entries of a partition.
    fn read(&self, partition: usize, entries: &mut Vec<Entry>) -> Result<()> {
        let mut buffer = Vec::new();
        for (piece, places) in self.pieces.iter().enumerate() {
            let (at, words) = places[partition];
            let words = self.file.read_frame(at, piece as u32, words, &mut buffer)?;
            entries.extend_from_slice(bytemuck::cast_slice(words));
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
    fn fill(&mut self, items: &[T], key: impl Fn(&T) -> u64) {
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

    fn partition(&self, partition: usize) -> &[T] {
        &self.items[self.starts[partition] as usize..self.starts[partition + 1] as usize]
    }
}

/// What it takes to sort the entries of a partition, kept from one to the next: fresh memory costs time.
#[derive(Default)]
struct Sorting {
    seen: SeenHere,
    /// By leading bits of a key: where the next of its entries will be.
    ends: Vec<u32>,
    sorted: Vec<Entry>,
}

impl Sorting {
    /// Drops most entries whose key no other has: many are of one set alone.
    fn drop_lonely(&mut self, entries: &mut Vec<Entry>) {
        self.seen.clear(entries.len());
        entries.iter().for_each(|entry| self.seen.add(entry.key));
        // Every second one may be, so nothing branches on it.
        let mut kept = 0;
        for at in 0..entries.len() {
            let entry = entries[at];
            entries[kept] = entry;
            kept += usize::from(self.seen.twice(entry.key));
        }
        entries.truncate(kept);
    }

    /// Takes the other entries of all.
    fn take_shared(&mut self, all: &lanes::Entries<'_>, entries: &mut Vec<Entry>) {
        self.seen.clear(all.len());
        all.each(|entry| self.seen.add(entry.key));
        // As above.
        let (mut some, mut kept) = ([Entry::default(); 64], 0);
        all.each(|entry| {
            some[kept] = entry;
            kept += usize::from(self.seen.twice(entry.key));
            if kept == some.len() {
                entries.extend_from_slice(&some);
                kept = 0;
            }
        });
        entries.extend_from_slice(&some[..kept]);
    }

    /// Orders entries by key and set. Keys are uniform, so a scatter by some of their bits nearly sorts them.
    fn by_key(&mut self, entries: &[Entry]) -> &[Entry] {
        let Sorting { ends, sorted, .. } = self;
        let buckets = 1 << entries.len().max(1).ilog2();
        let bucket = |entry: &Entry| free_bits(entry.key) as usize & (buckets - 1);
        ends.clear();
        ends.resize(buckets, 0);
        entries.iter().for_each(|entry| ends[bucket(entry)] += 1);
        let mut sum = 0;
        for end in &mut *ends {
            sum += std::mem::replace(end, sum);
        }
        sorted.resize(entries.len(), Entry::default());
        for entry in entries {
            let slot = &mut ends[bucket(entry)];
            sorted[*slot as usize] = *entry;
            *slot += 1;
        }
        let mut start = 0;
        for &end in &*ends {
            let keys = &mut sorted[start..end as usize];
            let order = |entry: &Entry| (entry.key, entry.set);
            if !keys.is_sorted_by_key(order) {
                keys.sort_unstable_by_key(order);
            }
            start = end as usize;
        }
        sorted
    }
}

/// Which keys of one partition may be of more than one set.
#[derive(Default)]
struct SeenHere {
    slots: Slots,
    /// How many there are, less one.
    mask: u64,
}

impl SeenHere {
    /// Nothing is seen of so many keys.
    fn clear(&mut self, keys: usize) {
        let slots = (2 * keys as u64).next_power_of_two();
        self.slots.clear(slots);
        self.mask = slots - 1;
    }

    #[inline]
    fn add(&mut self, key: u64) {
        self.slots.add(free_bits(key) & self.mask);
    }

    #[inline]
    fn twice(&self, key: u64) -> bool {
        self.slots.twice(free_bits(key) & self.mask)
    }
}

/// The bits of a key by which its partition was not chosen.
fn free_bits(key: u64) -> u64 {
    key >> PARTITIONS.ilog2()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The keys of each set.
    pub(in super::super) struct Keys<'a>(pub(in super::super) &'a [Vec<u64>]);

    impl KeysOf for Keys<'_> {
        type Buffers = ();

        fn count(&self, set: SetIndex) -> u64 {
            self.0[set as usize].len() as u64
        }

        fn each(&self, sets: Range<SetIndex>, (): &mut (), mut look: impl FnMut(SetIndex, &[u64])) -> Result<()> {
            sets.for_each(|set| look(set, &self.0[set as usize]));
            Ok(())
        }

        fn is_held(&self) -> bool {
            true
        }
    }

    #[test]
    fn entries_of_one_key_stay_in_order() {
        let entry = |n: u32| Entry { key: crate::shingle::hash::mix((n % 50).into()) << 8, set: n, place: 0 };
        let entries: Vec<Entry> = (0..1000).map(entry).collect();
        let mut sorting = Sorting::default();
        let sorted = sorting.by_key(&entries);
        assert!(sorted.chunk_by(|a, b| a.key == b.key).all(|posting| posting.len() == 20 && posting.is_sorted_by_key(|e| e.set)));
        assert_eq!(sorted.len(), 1000);
    }

    #[test]
    fn entries_whose_key_no_other_has_go_and_others_stay() {
        let entry = |n: u32| Entry { key: crate::shingle::hash::mix((n % 800).into()) << 8, set: n, place: 0 };
        let mut entries: Vec<Entry> = (0..1000).map(entry).collect();
        Sorting::default().drop_lonely(&mut entries);
        let is_shared = |entry: &&Entry| entry.set < 200 || entry.set >= 800;
        assert_eq!(entries.iter().filter(is_shared).count(), 400);
        assert!(entries.len() < 700, "{} of 1000 are left", entries.len());
        Sorting::default().drop_lonely(&mut Vec::new());
    }
}
