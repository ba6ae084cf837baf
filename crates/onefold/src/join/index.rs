//! The index of join keys: postings of keys that at least two sets share.
//!
//! Keys are scattered into partitions by their low bits. In a partition a table of two-bit counters drops keys of one set,
//! which most are, before anything is sorted.

use rayon::prelude::*;

use super::sets::SetIndex;

const PARTITIONS: usize = 256;

#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    set: SetIndex,
    place: u32,
}

/// A shared key of a set: its posting, and where it stands among the set's keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Occurrence {
    posting: u32,
    pub(super) place: u32,
}

/// Postings by key, and the shared keys by set.
#[derive(Debug)]
pub(super) struct Index {
    sets: Vec<SetIndex>,
    posting_starts: Vec<usize>,
    occurrences: Vec<Occurrence>,
    occurrence_starts: Vec<usize>,
}

impl Index {
    /// Builds the index of `count` sets; `keys_of` appends a set's keys to the buffer.
    pub(super) fn build(count: usize, keys_of: impl Fn(SetIndex, &mut Vec<u64>) + Sync) -> Index {
        let entries = scatter(count, keys_of);
        let partitions: Vec<Partition> = (0..PARTITIONS).into_par_iter().map(|p| Partition::build(&entries, p)).collect();
        drop(entries);
        Index::unite(count, &partitions)
    }

    fn unite(count: usize, partitions: &[Partition]) -> Index {
        let mut sets = Vec::with_capacity(partitions.iter().map(|p| p.shared.len()).sum());
        let mut posting_starts = Vec::with_capacity(partitions.iter().map(|p| p.posting_starts.len()).sum::<usize>() + 1);
        let mut occurrence_starts = vec![0usize; count + 1];
        for partition in partitions {
            posting_starts.extend(partition.posting_starts.iter().map(|start| start + sets.len()));
            sets.extend(partition.shared.iter().map(|entry| entry.set));
            partition.shared.iter().for_each(|entry| occurrence_starts[entry.set as usize + 1] += 1);
        }
        posting_starts.push(sets.len());
        for set in 0..count {
            occurrence_starts[set + 1] += occurrence_starts[set];
        }
        let mut next = occurrence_starts.clone();
        let mut occurrences = vec![Occurrence::default(); sets.len()];
        let mut posting = 0;
        for partition in partitions {
            for (local, entries) in partition.postings().enumerate() {
                for entry in entries {
                    let at = &mut next[entry.set as usize];
                    occurrences[*at] = Occurrence { posting: posting + local as u32, place: entry.place };
                    *at += 1;
                }
            }
            posting += partition.posting_starts.len() as u32;
        }
        Index { sets, posting_starts, occurrences, occurrence_starts }
    }

    /// A set from the middle of each of the `count` longest postings.
    pub(super) fn crowded_sets(&self, count: usize) -> Vec<SetIndex> {
        let mut postings: Vec<&[usize]> = self.posting_starts.windows(2).collect();
        postings.sort_by_key(|posting| std::cmp::Reverse(posting[1] - posting[0]));
        let mut sets: Vec<SetIndex> =
            postings.iter().take(count).map(|posting| self.sets[(posting[0] + posting[1]) / 2]).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// The keys of a set that others share.
    pub(super) fn occurrences(&self, set: SetIndex) -> &[Occurrence] {
        &self.occurrences[self.occurrence_starts[set as usize]..self.occurrence_starts[set as usize + 1]]
    }

    /// The sets that have the key, rising.
    pub(super) fn posting(&self, occurrence: Occurrence) -> &[SetIndex] {
        let at = occurrence.posting as usize;
        &self.sets[self.posting_starts[at]..self.posting_starts[at + 1]]
    }
}

/// Entries by block of sets, then by partition; inside both by set.
fn scatter(count: usize, keys_of: impl Fn(SetIndex, &mut Vec<u64>) + Sync) -> Vec<Vec<Vec<Entry>>> {
    const BLOCK: usize = 4096;
    let blocks: Vec<usize> = (0..count).step_by(BLOCK).collect();
    let scatter_block = |&first: &usize| {
        let mut partitions = vec![Vec::new(); PARTITIONS];
        let mut keys = Vec::new();
        for set in first..count.min(first + BLOCK) {
            keys.clear();
            keys_of(set as SetIndex, &mut keys);
            for (place, &key) in keys.iter().enumerate() {
                partitions[key as usize % PARTITIONS].push(Entry { key, set: set as SetIndex, place: place as u32 });
            }
        }
        partitions
    };
    blocks.par_iter().map(scatter_block).collect()
}

/// The shared keys of one partition, by key and set.
struct Partition {
    shared: Vec<Entry>,
    posting_starts: Vec<usize>,
}

impl Partition {
    fn build(entries: &[Vec<Vec<Entry>>], partition: usize) -> Partition {
        let all = || entries.iter().flat_map(|block| &block[partition]);
        let count: usize = entries.iter().map(|block| block[partition].len()).sum();
        let mut seen = SeenTwice::with_capacity(count);
        all().for_each(|entry| seen.add(entry.key));
        let mut shared: Vec<Entry> = all().filter(|entry| seen.twice(entry.key)).copied().collect();
        shared.sort_unstable_by_key(|entry| (entry.key, entry.set));
        drop_singles(&mut shared);
        let posting_starts = (0..shared.len()).filter(|&i| i == 0 || shared[i].key != shared[i - 1].key).collect();
        Partition { shared, posting_starts }
    }

    fn postings(&self) -> impl Iterator<Item = &[Entry]> {
        self.shared.chunk_by(|a, b| a.key == b.key)
    }
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
        let index = Index::build(keys.len(), |set, out| out.extend(&keys[set as usize]));
        let shared = |set: SetIndex| {
            let mut found: Vec<_> = index.occurrences(set).iter().map(|&o| (o.place, index.posting(o).to_vec())).collect();
            found.sort();
            found
        };
        assert_eq!(shared(0), [(1, vec![0, 1, 2]), (2, vec![0, 2])]);
        assert_eq!(shared(1), [(0, vec![0, 1, 2])]);
        assert_eq!(shared(2), [(0, vec![0, 2]), (1, vec![0, 1, 2])]);
        assert!(shared(3).is_empty() && shared(4).is_empty());
    }
}
