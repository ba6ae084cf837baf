//! The sketches of all sets: in memory, or in a spill file.

use std::borrow::Cow;

use rayon::prelude::*;

use super::BLOCK;
use super::ordered::{Buffers, Ordered};
use super::sets::SetIndex;
use crate::error::Result;
use crate::exec::{Exec, HEADING, SpillFile, pack, unpack};
use crate::fingerprint::Fingerprint;

/// Sketches, all of one length.
pub struct Sketches {
    len: usize,
    place: Place,
}

enum Place {
    /// One after the other.
    Held(Vec<u32>),
    /// One frame for each set.
    Spilled(SpillFile),
}

impl Sketches {
    /// Hundredths of the memory that is left that sketches may take.
    pub(super) const SHARE: u64 = 25;

    /// Bytes of the sketches of so many sets.
    pub(super) fn bytes(sets: u64, len: u64) -> u64 {
        sets * len * size_of::<u32>() as u64
    }

    /// Sketches every set.
    pub(super) fn new<F: Fingerprint>(count: usize, ordered: &Ordered<'_>, method: &F, exec: &Exec<'_>) -> Result<Sketches> {
        let len = method.sketch_len();
        if len == 0 {
            return Ok(Sketches { len, place: Place::Held(Vec::new()) });
        }
        let firsts: Vec<SetIndex> = (0..count as SetIndex).step_by(BLOCK).collect();
        let sketch_block = |buffers: &mut Buffers, first: SetIndex| {
            let mut sketches = Vec::new();
            let sets = first..(count as SetIndex).min(first + BLOCK as SetIndex);
            ordered.each(sets, buffers, |_, shingles| method.sketch(shingles, &mut sketches))?;
            Ok(sketches)
        };
        let Some(spill) = exec.spill_beyond(Sketches::SHARE, Sketches::bytes(count as u64, len as u64)) else {
            let blocks: Result<Vec<Vec<u32>>> =
                firsts.into_par_iter().map_init(Buffers::default, |buffers, first| sketch_block(buffers, first)).collect();
            return Ok(Sketches { len, place: Place::Held(blocks?.concat()) });
        };
        let file = spill.scratch("sketches")?;
        firsts.into_par_iter().try_for_each_init(Buffers::default, |buffers, first| {
            exec.check()?;
            let mut frames = Vec::new();
            for (set, sketch) in (first..).zip(sketch_block(buffers, first)?.chunks(len)) {
                file.frame(set, &pack(sketch), &mut frames);
            }
            file.write_at(u64::from(first) * frame_words(len), &frames)
        })?;
        Ok(Sketches { len, place: Place::Spilled(file) })
    }

    /// What the method thinks of two sets.
    pub fn estimate<F: Fingerprint>(&self, method: &F, a: SetIndex, b: SetIndex) -> Result<Option<f64>> {
        Ok(method.estimate(&self.of(a)?, &self.of(b)?))
    }

    /// Whether they are in memory.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.place, Place::Held(_))
    }

    /// The sketch of a set.
    pub(super) fn of(&self, set: SetIndex) -> Result<Cow<'_, [u32]>> {
        let file = match &self.place {
            Place::Held(_) if self.len == 0 => return Ok(Cow::Borrowed(&[])),
            Place::Held(all) => return Ok(Cow::Borrowed(&all[set as usize * self.len..(set as usize + 1) * self.len])),
            Place::Spilled(file) => file,
        };
        let mut buffer = Vec::new();
        let words = file.read_frame(u64::from(set) * frame_words(self.len), set, self.len.div_ceil(2), &mut buffer)?;
        Ok(Cow::Owned(unpack(words, self.len)))
    }
}

fn frame_words(len: usize) -> u64 {
    (HEADING + len.div_ceil(2)) as u64
}
