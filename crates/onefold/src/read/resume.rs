//! Going on where an interrupted run stopped: which batches it left, and whether they are of the same inputs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::catalog::Listed;
use super::feed::Stream;
use super::keep::{About, Batch, decode};
use crate::arenas::Arena;
use crate::error::{Error, Result, Skipped};
use crate::exec::{Exec, HEADING, JOURNAL, SPILL_VERSION, Spill, SpillFile};
use crate::plan::Plan;
use crate::shingle::hash::FINGERPRINT_VERSION;

/// The batches, in the order in which they were done.
pub(super) const BATCHES: &str = "batches";
const ALL_READ: &str = "read.json";

/// Of which run the work is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Journal {
    spill_version: u32,
    fingerprint_version: u32,
    plan: String,
    inputs: String,
}

/// What is known when everything has been read, beside the batches.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct AllRead {
    batches: usize,
    /// Inputs that are no files: name, and whether they are of the reference.
    pub(super) unlisted: Vec<(String, bool)>,
    pub(super) unread: Vec<Skipped>,
}

impl Journal {
    pub(super) fn new(plan: &Plan, listed: &[Listed], streams: &[Stream]) -> Result<Journal> {
        let mut inputs = blake3::Hasher::new();
        for Listed { file, kind, follow, .. } in listed {
            let seen = file.again.as_ref().map(|again| again.seen);
            inputs.update(
                format!("{:?}", (&file.name, &file.aliases, &file.argument, file.reference, kind, follow, seen)).as_bytes(),
            );
        }
        for stream in streams {
            inputs.update(format!("{:?}", (&stream.name, stream.reference)).as_bytes());
        }
        Ok(Journal {
            spill_version: SPILL_VERSION,
            fingerprint_version: FINGERPRINT_VERSION,
            plan: plan.digest()?,
            inputs: inputs.finalize().to_hex().to_string(),
        })
    }

    /// Says whose work it is, before there is any.
    pub(super) fn begin(&self, spill: &Spill) -> Result<()> {
        spill.write_note(JOURNAL, self)
    }

    /// An error if the work in the folder is of another run; `false` where there is none.
    pub(super) fn is_of(&self, spill: &Spill) -> Result<bool> {
        let Some(found) = spill.read_note::<Journal>(JOURNAL) else { return Ok(false) };
        let problem = match found {
            found if found == *self => return Ok(true),
            found if found.plan != self.plan => "it was left by a run with other settings",
            found if found.inputs != self.inputs => "the inputs are not what they were, or other ones",
            _ => "it was left by another version",
        };
        Err(Error::CannotResume { path: spill.folder().display().to_string(), problem: problem.into() })
    }
}

impl AllRead {
    /// Notes that everything has been read.
    pub(super) fn note(spill: &Spill, batches: usize, unlisted: Vec<(String, bool)>, unread: &[Skipped]) -> Result<()> {
        spill.write_note(ALL_READ, &AllRead { batches, unlisted, unread: unread.to_vec() })
    }
}

/// What an interrupted run left.
#[derive(Default)]
pub(super) struct Left {
    pub(super) batches: Vec<Batch>,
    pub(super) file: Option<Arc<SpillFile>>,
    /// There if nothing is left to be read.
    pub(super) all_read: Option<AllRead>,
}

impl Left {
    /// Takes up what an interrupted run left of the same work. Batches that can't be believed are as if they had never been.
    pub(super) fn find(exec: &Exec<'_>, journal: &Journal, listed: usize) -> Result<Left> {
        let Some(spill) = exec.spill.as_ref().filter(|spill| spill.resume) else { return Ok(Left::default()) };
        if !journal.is_of(spill)? {
            return Ok(Left::default());
        }
        let Some(file) = spill.reopen(BATCHES)? else { return Ok(Left::default()) };
        let mut batches = Vec::new();
        let (mut at, mut sound, mut buffer) = (0, 0, Vec::new());
        while at < file.words() {
            exec.check()?;
            let Some((_, words)) = file.next_frame(at, &mut buffer) else {
                // Past what is damaged to the next frame that makes sense, if there is one.
                match file.find_frame(at + 1) {
                    Some(next) => at = next,
                    None => break,
                }
                continue;
            };
            let next = at + (HEADING + words.len()) as u64;
            if let Some((about, shingles)) = decode(words) {
                batches.push(Batch { about, arena: Arena::Spilled(at + (HEADING + shingles) as u64) });
            }
            (at, sound) = (next, next);
        }
        // What a dying run wrote half is overwritten.
        file.cut(sound)?;
        let all_read = spill.read_note::<AllRead>(ALL_READ).filter(|note| note.batches == batches.len());
        if all_read.is_none() {
            // A stream has to be read from its beginning.
            batches.retain(|batch| (batch.about.file as usize) < listed);
        }
        Ok(Left { batches, file: Some(Arc::new(file)), all_read })
    }

    /// What need not be read again.
    pub(super) fn done(&self) -> Done {
        let mut done = Done::default();
        for About { file, position, end, documents, refused, .. } in self.batches.iter().map(|batch| &batch.about) {
            done.units.entry(*file).or_default().insert(*position, *end);
            done.files.extend(documents.iter().map(|raw| raw.file).chain(refused.iter().map(|refused| refused.file)));
        }
        done
    }
}

/// What need not be read again.
#[derive(Debug, Default)]
pub(super) struct Done {
    units: HashMap<u32, BTreeMap<u64, u64>>,
    files: HashSet<u32>,
}

impl Done {
    /// Whether a whole file is done with.
    pub(super) fn file(&self, file: u32) -> bool {
        self.files.contains(&file)
    }

    /// Where the unit that stands at `position` of a file ends, if it is done.
    pub(super) fn end_of(&self, file: u32, position: u64) -> Option<u64> {
        self.units.get(&file)?.get(&position).copied()
    }

    /// Where the next unit stands that is done.
    pub(super) fn next_after(&self, file: u32, position: u64) -> Option<u64> {
        self.units.get(&file)?.range(position + 1..).next().map(|(&next, _)| next)
    }
}
