//! Pairs of which one lies inside the other, whatever its size.
//!
//! If at least c of a set's shingles are in another, then so is one of its first |x| − ⌈c|x|⌉ + 1 in any fixed order. In the larger set it
//! may stand anywhere, so all shingles are indexed: this costs more memory than resemblance does, where prefixes are enough.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::apart::Hold;
use super::index::Index;
use super::keys::{Keys, Lookup};
use super::ordered::{Buffers, Ordered};
use super::pairs::{Collector, PairList};
use super::recent::Recent;
use super::sets::{SetIndex, Sets};
use super::shared::{KeysOf, Partitions, Shared};
use super::tasks::Task;
use super::{BLOCK, SetPair};
use crate::error::Result;
use crate::exec::{Exec, Idle};
use crate::fingerprint::Common;
use crate::run::Stage;
use crate::verify::{self, Containment, Similarity};

/// All pairs of which the smaller set lies inside the larger, but for those that are `known`; an error once there are more than `limit`.
pub fn contained_pairs(
    sets: &Sets,
    ordered: &Ordered<'_>,
    containment: Containment,
    known: impl Fn(Similarity) -> bool + Sync,
    exec: &Exec<'_>,
    limit: u64,
) -> Result<PairList> {
    let first = sets.first_of_size(containment.min_size);
    let shingles = AllShingles { sets, ordered, first, looked_up: |size| containment.least.prefix(size) };
    let keys = Keys::new(Shared::build(sets.len(), &shingles, exec)?, exec)?;
    let search = Search { sets, ordered, containment, known, collector: Collector::new(exec, limit), exec };
    let window = |set: SetIndex| set + 1..(sets.len() as SetIndex).max(set + 1);
    keys.each_part(exec, window, |lookup, task| match lookup {
        Lookup::Keys(index) => search.part(index, task),
        Lookup::Codes(_) => Ok(()),
    })?;
    search.collector.finish()
}

/// The shingles that more than `most` documents have.
pub fn common_shingles(sets: &Sets, ordered: &Ordered<'_>, most: u32, exec: &Exec<'_>) -> Result<Common> {
    let shingles = AllShingles { sets, ordered, first: 0, looked_up: |_| 0 };
    let common = Mutex::new(Vec::new());
    Partitions::of_keys(sets.len(), &shingles, exec)?.each_shared(exec, |entries| {
        let documents: usize = entries.iter().map(|entry| sets.documents(entry.set).len()).sum();
        if documents > most as usize {
            common.lock().unwrap_or_else(PoisonError::into_inner).extend(entries.first().map(|entry| entry.key));
        }
    })?;
    let mut common = common.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Those of one set are shared by no other, but may be of many documents.
    let of_many = |set: &SetIndex| sets.documents(*set).len() > most as usize;
    for set in (0..sets.len() as SetIndex).filter(of_many) {
        ordered.each(set..set + 1, &mut Buffers::default(), |_, shingles| common.extend_from_slice(shingles))?;
    }
    Ok(common.into_iter().collect())
}

struct Search<'a, Known> {
    sets: &'a Sets,
    ordered: &'a Ordered<'a>,
    containment: Containment,
    known: Known,
    collector: Collector<'a>,
    exec: &'a Exec<'a>,
}

impl<Known: Fn(Similarity) -> bool + Sync> Search<'_, Known> {
    fn part(&self, index: &Index, task: &Task) -> Result<()> {
        let blocks: Vec<SetIndex> = task.probe.clone().step_by(BLOCK).collect();
        // One for each thread.
        let idle = Idle::<(Hold, Recent)>::default();
        blocks.into_par_iter().try_for_each(|first| {
            let block = first..task.probe.end.min(first + BLOCK as SetIndex);
            self.exec.observer.advance(Stage::Join, block.len() as u64);
            let mut buffers = idle.take();
            self.block(index, block, &task.among, &mut buffers)?;
            idle.put(buffers);
            Ok(())
        })
    }

    fn block(
        &self,
        index: &Index,
        block: Range<SetIndex>,
        among: &Range<SetIndex>,
        (own, recent): &mut (Hold, Recent),
    ) -> Result<()> {
        let mut pairs = Vec::new();
        for set in block.take_while(|_| !self.collector.is_over()) {
            let size = self.sets.sizes()[set as usize];
            let needed = self.containment.least.smallest_partner(size);
            let mut partners = larger_with_common(index, set);
            partners.retain(|partner| among.contains(partner) && self.sets.comparable(set, *partner));
            if partners.is_empty() {
                continue;
            }
            let shingles = self.ordered.get(set, own)?;
            let before = pairs.len();
            for partner in partners {
                let Some(overlap) = verify::overlap(shingles, self.ordered.get_again(partner, recent)?, needed) else { continue };
                let pair = SetPair { first: set, second: partner, overlap };
                if !(self.known)(pair.similarity(self.sets)) {
                    pairs.push(pair);
                }
            }
            self.collector.count(pairs.len() - before);
            self.collector.take_some(&mut pairs)?;
        }
        self.collector.take(pairs)
    }
}

/// Every shingle of sets from `first` on is a key.
struct AllShingles<'a, LookedUp> {
    sets: &'a Sets,
    ordered: &'a Ordered<'a>,
    first: SetIndex,
    /// How many of its first shingles a set of some size looks up.
    looked_up: LookedUp,
}

impl<LookedUp: Fn(u32) -> u32 + Sync> KeysOf for AllShingles<'_, LookedUp> {
    type Buffers = Buffers;

    fn count(&self, set: SetIndex) -> u64 {
        if set < self.first { 0 } else { self.sets.sizes()[set as usize].into() }
    }

    fn each(&self, sets: Range<SetIndex>, buffers: &mut Buffers, mut look: impl FnMut(SetIndex, &[u64])) -> Result<()> {
        (sets.start..sets.end.min(self.first)).for_each(|set| look(set, &[]));
        self.ordered.each(sets.start.max(self.first)..sets.end, buffers, look)
    }

    fn is_held(&self) -> bool {
        self.ordered.is_held()
    }

    fn looks_up(&self, set: SetIndex) -> u32 {
        (self.looked_up)(self.sets.sizes()[set as usize])
    }
}

/// Sets after `set` in the order of sizes that have one of the shingles that it looks up.
fn larger_with_common(index: &Index, set: SetIndex) -> Vec<SetIndex> {
    /// With so many more than before they are looked through again: most are there several times.
    const MORE: usize = 1 << 16;
    let (mut partners, mut most) = (Vec::new(), MORE);
    for &at in index.occurrences(set) {
        partners.extend(index.postings.after(at));
        if partners.len() > most {
            drop_repeated(&mut partners);
            most = 2 * partners.len() + MORE;
        }
    }
    drop_repeated(&mut partners);
    partners
}

fn drop_repeated(sets: &mut Vec<SetIndex>) {
    sets.sort_unstable();
    sets.dedup();
}
