//! The index of join keys: postings of keys that at least two sets share.
//!
//! Keys are scattered into partitions by their low bits. In a partition a table of two-bit counters drops keys of one set,
//! which most are, before anything is sorted.

use std::ops::Range;

use rayon::prelude::*;

use super::sets::SetIndex;
use crate::error::{Error, Result};

const PARTITIONS: usize = 256;

#[derive(Clone, Copy, Default)]
struct Entry {
    key: u64,
    set: SetIndex,
    place: u32,
}

/// A shared key of a set: where the set stands in the key's posting, and where the key stands among the set's keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Occurrence {
    at: u32,
    place: u32,
}

/// Postings longer than this are searched, shorter ones walked through.
const SHORT_POSTING: usize = 64;
/// In a place: the posting is long.
const LONG: u32 = 1 << 31;
/// In the postings: a set is the first of its posting. Walking needs nothing else to know where it ends.
const FIRST: u32 = 1 << 31;

impl Occurrence {
    /// Where the key stands among the set's keys.
    pub(super) fn place(self) -> u32 {
        self.place & !LONG
    }

    /// Whether the posting is too long to be walked through.
    pub(super) fn is_long(self) -> bool {
        self.place & LONG != 0
    }
}

/// Postings by key, and the shared keys by set.
#[derive(Debug)]
pub(super) struct Index {
    postings: Vec<u32>,
    posting_starts: Vec<u32>,
    occurrences: Vec<Occurrence>,
    occurrence_starts: Vec<usize>,
}

impl Index {
    /// Builds the index of `count` sets; `keys_of` appends a set's keys to the buffer.
    pub(super) fn build(count: usize, keys_of: impl Fn(SetIndex, &mut Vec<u64>) + Sync) -> Result<Index> {
        let blocks = scatter(count, keys_of);
        let partitions: Vec<Vec<Entry>> = (0..PARTITIONS).into_par_iter().map(|p| shared_keys(&blocks, p)).collect();
        drop(blocks);
        let shared: usize = partitions.iter().map(Vec::len).sum();
        if count >= FIRST as usize || shared > u32::MAX as usize {
            return Err(Error::TooLarge { what: "keys that documents share", limit: u32::MAX.into() });
        }
        Ok(Index::unite(count, &partitions))
    }

    fn unite(count: usize, partitions: &[Vec<Entry>]) -> Index {
        let mut postings = Vec::with_capacity(partitions.iter().map(Vec::len).sum());
        let mut posting_starts = Vec::new();
        let mut occurrence_starts = vec![0usize; count + 1];
        partitions.iter().flatten().for_each(|entry| occurrence_starts[entry.set as usize + 1] += 1);
        for set in 0..count {
            occurrence_starts[set + 1] += occurrence_starts[set];
        }
        let mut next = occurrence_starts.clone();
        let mut occurrences = vec![Occurrence::default(); postings.capacity()];
        for posting in partitions.iter().flat_map(|partition| partition.chunk_by(|a, b| a.key == b.key)) {
            let long = if posting.len() > SHORT_POSTING { LONG } else { 0 };
            posting_starts.push(postings.len() as u32);
            for (nth, entry) in posting.iter().enumerate() {
                let slot = &mut next[entry.set as usize];
                occurrences[*slot] = Occurrence { at: postings.len() as u32, place: entry.place | long };
                *slot += 1;
                postings.push(entry.set | if nth == 0 { FIRST } else { 0 });
            }
        }
        posting_starts.push(postings.len() as u32);
        Index { postings, posting_starts, occurrences, occurrence_starts }
    }

