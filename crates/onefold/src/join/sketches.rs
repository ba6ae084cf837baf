//! The sketches of all sets: in memory, or in a spill file.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::BLOCK;
use super::ordered::{Buffers, Ordered};
use super::sets::{SetIndex, Sets};
use super::tasks::{pieces, sums};
use crate::document::Entry;
use crate::error::Result;
use crate::exec::{Exec, HEADING, SpillFile, Way};
use crate::fingerprint::{Common, Fingerprint, Side, View};

/// What a method looks at beside the sets, to sketch them.
#[derive(Clone, Copy)]
pub struct Beside<'a> {
    /// Shingles that too many documents have.
    pub common: &'a Common,
    /// Whose features it took. Documents with one set have nearly the same, so those of the first stand for all.
    pub documents: &'a [Entry],
}

/// Sketches of any length.
pub struct Sketches {
    /// Words of all sketches before each; one more for the end. Nothing where the method has none.
    starts: Vec<u64>,
    place: Place,
}

enum Place {
    /// One after the other.
    Held(Vec<u64>),
    /// One frame for each set.
    Spilled(SpillFile),
}

impl Sketches {
    /// Hundredths of the memory that is left that sketches may take.
    pub(super) const SHARE: u64 = 25;

    /// Sketches every set.
    pub(super) fn new<F: Fingerprint + ?Sized>(
        sets: &Sets,
        ordered: &Ordered<'_>,
        beside: &Beside<'_>,
        method: &F,
        exec: &Exec<'_>,
    ) -> Result<Sketches> {
        let count = sets.len();
        // Sets without documents have none.
        let features = |set: SetIndex| beside.documents.get(sets.documents(set)[0] as usize).map_or(0, |entry| entry.features);
        let most = |(set, &size): (SetIndex, &u32)| u64::from(method.most_sketch(size, features(set)));
        let before = sums((0..).zip(sets.sizes()).map(most));
        let most = before[count];
        if most == 0 {
            return Ok(Sketches { starts: Vec::new(), place: Place::Held(Vec::new()) });
        }
        // The sketches of a block, and where each ends.
        let sketch_block = |(buffers, own): &mut (Buffers, Vec<u64>), block: Range<SetIndex>| {
            exec.check()?;
            let (mut sketches, mut ends, mut result) = (Vec::new(), Vec::with_capacity(block.len()), Ok(()));
            ordered.each(block, buffers, |set, shingles| {
                match ordered.features(&beside.documents[sets.documents(set)[0] as usize], own) {
                    Ok(features) if !shingles.is_empty() => {
                        method.sketch(View::new(shingles, features, beside.common), &mut sketches);
                    }
                    Ok(_) => (),
                    Err(error) => result = Err(error),
                }
                ends.push(sketches.len());
            })?;
            result.map(|()| (sketches, ends))
        };
        let lengths = |ends: &[usize]| {
            let before = [0].into_iter().chain(ends.iter().copied());
            ends.iter().zip(before).map(|(end, start)| (end - start) as u32).collect::<Vec<u32>>()
        };
        let Some(spill) = exec.spill_beyond(Sketches::SHARE, most * size_of::<u64>() as u64) else {
            let firsts = (0..count as SetIndex).into_par_iter().step_by(BLOCK);
            let blocks = firsts.map(|first| first..(count as SetIndex).min(first + BLOCK as SetIndex));
            let blocks = blocks.map_init(Default::default, sketch_block).collect::<Result<Vec<_>>>()?;
            let lengths = blocks.iter().flat_map(|(_, ends)| lengths(ends));
            let starts = sums(lengths.map(u64::from));
            let words = blocks.into_iter().map(|(sketches, _)| sketches).collect::<Vec<_>>().concat();
            return Ok(Sketches { starts, place: Place::Held(words) });
        };
        let file = spill.scratch("sketches", Way::Cached)?;
        // Block after block, so that a sketch is found by the lengths of those before it; sketches may be as large as sets.
        let mut all_lengths: Vec<u32> = Vec::with_capacity(count);
        let together = 4 * rayon::current_num_threads();
        let most_of_block = exec.memory.part(32, 1 << 20) / together as u64 / size_of::<u64>() as u64;
        let blocks: Vec<Range<SetIndex>> = pieces(&before, most_of_block, 0..count as SetIndex).collect();
        for blocks in blocks.chunks(together) {
            let sketched = blocks.par_iter().map_init(Default::default, |buffers, block| sketch_block(buffers, block.clone()));
            for (sketches, ends) in sketched.collect::<Result<Vec<_>>>()? {
                let (mut frames, mut rest) = (Vec::new(), sketches.as_slice());
                for length in lengths(&ends) {
                    let (sketch, others) = rest.split_at(length as usize);
                    file.frame(all_lengths.len() as u32, sketch, &mut frames);
                    all_lengths.push(length);
                    rest = others;
                }
                file.append(&frames)?;
            }
        }
        Ok(Sketches { starts: sums(all_lengths.into_iter().map(u64::from)), place: Place::Spilled(file) })
    }

    /// What the method thinks of two sets.
    pub fn estimate<F: Fingerprint + ?Sized>(&self, method: &F, a: SetIndex, b: SetIndex) -> Result<Option<f64>> {
        Ok(method.estimate(&self.of(a)?, &self.of(b)?))
    }

    /// Whether they are in memory.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.place, Place::Held(_))
    }

    /// Words of the sketch of a set.
    #[inline]
    pub(super) fn len(&self, set: SetIndex) -> u32 {
        match self.starts.get(set as usize..set as usize + 2) {
            Some(bounds) => (bounds[1] - bounds[0]) as u32,
            None => 0,
        }
    }

    /// A set as methods see it from outside.
    #[inline]
    pub(super) fn side(&self, set: SetIndex, size: u32) -> Side {
        Side { size, sketch: self.len(set) }
    }

    /// The sketch of a set.
    pub(super) fn of(&self, set: SetIndex) -> Result<Cow<'_, [u64]>> {
        let len = self.len(set) as usize;
        if len == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        let start = self.starts[set as usize];
        let file = match &self.place {
            Place::Held(all) => return Ok(Cow::Borrowed(&all[start as usize..start as usize + len])),
            Place::Spilled(file) => file,
        };
        let mut buffer = Vec::new();
        Ok(Cow::Owned(file.read_frame(start + u64::from(set) * HEADING as u64, set, len, &mut buffer)?.to_vec()))
    }
}
