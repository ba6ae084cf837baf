//! The keys that sets share, ready to be probed: as the index of all sets, or, where that is too large for memory, part by part.

use std::ops::Range;

use super::codes::Codes;
use super::index::Index;
use super::sets::SetIndex;
use super::shared::Shared;
use super::tasks::{Task, divide, pieces, sums};
use crate::error::{Error, Result};
use crate::exec::Exec;

/// What is probed.
#[derive(Clone, Copy)]
pub(super) enum Lookup<'a> {
    /// Keys that sets share.
    Keys(&'a Index),
    /// Numbers that are near each other.
    Codes(&'a Codes),
}

/// What shared keys have become.
pub(super) enum Keys {
    /// Numbers instead of keys.
    Codes(Codes),
    /// The index of all sets.
    Indexed(Index),
    /// Too many for one index.
    Parted(Parted),
    /// Nobody will probe any more.
    Gone,
}

impl Keys {
    /// Hundredths of the memory that is left that an index may take.
    const SHARE: u64 = 75;

    /// Builds the index of all sets if it fits in memory.
    pub(super) fn new(shared: Shared, exec: &Exec<'_>) -> Result<Keys> {
        let count = shared.keys_of_sets().len();
        let bytes = Index::bytes(count, shared.len()) + counters(count, exec);
        match exec.spill_beyond(Keys::SHARE, bytes) {
            Some(_) => Ok(Keys::Parted(Parted::new(shared))),
            None => Index::build(&shared, exec, |_| true).map(Keys::Indexed),
        }
    }

    /// Calls `search` with each part of the search for all pairs and its index. `window` tells where a set looks for partners.
    pub(super) fn each_part(
        &self,
        exec: &Exec<'_>,
        window: impl Fn(SetIndex) -> Range<SetIndex>,
        search: impl Fn(Lookup<'_>, &Task) -> Result<()>,
    ) -> Result<()> {
        match self {
            Keys::Codes(codes) => search(Lookup::Codes(codes), &Task { probe: codes.sets(), among: codes.sets() }),
            Keys::Indexed(index) => search(Lookup::Keys(index), &Task { probe: index.sets(), among: index.sets() }),
            Keys::Parted(parted) => parted.each(exec, window, |index, task| search(Lookup::Keys(index), task)),
            Keys::Gone => Err(gone()),
        }
    }
}

/// What is said to those who probe what is gone.
pub(super) fn gone() -> Error {
    Error::Bug("keys are probed that are gone".into())
}

/// Bytes of the counters that threads have, one for each set.
fn counters(count: usize, exec: &Exec<'_>) -> u64 {
    (count * exec.threads * size_of::<u32>()) as u64
}

/// Shared keys whose index is too large for memory.
pub(super) struct Parted {
    shared: Shared,
    /// Shared keys of all sets before each; one more for the end.
    before: Vec<u64>,
}

impl Parted {
    fn new(shared: Shared) -> Parted {
        Parted { before: sums(shared.keys_of_sets().iter().map(|&keys| keys.into())), shared }
    }

    fn count(&self) -> usize {
        self.before.len() - 1
    }

    /// Shared keys whose index fits in memory.
    fn most(&self, exec: &Exec<'_>) -> u64 {
        if exec.memory.is_tight() {
            return self.shared.len().div_ceil(5).max(1);
        }
        exec.memory.make_room();
        let per_set = Index::bytes(self.count(), 0) + counters(self.count(), exec);
        // A quarter is for what is read to make it, and for what is found.
        let most = (exec.memory.part(4, 0) * 3).max(per_set + (1 << 20)) - per_set;
        (most / Index::bytes(0, 1)).min(u32::MAX.into())
    }

    /// Divides the search for all pairs into parts whose indexes fit in memory, and calls `search` with each. `window` tells where a set
    /// looks for partners.
    fn each(
        &self,
        exec: &Exec<'_>,
        window: impl Fn(SetIndex) -> Range<SetIndex>,
        search: impl Fn(&Index, &Task) -> Result<()>,
    ) -> Result<()> {
        /// With more parts than this a run would seem to never end.
        const MOST_PARTS: usize = 64;
        let tasks = divide(&self.before, self.most(exec), window);
        if tasks.len() > MOST_PARTS && !exec.memory.is_tight() {
            let needed = Index::bytes(self.count(), self.shared.len()) >> 20;
            return Err(Error::out_of_memory(format!("an index of {needed} MiB, in {} parts,", tasks.len()), exec.memory));
        }
        for task in tasks {
            exec.check()?;
            search(&Index::build(&self.shared, exec, |set| task.includes(set))?, &task)?;
        }
        Ok(())
    }

    /// Calls `search` with indexes of some sets after the other, each with `centres` beside them.
    pub(super) fn each_around(
        &self,
        exec: &Exec<'_>,
        centres: &[SetIndex],
        mut search: impl FnMut(&Index, Range<SetIndex>) -> Result<()>,
    ) -> Result<()> {
        let mut is_centre = vec![false; self.count()];
        centres.iter().for_each(|&set| is_centre[set as usize] = true);
        for among in pieces(&self.before, self.most(exec), 0..self.count() as SetIndex) {
            exec.check()?;
            search(&Index::build(&self.shared, exec, |set| among.contains(&set) || is_centre[set as usize])?, among)?;
        }
        Ok(())
    }
}
