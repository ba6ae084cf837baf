//! Going on where an interrupted run stopped: which batches it left, and whether they are of the same inputs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::catalog::Listed;
use super::feed::Stream;
use super::keep::{ABOUT, About, Batch, Place, SHINGLES, Weight, decode};
use crate::document::Counted;
use crate::error::{Error, Result, Skipped};
use crate::exec::{ALL_READ, BATCHES, Exec, HEADING, JOURNAL, SPILL_VERSION, Spill, SpillFile, Way};
use crate::plan::Plan;
use crate::shingle::hash::FINGERPRINT_VERSION;

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
    pub(super) batches: usize,
    /// Inputs that are no files: name, and whether they are of the reference.
    pub(super) unlisted: Vec<(String, bool)>,
    pub(super) unread: Vec<Skipped>,
    pub(super) counted: Counted,
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
    pub(super) fn note(&self, spill: &Spill) -> Result<()> {
        spill.write_note(ALL_READ, self)
    }
}

/// What an interrupted run left.
#[derive(Default)]
pub(super) struct Left {
    pub(super) batches: Vec<Batch>,
    pub(super) done: Done,
    pub(super) file: Option<Arc<SpillFile>>,
    /// There if nothing is left to be read.
    pub(super) all_read: Option<AllRead>,
}

impl Left {
    /// Takes up what an interrupted run left of the same work. Batches that can't be believed are as if they had never been.
    ///
    /// `count` is told of all that are taken up.
    pub(super) fn find(
        exec: &Exec<'_>,
        journal: &Journal,
        way: Way,
        listed: &[Listed],
        count: impl Fn(Weight) -> Result<u64>,
    ) -> Result<Left> {
        let Some(spill) = exec.spill.as_ref().filter(|spill| spill.resume) else { return Ok(Left::default()) };
        if !journal.is_of(spill)? {
            return Ok(Left::default());
        }
        let Some(file) = spill.reopen(BATCHES, way)? else { return Ok(Left::default()) };
        let can_be_read_again = |file: u32| listed.get(file as usize).is_some_and(|listed| listed.file.again.is_some());
        let (mut batches, mut weights, mut done) = (Vec::new(), Vec::new(), Done::default());
        let (mut at, mut sound, mut buffer) = (0, 0, Vec::new());
        while at < file.words() {
            exec.check()?;
            let Some((about, words, next)) = batch_at(&file, at, &mut buffer) else {
                // Past what is damaged to the next frame that makes sense, if there is one.
                match file.find_frame(at + 1) {
                    Some(next) => at = next,
                    None => break,
                }
                continue;
            };
            done.add(&about);
            weights.push(about.weight());
            let place = Place::Spilled { at, words };
            let documents = about.documents.len();
            batches.push(Batch { file: about.file, position: about.position, documents, place, taken: None });
            (at, sound) = (next, next);
        }
        // What a dying run wrote half is overwritten.
        file.cut(sound)?;
        let all_read = spill.read_note::<AllRead>(ALL_READ).filter(|note| note.batches == batches.len());
        let taken_up = |batch: &Batch| all_read.is_some() || can_be_read_again(batch.file);
        batches.iter().zip(weights).filter(|(batch, _)| taken_up(batch)).try_for_each(|(_, weight)| count(weight).map(|_| ()))?;
        if all_read.is_none() {
            spill.drop_note(ALL_READ);
            // Streams and pipes have to be read from their beginning.
            batches.retain(|batch: &Batch| can_be_read_again(batch.file));
            done.units.retain(|&file, _| can_be_read_again(file));
        }
        Ok(Left { batches, done, file: Some(Arc::new(file)), all_read })
    }
}

/// The batch whose frames begin at a place, how many words the first of them has, and where they end; `None` unless both are sound.
fn batch_at(file: &SpillFile, at: u64, buffer: &mut Vec<u64>) -> Option<(About, usize, u64)> {
    let (ABOUT, words) = file.next_frame(at, buffer)? else { return None };
    let (about, words) = (decode(words)?, words.len());
    let shingles_at = at + (HEADING + words) as u64;
    let (SHINGLES, shingles) = file.next_frame(shingles_at, buffer)? else { return None };
    Some((about, words, shingles_at + (HEADING + shingles.len()) as u64))
}

/// What need not be read again.
#[derive(Debug, Default)]
pub(super) struct Done {
    units: HashMap<u32, BTreeMap<u64, u64>>,
    files: HashSet<u32>,
}

impl Done {
    fn add(&mut self, about: &About) {
        self.units.entry(about.file).or_default().insert(about.position, about.end);
        let files = about.documents.iter().map(|raw| raw.file).chain(about.refused.iter().map(|refused| refused.file));
        self.files.extend(files);
    }

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
