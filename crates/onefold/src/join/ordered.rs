//! The distinct sets in the order of the join, rare shingles first. In memory they are put into it once, where they were read; on disk they
//! stay as they are, and come in that order only to those who look at all of them for their keys.

use std::ops::Range;

use rayon::prelude::*;

use super::apart::{Apart, Hold};
use super::lanes::Lanes;
use super::noted::{Marks, NotedSheets};
use super::outlines::Outlines;
use super::parts::Wave;
use super::recent::Recent;
use super::sets::{SetIndex, Sets};
use super::waves::Waves;
use crate::arenas::Arenas;
use crate::document::{Entry, ShingleRef};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::learn::Model;

/// The distinct sets of a collection.
pub struct Ordered<'a> {
    sets: &'a Sets,
    place: Place,
}

enum Place {
    /// By [`ShingleRef`], each sorted by (class, shingle).
    Held(Vec<Vec<u64>>),
    /// Some of them on disk, for a join that looks at candidates by size.
    Apart(Box<Apart>),
    /// As they were read, some of them on disk, each sorted by shingle.
    Spilled {
        arenas: Arenas,
        model: Option<Model>,
        /// See [`Recent::most`].
        recent: usize,
    },
}

/// What it takes to look at sets, kept from call to call.
#[derive(Default)]
pub(super) struct Buffers {
    set: Vec<u64>,
    scratch: Vec<u64>,
}

impl<'a> Ordered<'a> {
    /// Of sets as they were read. Without a model they stay in the order of their hashes, which is enough where no join looks at prefixes.
    ///
    /// Where some are not in memory and a join looks at prefixes alone, until it knows its candidates, `prefix` tells how many of its first
    /// shingles are the keys of a set of some size.
    pub fn new(
        arenas: Arenas,
        sets: &'a Sets,
        model: Option<Model>,
        prefix: Option<impl Fn(u32) -> u32 + Sync + Send>,
        exec: &Exec<'_>,
    ) -> Result<Ordered<'a>> {
        let place = match (arenas.into_held(), model, prefix) {
            (Ok(mut held), model, _) => {
                if let Some(model) = &model {
                    order_in_place(&mut held, sets.refs(), model);
                }
                Place::Held(held)
            }
            (Err(arenas), Some(model), Some(prefix)) => Place::Apart(Box::new(Apart::new(arenas, sets, &model, prefix, exec)?)),
            (Err(arenas), model, _) => Place::Spilled { arenas, model, recent: Recent::most(exec) },
        };
        Ok(Ordered { sets, place })
    }

    /// Whether sets come from memory, and in the order of the join.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.place, Place::Held(_))
    }

    /// Whether each set is read from where it was put when it was read, whenever it is looked at.
    pub(super) fn is_spilled(&self) -> bool {
        matches!(self.place, Place::Spilled { .. })
    }

    /// Whether candidates are to be noted first, and verified in the order of their sizes.
    pub(super) fn is_apart(&self) -> bool {
        matches!(self.place, Place::Apart(_))
    }

    /// Does the work that verifies the candidates that were noted, of the sets that are `chosen`, wave after wave while it says so; partners are in
    /// the window of a set.
    pub(super) fn gathering(
        &self,
        chosen: &Marks,
        noted: &NotedSheets,
        window: impl Fn(SetIndex) -> Range<SetIndex>,
        exec: &Exec<'_>,
        work: impl Fn(&Wave<'_>) -> Result<bool>,
    ) -> Result<()> {
        if let Place::Apart(apart) = &self.place {
            Waves { apart, chosen, noted, sets: self.sets, window, exec, work }.verify()
        } else {
            work(&Wave::Sizes(0..self.sets.len() as SetIndex)).map(drop)
        }
    }

    /// Outlines of sets, if they were drawn before there was a join; they are there once.
    pub(super) fn take_outlines(&self) -> Result<Option<Outlines>> {
        if let Place::Apart(apart) = &self.place { apart.take_outlines() } else { Ok(None) }
    }

    /// The join keys of all sets, if they were taken when sets were put in order; they are there once.
    pub(super) fn take_keys(&self) -> Result<Option<Lanes>> {
        if let Place::Apart(apart) = &self.place { apart.take_keys() } else { Ok(None) }
    }

    /// A set in an order that all sets have in common: that of the join where all are in memory.
    pub(super) fn get<'b>(&'b self, set: SetIndex, hold: &'b mut Hold) -> Result<&'b [u64]> {
        let place = self.sets.refs()[set as usize];
        match &self.place {
            Place::Held(arenas) => Ok(slice(arenas, place)),
            Place::Apart(apart) => apart.get(set, place, hold),
            Place::Spilled { arenas, .. } => arenas.set(place, &mut hold.words),
        }
    }

    /// The same from memory if it was looked at lately.
    pub(super) fn get_again<'b>(&'b self, set: SetIndex, recent: &'b mut Recent) -> Result<&'b [u64]> {
        let Place::Spilled { arenas, recent: most, .. } = &self.place else { return self.get(set, &mut recent.hold) };
        let place = self.sets.refs()[set as usize];
        if let Some(held) = arenas.held(place) {
            return Ok(held);
        }
        recent.get(set, place.len as usize, *most, |words| arenas.copy(place, words))
    }

    /// What the method took from the tokens of a document.
    pub(crate) fn features<'b>(&'b self, document: &Entry, buffer: &'b mut Vec<u64>) -> Result<&'b [u64]> {
        document.features().map_or(Ok(&[]), |features| self.run(features, buffer))
    }

    /// The words of a document in their order, where the plan keeps them.
    pub(super) fn words<'b>(&'b self, document: &Entry, buffer: &'b mut Vec<u64>) -> Result<&'b [u64]> {
        self.run(document.words(), buffer)
    }

    /// Words that end with a hash of the others, without it.
    fn run<'b>(&'b self, run: ShingleRef, buffer: &'b mut Vec<u64>) -> Result<&'b [u64]> {
        let words = match &self.place {
            Place::Held(arenas) => slice(arenas, run),
            Place::Apart(_) => return Err(Error::Bug("words of sets that are apart".into())),
            Place::Spilled { arenas, .. } => arenas.run(run, buffer)?,
        };
        Ok(words.split_last().map_or(&[], |(_, words)| words))
    }

    /// The sets.
    pub(super) fn sets(&self) -> &'a Sets {
        self.sets
    }

    /// Looks at some sets in the order of the join, one after the other.
    pub(super) fn each(
        &self,
        sets: Range<SetIndex>,
        buffers: &mut Buffers,
        mut look: impl FnMut(SetIndex, &[u64]),
    ) -> Result<()> {
        for set in sets {
            let set_ref = self.sets.refs()[set as usize];
            match &self.place {
                Place::Held(arenas) => look(set, slice(arenas, set_ref)),
                Place::Apart(_) => return Err(Error::Bug("sets that are apart have given their keys".into())),
                Place::Spilled { arenas, model, .. } => {
                    let Buffers { set: buffer, scratch } = buffers;
                    arenas.load(set_ref, buffer)?;
                    if let Some(model) = model {
                        model.order(buffer, scratch);
                    }
                    look(set, buffer);
                }
            }
        }
        Ok(())
    }
}

fn slice(arenas: &[Vec<u64>], set: ShingleRef) -> &[u64] {
    set.of(&arenas[set.arena as usize])
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
