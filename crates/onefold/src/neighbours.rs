//! Who is near whom, for clustering: from a list of pairs, or by probing the index for one leader at a time.

use std::ops::Range;

use crate::cluster::Neighbours;
use crate::error::Result;
use crate::exec::{Exec, HEADING, SpillFile, Way};
use crate::fingerprint::Fingerprint;
use crate::join::{Join, PairList, SetIndex, SetPair, Sets, pieces, sums};
use crate::verify::Similarity;

type Near = (SetIndex, Similarity);
/// Looks at all accepted pairs.
type EachPair<'a> = dyn Fn(&mut dyn FnMut(SetPair)) -> Result<()> + 'a;

/// Pairs, by set.
pub(crate) struct Adjacent<'a> {
    sets: &'a Sets,
    /// Where the partners of each set begin, among those of all sets; one more for the end.
    starts: Vec<u64>,
    place: Place,
}

/// A partner and the overlap with it, in the halves of a word.
type Partner = u64;

enum Place {
    /// One after the other.
    Held(Vec<Partner>),
    /// One frame for each set, in the same order.
    Spilled(SpillFile),
}

impl<'a> Adjacent<'a> {
    pub(crate) fn new(
        sets: &'a Sets,
        pairs: &[PairList],
        accepted: impl Fn(&SetPair) -> bool,
        exec: &Exec<'_>,
    ) -> Result<Adjacent<'a>> {
        let each = |look: &mut dyn FnMut(SetPair)| {
            let mut look = |pair: SetPair| {
                if accepted(&pair) {
                    look(pair)
                }
            };
            pairs.iter().try_for_each(|pairs| pairs.each(&mut look))
        };
        let mut partners = vec![0u64; sets.len()];
        each(&mut |pair| {
            partners[pair.first as usize] += 1;
            partners[pair.second as usize] += 1;
        })?;
        let starts = sums(partners.into_iter());
        let all = 0..sets.len() as SetIndex;
        let bytes = starts[sets.len()] * size_of::<Partner>() as u64;
        let Some(spill) = exec.spill_beyond(50, bytes) else {
            let place = Place::Held(partners_of(all, &starts, &each)?);
            return Ok(Adjacent { sets, starts, place });
        };
        // As many sets at a time as fit, with one look at all pairs for each time.
        let file = spill.scratch("partners", Way::Cached)?;
        let most = exec.memory.part(4, 1 << 20) / size_of::<Partner>() as u64;
        for some in pieces(&starts, most, all) {
            exec.check()?;
            let partners = partners_of(some.clone(), &starts, &each)?;
            let mut frames = Vec::new();
            let before = starts[some.start as usize];
            for set in some {
                let range = (starts[set as usize] - before) as usize..(starts[set as usize + 1] - before) as usize;
                file.frame(set, &partners[range], &mut frames);
                if frames.len() > 1 << 20 {
                    file.append(&frames)?;
                    frames.clear();
                }
            }
            file.append(&frames)?;
        }
        Ok(Adjacent { sets, starts, place: Place::Spilled(file) })
    }

    fn of_set(&self, set: SetIndex, buffer: &mut Vec<u64>) -> Result<Vec<Near>> {
        let (start, end) = (self.starts[set as usize], self.starts[set as usize + 1]);
        let partners = match &self.place {
            Place::Held(all) => &all[start as usize..end as usize],
            Place::Spilled(file) => {
                let at = start + u64::from(set) * HEADING as u64;
                file.read_frame(at, set, (end - start) as usize, buffer)?
            }
        };
        let size = |set: SetIndex| self.sets.sizes()[set as usize];
        let near = |&partner: &Partner| {
            let (other, overlap) = ((partner >> 32) as SetIndex, partner as u32);
            (other, Similarity::new(overlap, size(set), size(other)))
        };
        Ok(partners.iter().map(near).collect())
    }
}

/// The partners of some sets.
fn partners_of(sets: Range<SetIndex>, starts: &[u64], each: &EachPair<'_>) -> Result<Vec<Partner>> {
    let before = starts[sets.start as usize];
    let mut next: Vec<u64> = starts[sets.start as usize..=sets.end as usize].iter().map(|start| start - before).collect();
    let mut partners = vec![0; (starts[sets.end as usize] - before) as usize];
    each(&mut |pair| {
        for (from, to) in [(pair.first, pair.second), (pair.second, pair.first)] {
            if sets.contains(&from) {
                let slot = &mut next[(from - sets.start) as usize];
                partners[*slot as usize] = u64::from(to) << 32 | u64::from(pair.overlap);
                *slot += 1;
            }
        }
    })?;
    Ok(partners)
}

impl Neighbours for Adjacent<'_> {
    fn of(&self, leaders: &[SetIndex], _useful: &(dyn Fn(SetIndex, SetIndex) -> bool + Sync)) -> Result<Vec<Vec<Near>>> {
        let mut buffer = Vec::new();
        leaders.iter().map(|&set| self.of_set(set, &mut buffer)).collect()
    }
}

/// The index itself: only leaders are ever looked up, so a template with a million copies costs a million comparisons.
pub(crate) struct Probing<'a, F: ?Sized> {
    pub(crate) join: &'a Join<'a, F>,
    pub(crate) exec: &'a Exec<'a>,
}

impl<F: Fingerprint + ?Sized> Neighbours for Probing<'_, F> {
    fn of(&self, leaders: &[SetIndex], useful: &(dyn Fn(SetIndex, SetIndex) -> bool + Sync)) -> Result<Vec<Vec<Near>>> {
        let found = self.join.partners_of(self.exec, leaders, useful)?;
        self.exec.check()?;
        Ok(found)
    }
}
