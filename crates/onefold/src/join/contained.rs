//! Pairs of which one lies inside the other, whatever its size.
//!
//! If at least c of a set's shingles are in another, then so is one of its first |x| − ⌈c|x|⌉ + 1 in any fixed order. In the larger set it
//! may stand anywhere, so all shingles are indexed: this costs more memory than resemblance does, where prefixes are enough.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::index::Index;
use super::sets::{SetIndex, Sets};
use super::{BLOCK, SetPair};
use crate::document::Collection;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::run::Stage;
use crate::verify::{self, Containment};

/// All pairs of which the smaller set lies inside the larger, sorted; an error once there are more than `limit`.
pub fn contained_pairs(
    collection: &Collection,
    sets: &Sets,
    containment: Containment,
    exec: &Exec<'_>,
    limit: u64,
) -> Result<Vec<SetPair>> {
    let shingles = |set: SetIndex| collection.shingles(sets.refs()[set as usize]);
    let first = sets.first_of_size(containment.min_size);
    let keys = |set: SetIndex, keys: &mut Vec<u64>| {
        if set >= first {
            keys.extend_from_slice(shingles(set))
        }
    };
    let index = Index::build(sets.len(), keys)?;
    let (found, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let blocks: Vec<SetIndex> = (first..sets.len() as SetIndex).step_by(BLOCK).collect();
    let search = |&block: &SetIndex| {
        let mut pairs = Vec::new();
        if stop.load(Ordering::Relaxed) || exec.check().is_err() {
            return pairs;
        }
        let end = (sets.len() as SetIndex).min(block + BLOCK as SetIndex);
        for set in block..end {
            let size = sets.sizes()[set as usize];
            let needed = containment.least.smallest_partner(size);
            for partner in larger_with_common(&index, set, containment.least.prefix(size)) {
                if !sets.comparable(set, partner) {
                    continue;
                }
                if let Some(overlap) = verify::overlap(shingles(set), shingles(partner), needed) {
                    pairs.push(SetPair { first: set, second: partner, overlap });
                }
            }
        }
        if found.fetch_add(pairs.len() as u64, Ordering::Relaxed) + pairs.len() as u64 > limit {
            stop.store(true, Ordering::Relaxed);
        }
        exec.observer.advance(Stage::Join, u64::from(end - block));
        pairs
    };
    let pairs: Vec<Vec<SetPair>> = blocks.par_iter().map(search).collect();
    exec.check()?;
    if stop.into_inner() {
        return Err(Error::TooManyPairs { limit });
    }
    let mut pairs = pairs.concat();
    pairs.par_sort_unstable();
    Ok(pairs)
}

/// Sets after `set` in the order of sizes that have one of its first `prefix` shingles.
fn larger_with_common(index: &Index, set: SetIndex, prefix: u32) -> Vec<SetIndex> {
    let mut partners = Vec::new();
    for &occurrence in index.occurrences(set).iter().filter(|occurrence| occurrence.place() < prefix) {
        partners.extend(index.after(occurrence));
    }
    partners.sort_unstable();
    partners.dedup();
    partners
}
