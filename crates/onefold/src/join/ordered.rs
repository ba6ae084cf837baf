//! The distinct sets in the order of the join, rare shingles first: in memory where they were read, or in a spill file by size, so that
//! sets that may be near each other lie near each other.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use rayon::prelude::*;

use super::sets::{SetIndex, Sets};
use super::tasks::{pieces, sums};
use crate::arenas::Arenas;
use crate::document::ShingleRef;
use crate::error::Result;
use crate::exec::{Exec, HEADING, SpillFile};
use crate::learn::Model;

/// The distinct sets of a collection, each sorted by (class, shingle).
pub struct Ordered<'a> {
    sets: &'a Sets,
    place: Place,
}

enum Place {
    /// By [`ShingleRef`].
    Held(Vec<Vec<u64>>),
    /// One frame for each set.
    Spilled {
        file: SpillFile,
        /// Where each set's frame begins; one more for the end.
        starts: Vec<u64>,
    },
}

/// Words that are read or written at a time.
const PIECE: u64 = 1 << 20;

impl<'a> Ordered<'a> {
    /// Puts every distinct set into the model's order.
    pub fn new(arenas: Arenas, sets: &'a Sets, model: &Model, exec: &Exec<'_>) -> Result<Ordered<'a>> {
        let place = match arenas.into_held() {
            Ok(mut held) => {
                order_in_place(&mut held, sets.refs(), model);
                Place::Held(held)
            }
            Err(arenas) => spill_ordered(&arenas, sets, model, exec)?,
        };
        Ok(Ordered { sets, place })
    }

    /// Whether sets come from memory, where looking at them costs nothing.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.place, Place::Held(_))
    }

    /// A set; the buffer is for those that are not in memory.
    pub(super) fn get<'b>(&'b self, set: SetIndex, buffer: &'b mut Vec<u64>) -> Result<&'b [u64]> {
        let set_ref = self.sets.refs()[set as usize];
        match &self.place {
            Place::Held(arenas) => Ok(slice(arenas, set_ref)),
            Place::Spilled { file, starts } => file.read_frame(starts[set as usize], set, set_ref.len as usize, buffer),
        }
    }

    /// Looks at some sets, one after the other.
    pub(super) fn each(
        &self,
        sets: Range<SetIndex>,
        buffer: &mut Vec<u64>,
        mut look: impl FnMut(SetIndex, &[u64]),
    ) -> Result<()> {
        let (file, starts) = match &self.place {
            Place::Held(arenas) => {
                sets.for_each(|set| look(set, slice(arenas, self.sets.refs()[set as usize])));
                return Ok(());
            }
            Place::Spilled { file, starts } => (file, starts),
        };
        for piece in pieces(starts, PIECE, sets) {
            let first = starts[piece.start as usize];
            buffer.resize((starts[piece.end as usize] - first) as usize, 0);
            file.read(first, buffer)?;
            for set in piece {
                let (start, end) = (starts[set as usize], starts[set as usize + 1]);
                look(set, file.verified(start, set, &buffer[(start - first) as usize..(end - first) as usize])?);
            }
        }
        Ok(())
    }
}

fn slice(arenas: &[Vec<u64>], set: ShingleRef) -> &[u64] {
    &arenas[set.arena as usize][set.start as usize..(set.start + set.len) as usize]
}

fn order_in_place(arenas: &mut [Vec<u64>], refs: &[ShingleRef], model: &Model) {
    let mut by_arena = vec![Vec::new(); arenas.len()];
    for set in refs.iter().filter(|set| set.len > 0) {
        by_arena[set.arena as usize].push(set.start as usize..(set.start + set.len) as usize);
    }
    arenas.par_iter_mut().zip(by_arena).for_each_init(Vec::new, |scratch, (arena, ranges)| {
        for range in ranges {
            model.order(&mut arena[range], scratch);
        }
    });
}

fn spill_ordered(arenas: &Arenas, sets: &Sets, model: &Model, exec: &Exec<'_>) -> Result<Place> {
    let file = exec.spill()?.scratch("sets")?;
    let starts = sums(sets.sizes().iter().map(|&size| HEADING as u64 + u64::from(size)));
    let write = |(set, scratch, frames): &mut (Vec<u64>, Vec<u64>, Vec<u64>), piece: Range<SetIndex>| {
        exec.check()?;
        frames.clear();
        for number in piece.clone() {
            arenas.set(sets.refs()[number as usize], set)?;
            model.order(set, scratch);
            file.frame(number, set, frames);
        }
        file.write_at(starts[piece.start as usize], frames)
    };
    let pieces: Vec<Range<SetIndex>> = pieces(&starts, PIECE, 0..sets.len() as SetIndex).collect();
    pieces.into_par_iter().try_for_each_init(Default::default, |buffers, piece| write(buffers, piece))?;
    Ok(Place::Spilled { file, starts })
}

/// Sets that one thread has looked at lately. Near-duplicates are looked at again and again, and lie near each other.
#[derive(Default)]
pub(super) struct Recent {
    sets: HashMap<SetIndex, Vec<u64>>,
    order: VecDeque<SetIndex>,
    words: usize,
}

/// Words that [`Recent`] holds.
const RECENT: usize = 1 << 20;

impl Recent {
    /// A set, from memory if it was looked at lately.
    pub(super) fn get<'b>(&'b mut self, ordered: &'b Ordered<'_>, set: SetIndex) -> Result<&'b [u64]> {
        if let Place::Held(arenas) = &ordered.place {
            return Ok(slice(arenas, ordered.sets.refs()[set as usize]));
        }
        if !self.sets.contains_key(&set) {
            let mut frame = self.make_room();
            ordered.get(set, &mut frame)?;
            self.words += frame.len();
            self.order.push_back(set);
            self.sets.insert(set, frame);
        }
        Ok(self.sets.get(&set).map_or(&[], |frame| &frame[HEADING..]))
    }

    /// Forgets the oldest; returns a buffer.
    fn make_room(&mut self) -> Vec<u64> {
        let mut buffer = Vec::new();
        while self.words > RECENT
            && let Some(oldest) = self.order.pop_front()
        {
            buffer = self.sets.remove(&oldest).unwrap_or_default();
            self.words -= buffer.len();
        }
        buffer
    }
}
