//! The shingle sets of a collection as they were read: in memory, or in a spill file.

use std::sync::Arc;

use crate::document::ShingleRef;
use crate::error::{Error, Result};
use crate::exec::SpillFile;
use crate::join::Taken;
use crate::learn::Model;
use crate::shingle::set_hash;

/// The shingle sets of documents that were read together, one after the other.
#[derive(Debug)]
pub enum Arena {
    /// In memory.
    Held(Vec<u64>),
    /// In the spill file, from this word on.
    Spilled(u64),
}

impl Default for Arena {
    fn default() -> Self {
        Arena::Held(Vec::new())
    }
}

/// All shingle sets of a collection, each sorted and without repetition.
#[derive(Debug, Default)]
pub struct Arenas {
    all: Vec<Arena>,
    file: Option<Arc<SpillFile>>,
    taken: Option<Box<Taken>>,
}

impl Arenas {
    /// With the file of those that are not in memory, and what was taken from some while they were read.
    pub(crate) fn new(all: Vec<Arena>, file: Option<Arc<SpillFile>>, taken: Option<Taken>) -> Arenas {
        Arenas { all, file, taken: taken.map(Box::new) }
    }

    /// The order in which shingles became keys while sets were read, if some did; it is there once.
    pub(crate) fn take_model(&mut self) -> Option<Model> {
        self.taken.as_mut()?.model.take()
    }

    /// A set; the buffer is for those that are not in memory.
    pub fn set<'a>(&'a self, set: ShingleRef, buffer: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        if let Some(shingles) = self.held(set) {
            return Ok(shingles);
        }
        self.load(set, buffer)?;
        Ok(buffer)
    }

    /// A set that is in memory.
    pub(crate) fn held(&self, set: ShingleRef) -> Option<&[u64]> {
        if let Arena::Held(shingles) = &self.all[set.arena as usize] { Some(set.of(shingles)) } else { None }
    }

    /// Puts a set into the buffer, and nothing else.
    pub(crate) fn load(&self, set: ShingleRef, buffer: &mut Vec<u64>) -> Result<()> {
        fit(buffer, set.len as usize);
        self.copy(set, buffer)
    }

    /// Puts a set where there is room for just so many words.
    pub(crate) fn copy(&self, set: ShingleRef, words: &mut [u64]) -> Result<()> {
        let (first, file) = match (&self.all[set.arena as usize], &self.file) {
            (Arena::Held(shingles), _) => {
                words.copy_from_slice(set.of(shingles));
                return Ok(());
            }
            (Arena::Spilled(first), Some(file)) => (first, file),
            (Arena::Spilled(_), None) => return Err(without_file()),
        };
        let at = first + u64::from(set.start);
        file.read(at, words)?;
        // Its hash was taken when it was made: a better witness than any checksum of the disk's words.
        if set.len > 0 && set_hash(words) != set.hash {
            return Err(file.damaged(at, "a set of shingles is not what was written"));
        }
        Ok(())
    }

    /// Words that end with a hash of the others; the buffer is for those that are not in memory.
    pub(crate) fn run<'a>(&'a self, words: ShingleRef, buffer: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        let (first, file) = match (&self.all[words.arena as usize], &self.file) {
            (Arena::Held(all), _) => return Ok(words.of(all)),
            (Arena::Spilled(first), Some(file)) => (first, file),
            (Arena::Spilled(_), None) => return Err(without_file()),
        };
        let at = first + u64::from(words.start);
        fit(buffer, words.len as usize);
        file.read(at, buffer)?;
        match buffer.split_last() {
            Some((hash, words)) if *hash == set_hash(words) => Ok(buffer),
            _ => Err(file.damaged(at, "what was taken from tokens is not what was written")),
        }
    }

    /// Whether some are so far away that each is better read once, with those beside it.
    pub(crate) fn are_far(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.is_past())
    }

    /// The arenas themselves, the file of those that are not in memory, and what was taken from some.
    pub(crate) fn into_parts(self) -> (Vec<Arena>, Option<Arc<SpillFile>>, Option<Box<Taken>>) {
        (self.all, self.file, self.taken)
    }

    /// The arenas themselves, where all of them are in memory.
    pub(crate) fn into_held(self) -> std::result::Result<Vec<Vec<u64>>, Arenas> {
        if self.all.iter().any(|arena| matches!(arena, Arena::Spilled(_))) {
            return Err(self);
        }
        let held = |arena: Arena| match arena {
            Arena::Held(shingles) => shingles,
            Arena::Spilled(_) => Vec::new(),
        };
        Ok(self.all.into_iter().map(held).collect())
    }
}

/// Makes a buffer of just so many words, whatever they are.
pub(crate) fn fit(buffer: &mut Vec<u64>, words: usize) {
    if buffer.capacity() < words {
        // Not beside the one before, and not twice as much, as a vector would take: sets may be large.
        *buffer = Vec::new();
        buffer.reserve_exact(words);
    }
    buffer.resize(words, 0);
}

fn without_file() -> Error {
    Error::Bug("a spilled arena without a file".into())
}
