//! Candidates whose sets are on disk are verified wave after wave: the sets of each are gathered before it and let go behind it.
//!
//! One wave of all sizes where all sets fit, or two. Otherwise part by part, if that moves fewer words; see `parts.rs`.

use std::ops::Range;

use super::apart::Apart;
use super::gathered::Gathered;
use super::noted::{Marks, NotedSheets};
use super::parts::{Parts, Wave};
use super::sets::{SetIndex, Sets};
use super::tasks::sums;
use crate::error::Result;
use crate::exec::Exec;

/// What is verified, and how.
pub(super) struct Waves<'a, Window, Work> {
    pub(super) apart: &'a Apart,
    /// The sets of all candidates.
    pub(super) chosen: &'a Marks,
    pub(super) noted: &'a NotedSheets,
    pub(super) sets: &'a Sets,
    /// Where partners of a set may be.
    pub(super) window: Window,
    pub(super) exec: &'a Exec<'a>,
    /// Verifies a wave; says whether to go on.
    pub(super) work: Work,
}

impl<Window: Fn(SetIndex) -> Range<SetIndex>, Work: Fn(&Wave<'_>) -> Result<bool>> Waves<'_, Window, Work> {
    /// Verifies all candidates.
    pub(super) fn verify(&self) -> Result<()> {
        let Some((parts, across)) = self.parts()? else { return self.by_size(self.chosen, None) };
        for part in 0..parts.count() {
            if !self.one(|set| parts.has(part, set) && self.chosen.has(set), &Wave::Part(&parts, part))? {
                return Ok(());
            }
        }
        self.by_size(&across, Some(&parts))
    }

    /// Gathers the sets that are wanted, verifies a wave and lets them go; says whether to go on.
    fn one(&self, is_wanted: impl Fn(SetIndex) -> bool, wave: &Wave<'_>) -> Result<bool> {
        self.apart.gather(is_wanted, self.sets, &self.window, self.exec)?;
        let goes_on = (self.work)(wave);
        self.apart.let_go();
        goes_on
    }

    /// Verifies candidates of the sets that are marked by size: all of them, or those across parts.
    fn by_size(&self, marks: &Marks, across: Option<&Parts<'_>>) -> Result<()> {
        let is_wanted = |set: SetIndex| marks.has(set) && self.apart.is_spilled(self.sets.refs()[set as usize]);
        let words = |set: SetIndex| if is_wanted(set) { self.sets.sizes()[set as usize].into() } else { 0 };
        let waves = Gathered::waves(&sums((0..self.sets.len() as SetIndex).map(words)), &self.window, self.exec);
        for sizes in waves.into_iter().filter(|sizes| !sizes.is_empty()) {
            let (first, last) = ((self.window)(sizes.start), (self.window)(sizes.end - 1));
            let around = first.start.min(sizes.start)..last.end.max(sizes.end);
            let wave = across.map_or(Wave::Sizes(sizes.clone()), |parts| Wave::Across(parts, sizes));
            if !self.one(|set| around.contains(&set) && is_wanted(set), &wave)? {
                break;
            }
        }
        Ok(())
    }

    /// Parts that are to be verified in themselves, and the sets of all candidates that are of two, if that takes less reading and writing than
    /// to verify all candidates by size.
    fn parts(&self) -> Result<Option<(Parts<'_>, Marks)>> {
        let words = self.apart.words_on_disk(self.chosen, self.sets);
        let (room, all) = (Gathered::room(self.exec), words.iter().flatten().sum::<u64>());
        if all <= room || self.exec.spill.is_none() {
            return Ok(None);
        }
        let is_tight = self.exec.memory.is_tight();
        // Pairs that are found take room meanwhile.
        let most = if is_tight { all / 3 } else { room / 8 * 7 };
        let (parts, across) = (Parts::new(self.sets, &words, most), Marks::new(self.sets.len()));
        self.noted.mark(&across, |a, b| parts.divide(a, b))?;
        let of_two = self.apart.words_on_disk(&across, self.sets).iter().flatten().sum();
        Ok((are_useful(all, of_two, room) || is_tight).then_some((parts, across)))
    }
}

/// Whether so many words in parts, of which some are of candidates across them, move less than all by size. What does not fit is written and read
/// again; a part that does not fit is, too, but costs no more than it would among all.
fn are_useful(all: u64, of_two: u64, room: u64) -> bool {
    let again = |words: u64| 2 * words.saturating_sub(room);
    of_two + again(of_two) < again(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_used_where_few_candidates_are_of_two() {
        assert!(are_useful(2000, 0, 1000));
        assert!(are_useful(2000, 1200, 1000));
        assert!(!are_useful(2000, 1500, 1000));
        assert!(!are_useful(1100, 300, 1000), "most of them fit");
        assert!(are_useful(1100, 100, 1000));
    }
}
