//! Numbers of 64 bits that differ in few: finding the near ones of each by looking up parts of it (P4; multi-index hashing).
//!
//! Cut into m blocks, two numbers that differ in at most k bits differ in at most ⌊k/m⌋ in some block, or in one less where the blocks
//! before have had their share. So all values near a block's are looked up in a table of that block's values, and what is found is
//! compared as a whole. With k = 3 these are four blocks of 16 bits, each looked up as it is.

use std::ops::Range;

use super::sets::SetIndex;

/// Numbers of sets, by block.
pub(super) struct Codes {
    /// By set; sets without one are in no table.
    codes: Vec<Option<u64>>,
    radius: u32,
    tables: Vec<Table>,
}

/// The sets by the values of one block.
struct Table {
    shift: u32,
    mask: u64,
    /// Where the sets with each value begin; one more for the end.
    starts: Vec<u32>,
    /// By value, then by number.
    sets: Vec<SetIndex>,
    /// What to change in a block to get all values that are near enough.
    changes: Vec<u64>,
}

/// Bits of a number.
const BITS: u32 = 64;

impl Codes {
    /// Of all sets; those that have no number are near none.
    pub(super) fn new(codes: Vec<Option<u64>>, radius: u32) -> Codes {
        let tables = blocks(codes.len(), radius);
        let tables = tables.into_iter().map(|(bits, near)| Table::new(&codes, bits, near)).collect();
        Codes { codes, radius, tables }
    }

    /// Number of sets.
    pub(super) fn sets(&self) -> Range<SetIndex> {
        0..self.codes.len() as SetIndex
    }

    /// Calls `found` with each of `among` that is near; with some of them more than once.
    pub(super) fn near(&self, set: SetIndex, among: &Range<SetIndex>, mut found: impl FnMut(SetIndex)) {
        let Some(code) = self.codes[set as usize] else { return };
        for table in &self.tables {
            let value = code >> table.shift & table.mask;
            for change in &table.changes {
                let sets = table.with_value((value ^ change) as usize);
                let first = sets.partition_point(|&other| other < among.start);
                for &other in sets[first..].iter().take_while(|&&other| other < among.end) {
                    if self.codes[other as usize].is_some_and(|other| (code ^ other).count_ones() <= self.radius) {
                        found(other);
                    }
                }
            }
        }
    }
}

impl Table {
    fn new(codes: &[Option<u64>], bits: Range<u32>, near: u32) -> Table {
        let (shift, mask) = (bits.start, (1u64 << bits.len()) - 1);
        let value = |code: u64| (code >> shift & mask) as usize;
        let mut starts = vec![0u32; (1 << bits.len()) + 1];
        codes.iter().flatten().for_each(|&code| starts[value(code) + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut sets = vec![0; starts.last().map_or(0, |&end| end as usize)];
        for (set, code) in codes.iter().enumerate() {
            if let Some(code) = *code {
                let slot = &mut next[value(code)];
                sets[*slot as usize] = set as SetIndex;
                *slot += 1;
            }
        }
        let changes = (0..=near).flat_map(|ones| with_ones(bits.len() as u32, ones)).collect();
        Table { shift, mask, starts, sets, changes }
    }

    fn with_value(&self, value: usize) -> &[SetIndex] {
        &self.sets[self.starts[value] as usize..self.starts[value + 1] as usize]
    }
}

/// All numbers of so many bits with so many ones.
fn with_ones(bits: u32, ones: u32) -> Vec<u64> {
    if ones == 0 {
        return vec![0];
    }
    let smaller = |highest: u32| with_ones(highest, ones - 1).into_iter().map(move |rest| 1 << highest | rest);
    (ones - 1..bits).flat_map(smaller).collect()
}

/// The blocks whose tables cost least for so many sets: which bits, and in how many of them near numbers may differ.
fn blocks(sets: usize, radius: u32) -> Vec<(Range<u32>, u32)> {
    /// Larger tables than of so many bits leave the cache.
    const MOST_BITS: u32 = 20;
    let cost = |blocks: &Vec<(Range<u32>, u32)>| -> f64 {
        let of_block = |(bits, near): &(Range<u32>, u32)| {
            let bits = bits.len() as u32;
            let values: f64 = (0..=*near).map(|ones| with_ones(bits, ones).len() as f64).sum();
            values * (4.0 + sets as f64 / f64::from(1u32 << bits))
        };
        blocks.iter().map(of_block).sum()
    };
    let divisions = (BITS.div_ceil(MOST_BITS)..=radius + 1).chain([BITS.div_ceil(MOST_BITS).max(radius + 1)]);
    let all: Vec<Vec<(Range<u32>, u32)>> = divisions.map(|blocks| divide(blocks, radius)).collect();
    all.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or_default()
}

fn divide(blocks: u32, radius: u32) -> Vec<(Range<u32>, u32)> {
    let (near, rest) = (radius / blocks, radius % blocks);
    // If each of the first rest + 1 blocks differs in more than `near`, and each of the others in `near` or more, it is more than `radius`.
    let near_in = |block: u32| if block <= rest { Some(near) } else { near.checked_sub(1) };
    let bits = |block: u32| block * BITS / blocks..(block + 1) * BITS / blocks;
    (0..blocks).filter_map(|block| Some((bits(block), near_in(block)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::hash::mix;

    #[test]
    fn all_near_numbers_are_found() {
        // Groups of numbers around a few, at all distances.
        let code = |i: u64| {
            let flips = (0..i % 20).fold(0u64, |flips, n| flips | 1 << (mix(i * 31 + n) % 64));
            mix(i / 40) ^ flips
        };
        let codes: Vec<Option<u64>> = (0..600).map(|i| (i % 50 != 7).then(|| code(i))).collect();
        for radius in 0..=16 {
            let index = Codes::new(codes.clone(), radius);
            for set in 0..codes.len() as SetIndex {
                let among = set / 3..set;
                let mut found = Vec::new();
                index.near(set, &among, |other| found.push(other));
                found.sort_unstable();
                found.dedup();
                let near = |&other: &SetIndex| match (codes[set as usize], codes[other as usize]) {
                    (Some(a), Some(b)) => (a ^ b).count_ones() <= radius,
                    _ => false,
                };
                assert_eq!(found, among.filter(near).collect::<Vec<_>>(), "radius {radius}, set {set}");
            }
        }
    }

    #[test]
    fn three_bits_are_four_blocks_as_they_are() {
        assert_eq!(blocks(1_000_000, 3), [(0..16, 0), (16..32, 0), (32..48, 0), (48..64, 0)]);
    }

    #[test]
    fn changes_are_all_numbers_with_so_many_ones() {
        let two: Vec<u64> = with_ones(5, 2);
        assert_eq!(two.len(), 10);
        assert!(two.iter().all(|n| n.count_ones() == 2 && *n < 32));
    }
}
