//! The shingle sets of a collection as they were read: in memory, or in a spill file.

use std::sync::Arc;

use crate::document::ShingleRef;
use crate::error::Result;
use crate::exec::SpillFile;
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
}

impl Arenas {
    /// With the file of those that are not in memory.
    pub(crate) fn new(all: Vec<Arena>, file: Option<Arc<SpillFile>>) -> Arenas {
        Arenas { all, file }
    }

    /// A set; the buffer is for those that are not in memory.
    pub fn set<'a>(&'a self, set: ShingleRef, buffer: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        let (start, len) = (set.start as usize, set.len as usize);
        match (&self.all[set.arena as usize], &self.file) {
            (Arena::Held(shingles), _) => Ok(&shingles[start..start + len]),
            (Arena::Spilled(first), Some(file)) => {
                buffer.resize(len, 0);
                let at = first + start as u64;
                file.read(at, buffer)?;
                // Its hash was taken when it was made: a better witness than any checksum of the disk's words.
                if len > 0 && set_hash(buffer) != set.hash {
                    return Err(file.damaged(at, "a set of shingles is not what was written"));
                }
                Ok(buffer)
            }
            (Arena::Spilled(_), None) => Err(crate::Error::Bug("a spilled arena without a file".into())),
        }
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