    /// A set from the middle of each of the `count` longest postings.
    pub(super) fn crowded_sets(&self, count: usize) -> Vec<SetIndex> {
        let mut postings: Vec<&[u32]> = self.posting_starts.windows(2).collect();
        postings.sort_by_key(|posting| std::cmp::Reverse(posting[1] - posting[0]));
        let middle = |posting: &&[u32]| self.postings[(posting[0] as usize + posting[1] as usize) / 2] & !FIRST;
        let mut sets: Vec<SetIndex> = postings.iter().take(count).map(middle).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// The keys of a set that others share.
    pub(super) fn occurrences(&self, set: SetIndex) -> &[Occurrence] {
        &self.occurrences[self.occurrence_starts[set as usize]..self.occurrence_starts[set as usize + 1]]
    }

    /// Touches the postings of some keys, all at once: one after the other, each would be waited for.
    pub(super) fn warm(&self, occurrences: &[Occurrence]) {
        let touched = occurrences.iter().fold(0, |sum, occurrence| sum ^ self.postings[occurrence.at as usize]);
        std::hint::black_box(touched);
    }

    /// The sets before this one in the posting, the nearest first.
    pub(super) fn before(&self, occurrence: Occurrence) -> impl Iterator<Item = SetIndex> {
        let mut rest = &self.postings[..=occurrence.at as usize];
        std::iter::from_fn(move || {
            let (&entry, before) = rest.split_last()?;
            if entry & FIRST != 0 {
                return None;
            }
            rest = before;
            before.last().map(|entry| entry & !FIRST)
        })
    }

    /// The sets after this one in the posting, the nearest first.
    pub(super) fn after(&self, occurrence: Occurrence) -> impl Iterator<Item = SetIndex> {
        let rest = &self.postings[occurrence.at as usize + 1..];
        rest.iter().take_while(|&&entry| entry & FIRST == 0).copied()
    }

    /// Places of the posting's sets whose numbers are in `range`, for [`Index::set_at`].
    pub(super) fn places_in(&self, occurrence: Occurrence, range: &Range<SetIndex>) -> Range<usize> {
        let posting = self.posting_starts.partition_point(|&start| start <= occurrence.at);
        let (start, end) = (self.posting_starts[posting - 1] as usize, self.posting_starts[posting] as usize);
        let first_from = |set: SetIndex| start + self.postings[start..end].partition_point(|entry| entry & !FIRST < set);
        first_from(range.start)..first_from(range.end)
    }

    /// The set at a place of the postings.
    pub(super) fn set_at(&self, place: usize) -> SetIndex {
        self.postings[place] & !FIRST
    }

    /// First of `places` whose set is not `wanted`, where wanted ones come first.
    pub(super) fn partition_places(&self, places: &Range<usize>, wanted: impl Fn(SetIndex) -> bool) -> usize {
        places.start + self.postings[places.clone()].partition_point(|entry| wanted(entry & !FIRST))
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

impl Entry {
    fn partition(&self) -> usize {
        self.key as usize % PARTITIONS
    }
}

/// The entries of all sets, in blocks that stay in the cache while they are scattered.
fn scatter(count: usize, keys_of: impl Fn(SetIndex, &mut Vec<u64>) + Sync) -> Vec<Block> {
    const SETS: usize = 256;
    let firsts: Vec<usize> = (0..count).step_by(SETS).collect();
    let scatter_block = |(keys, entries): &mut (Vec<u64>, Vec<Entry>), &first: &usize| {
        entries.clear();
        for set in first..count.min(first + SETS) {
            keys.clear();
            keys_of(set as SetIndex, keys);
            entries.extend(keys.iter().zip(0..).map(|(&key, place)| Entry { key, set: set as SetIndex, place }));
        }
        Block::new(entries)
    };
    firsts.par_iter().map_init(Default::default, scatter_block).collect()
}

/// The shared keys of one partition, by key and set.
fn shared_keys(blocks: &[Block], partition: usize) -> Vec<Entry> {
    let all = || blocks.iter().flat_map(|block| block.partition(partition));
    let count: usize = blocks.iter().map(|block| block.partition(partition).len()).sum();
    let mut seen = SeenTwice::with_capacity(count);
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
    fn postings_hold_exactly_the_shared_keys() {
        let keys: Vec<Vec<u64>> = vec![vec![1, 2, 300], vec![2, 7], vec![300, 2, 9], vec![], vec![10]];
        let index = Index::build(keys.len(), |set, out| out.extend(&keys[set as usize])).unwrap();
        let shared = |set: SetIndex| {
            let posting = |&o: &Occurrence| {
                let mut sets: Vec<SetIndex> = index.before(o).chain([set]).chain(index.after(o)).collect();
                sets.sort_unstable();
                let places = index.places_in(o, &(0..SetIndex::MAX >> 1));
                assert_eq!(places.map(|place| index.set_at(place)).collect::<Vec<_>>(), sets);
                (o.place(), sets)
            };
            let mut found: Vec<_> = index.occurrences(set).iter().map(posting).collect();
            found.sort();
            found
        };
        assert_eq!(shared(0), [(1, vec![0, 1, 2]), (2, vec![0, 2])]);
        assert_eq!(shared(1), [(0, vec![0, 1, 2])]);
        assert_eq!(shared(2), [(0, vec![0, 2]), (1, vec![0, 1, 2])]);
        assert!(shared(3).is_empty() && shared(4).is_empty());
    }

    #[test]
    fn entries_of_one_key_stay_in_order() {
        let entry = |n: u32| Entry { key: crate::shingle::hash::mix((n % 50).into()) << 8, set: n, place: 0 };
        let sorted = by_key((0..1000).map(entry).collect());
        assert!(sorted.chunk_by(|a, b| a.key == b.key).all(|posting| posting.len() == 20 && posting.is_sorted_by_key(|e| e.set)));
    }
}
