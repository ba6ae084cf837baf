//! The keys that sets share, ready to be probed: as the index of all sets, or, where that is too large for memory, part by part.

use std::ops::Range;

use super::codes::Codes;
use super::index::Index;
use super::sets::SetIndex;
use super::shared::Shared;
use super::tasks::{Task, divide, pieces};
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
    /// Hundredths of the memory that is left for it that an index may take.
    const SHARE: u64 = 75;

    /// Builds the index of all sets if it fits in memory.
    pub(super) fn new(shared: Shared, exec: &Exec<'_>) -> Result<Keys> {
        let parted = Parted::new(shared);
        exec.memory.make_room();
        let needed = parted.per_set(exec) + parted.keys() * parted.shared.weight();
        if exec.spill.is_some() && needed > left_for_index(exec) / 100 * Keys::SHARE {
            return Ok(Keys::Parted(parted));
        }
        parted.shared.index(exec, |_| true, |_| true).map(Keys::Indexed)
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

/// What is left of the memory beside what threads hold while they probe an index: sets that they look at, and what they find.
fn left_for_index(exec: &Exec<'_>) -> u64 {
    const OF_THREAD: u64 = 8 << 20;
    let left = exec.memory.left();
    left - (exec.threads as u64 * OF_THREAD).min(left / 4)
}

/// Bytes of the counters that threads have, one for each set.
fn counters(count: usize, exec: &Exec<'_>) -> u64 {
    (count * exec.threads * size_of::<u32>()) as u64
}

/// Shared keys whose index is too large for memory.
pub(super) struct Parted {
    shared: Shared,
    /// See [`Shared::weights`].
    before: Vec<u64>,
}

impl Parted {
    fn new(shared: Shared) -> Parted {
        Parted { before: shared.weights(), shared }
    }

    fn count(&self) -> usize {
        self.shared.sets()
    }

    fn all(&self) -> Range<SetIndex> {
        0..self.count() as SetIndex
    }

    /// Keys of all sets.
    fn keys(&self) -> u64 {
        self.before[self.count()]
    }

    /// Bytes that it takes to probe an index, however few keys it has.
    fn per_set(&self, exec: &Exec<'_>) -> u64 {
        Index::bytes(self.count(), 0) + counters(self.count(), exec)
    }

    /// Keys whose index fits in memory.
    fn most(&self, exec: &Exec<'_>) -> u64 {
        if exec.memory.is_tight() {
            return self.keys().div_ceil(5).max(1);
        }
        exec.memory.make_room();
        // A part is for what is found, and for what is read to make it where postings are on disk.
        let part = left_for_index(exec) / 8 * if self.shared.is_held() { 7 } else { 6 };
        let most = part.max(self.per_set(exec) + (1 << 20)) - self.per_set(exec);
        (most / self.shared.weight()).min(u32::MAX.into())
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
        let tasks = if self.shared.is_held() {
            let all = self.all();
            pieces(&self.before, self.most(exec), self.all()).map(|probe| Task { probe, among: all.clone() }).collect()
        } else {
            divide(&self.before, self.most(exec), window)
        };
        if tasks.len() > MOST_PARTS && !exec.memory.is_tight() {
            let needed = (self.keys() * self.shared.weight()) >> 20;
            return Err(Error::out_of_memory(format!("an index of {needed} MiB, in {} parts,", tasks.len()), exec.memory));
        }
        for task in tasks {
            exec.check()?;
            search(&self.shared.index(exec, |set| task.includes(set), |set| task.probe.contains(&set))?, &task)?;
        }
        Ok(())
    }

    /// Calls `search` with indexes of some sets after the other, each with `centres` beside them, for partners of which they are made.
    pub(super) fn each_around(
        &self,
        exec: &Exec<'_>,
        centres: &[SetIndex],
        mut search: impl FnMut(&Index, Range<SetIndex>) -> Result<()>,
    ) -> Result<()> {
        let mut is_centre = vec![false; self.count()];
        centres.iter().for_each(|&set| is_centre[set as usize] = true);
        let most = if self.shared.is_held() { u64::MAX - self.keys() } else { self.most(exec) };
        for among in pieces(&self.before, most, self.all()) {
            exec.check()?;
            let included = |set: SetIndex| among.contains(&set) || is_centre[set as usize];
            search(&self.shared.index(exec, included, |set| is_centre[set as usize])?, among.clone())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use super::super::shared::tests::Keys as KeysOfSets;
    use super::*;
    use crate::exec::{Memory, Spill};
    use crate::shingle::hash::mix;

    /// Every pair of sets that share a key, each as often as they share one.
    fn pairs(index: &Index, probe: Range<SetIndex>, among: &Range<SetIndex>) -> Vec<(SetIndex, SetIndex)> {
        let of_set =
            |set: SetIndex| index.occurrences(set).iter().flat_map(move |&at| index.postings.before(at).map(move |o| (o, set)));
        probe.flat_map(of_set).filter(|(other, _)| among.contains(other)).collect()
    }

    #[test]
    fn a_divided_search_finds_what_one_index_does_from_memory_and_from_disk() {
        let keys: Vec<Vec<u64>> = (0..300u64).map(|set| (0..set % 7).map(|key| mix(set * key % 90)).collect()).collect();
        let keys: Vec<Vec<u64>> = keys.into_iter().map(|keys| BTreeSet::from_iter(keys).into_iter().collect()).collect();
        let folder = tempfile::tempdir().unwrap();
        let spill = || Some(Spill::in_folder(folder.path().join("work")));
        let tight = Exec { memory: Memory::TIGHT, spill: spill(), ..Exec::default() };
        let shared = |exec: &Exec<'_>| Shared::build(keys.len(), &KeysOfSets(&keys), exec).unwrap();
        let whole = shared(&Exec::default()).index(&Exec::default(), |_| true, |_| true).unwrap();
        let mut expected = pairs(&whole, 0..300, &(0..300));
        expected.sort_unstable();
        assert!(expected.len() > 1000);
        let (held, spilled) = (shared(&Exec::default()), shared(&tight));
        assert!(held.is_held() && !spilled.is_held());
        for shared in [held, spilled] {
            let (parted, parts) = (Parted::new(shared), Mutex::new(Vec::new()));
            let search = |index: &Index, task: &Task| {
                parts.lock().unwrap().push(pairs(index, task.probe.clone(), &task.among));
                Ok(())
            };
            parted.each(&tight, |set| 0..set, search).unwrap();
            let parts = parts.into_inner().unwrap();
            assert!(parts.len() > 3, "{} parts", parts.len());
            let mut found = parts.concat();
            found.sort_unstable();
            assert_eq!(found, expected);
            let mut around = Vec::new();
            let look = |index: &Index, among: Range<SetIndex>| {
                around.extend(pairs(index, 250..251, &among));
                Ok(())
            };
            parted.each_around(&tight, &[250], look).unwrap();
            around.sort_unstable();
            assert_eq!(around, expected.iter().copied().filter(|(_, set)| *set == 250).collect::<Vec<_>>());
        }
    }
}
