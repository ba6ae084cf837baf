//! What becomes of batches while they are read: they stay in memory as long as there is room, and go to disk with all that is needed to
//! go on from there if the run is interrupted.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};

use serde::{Deserialize, Serialize};

use super::document::{REMARK, Raw, Refused};
use super::effort::{Effort, most_tokens};
use super::feed::BLOCK;
use super::resume::Journal;
use crate::arenas::Arena;
use crate::error::{Error, Result};
use crate::exec::{BATCHES, Exec, HEADING, SpillFile, Way};
use crate::join::{TakenArena, Taking};
use crate::learn::Model;
use crate::plan::Plan;
use crate::threshold::Threshold;

/// What a worker gives back for a unit.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) file: u32,
    /// See [`About::position`].
    pub(super) position: u64,
    /// How many there are.
    pub(super) documents: usize,
    pub(super) place: Place,
    /// What was taken from its sets when they were read.
    pub(super) taken: Option<TakenArena>,
}

/// Where a batch is.
#[derive(Debug)]
pub(super) enum Place {
    /// In memory.
    Held(About, Vec<u64>),
    /// In the spill file, from this word on: one frame for what is known of the documents, one for their shingles.
    Spilled {
        at: u64,
        /// Words of the first frame.
        words: usize,
    },
}

/// A batch without its shingles.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) file: u32,
    /// Where it stands in the file: the first byte of lines, the number of other units.
    pub(super) position: u64,
    /// Where the next one stands.
    pub(super) end: u64,
    /// Lines in the unit, to number those that follow.
    pub(super) lines: u64,
    pub(super) documents: Vec<Raw>,
    pub(super) refused: Vec<Refused>,
}

/// What the documents of a batch take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weight {
    bytes: u64,
    documents: u64,
}

impl Weight {
    /// Bytes that they will take in all stages.
    pub(super) fn in_all_stages(self) -> u64 {
        bytes_of_documents(self.bytes, self.documents)
    }
}

/// What is known of all documents before they are read, where sets will go to disk.
pub(super) struct Foreseen {
    /// The order of shingles in the join, learned from a sample, and its threshold: keys are taken from sets as they come.
    pub(super) order: (Model, Threshold),
    /// Bytes of all sets, about.
    pub(super) sets: u64,
    /// Bytes of all documents, in later stages as well.
    pub(super) documents: u64,
    /// Join keys of all sets.
    pub(super) keys: u64,
}

impl About {
    /// What its documents and the remarks on them take.
    pub(super) fn weight(&self) -> Weight {
        let bytes = self.documents.iter().map(Raw::bytes).sum::<u64>() + self.refused.len() as u64 * REMARK;
        Weight { bytes, documents: self.documents.len() as u64 }
    }

    pub(super) fn new(file: u32, position: u64, end: u64) -> About {
        About { file, position, end, ..About::default() }
    }
}

impl Batch {
    pub(super) fn new(about: About, shingles: Vec<u64>) -> Batch {
        let (file, position, documents) = (about.file, about.position, about.documents.len());
        Batch { file, position, documents, place: Place::Held(about, shingles), taken: None }
    }

    /// What it holds, and what was taken from its sets.
    pub(super) fn open(self, file: Option<&SpillFile>) -> Result<(About, Arena, Option<TakenArena>)> {
        let (at, words, file) = match (self.place, file) {
            (Place::Held(about, shingles), _) => return Ok((about, Arena::Held(shingles), self.taken)),
            (Place::Spilled { at, words }, Some(file)) => (at, words, file),
            (Place::Spilled { .. }, None) => return Err(Error::Bug("a spilled batch without a file".into())),
        };
        let about = decode(file.read_frame(at, ABOUT, words, &mut Vec::new())?);
        let about = about.ok_or_else(|| file.damaged(at, "it makes no sense"))?;
        Ok((about, Arena::Spilled(at + (HEADING + words + HEADING) as u64), self.taken))
    }
}

/// Tags of the two frames of a batch.
pub(super) const ABOUT: u32 = 1;
pub(super) const SHINGLES: u32 = 2;

/// Documents on their way, and none of them, may take more than this part of the memory.
const WORKING_SHARE: u64 = 2;
/// A line of so many parts of the memory is not read to its end.
const LONGEST_PART: u64 = 16;
/// From sets that take more than such a part of the memory keys are taken later, one after the other.
const TAKING_PART: u64 = 64;

/// Where sets go to disk, keys and documents take no more than so many tenths of the memory, less what it takes to work on units.
const HOLDING_KEYS: u64 = 7;
const WORK: u64 = 64 << 20;

/// So small a part of all sets stays in memory where much memory is left beside what was foreseen.
const GOOD_PART: u64 = 8;

/// Outlines of sets are drawn while documents take no more than so many tenths of the memory.
const OUTLINED: u64 = 7;

/// Bytes that are remembered of a document in later stages, beside what [`Raw`] holds.
const LATER: u64 = 220;

/// Shingles and documents stay in memory while they take no more than this part of it.
const HOLDING_SHARE: u64 = 2;

/// The program itself, with its stacks and small buffers.
const PROGRAM: u64 = 14 << 20;

/// What documents take in all stages, whatever goes to disk: `raw` is the sum of [`Raw::bytes`].
pub(crate) fn bytes_of_documents(raw: u64, count: u64) -> u64 {
    raw + LATER * count
}

/// The memory that documents which take `documents` bytes need at least, if the longest of them has `longest`: what [`Keeper`] does not refuse.
pub(crate) fn least_memory(plan: &Plan, documents: u64, longest: u64) -> u64 {
    // Others may stand in one unit with it.
    let unit = Effort::of(plan.recipe()).many(longest + BLOCK as u64);
    (documents / 9 * 10).max(unit * WORKING_SHARE).max((longest + 1) * LONGEST_PART)
}

/// The memory with which shingles that take `held` bytes stay there, beside documents that take `documents`; in memory what is read of
/// them, `raw`, is there a second time for a while.
pub(crate) fn memory_to_hold(held: u64, raw: u64, documents: u64) -> u64 {
    (held + raw + documents) * HOLDING_SHARE
}

/// What a batch without its shingles takes on disk.
pub(super) fn bytes_on_disk(about: &About) -> u64 {
    let bytes = postcard::experimental::serialized_size(about).unwrap_or(0) as u64;
    bytes.next_multiple_of(8) + 8 * (1 + 2 * HEADING as u64)
}

/// Decides what stays in memory.
pub(super) struct Keeper<'a> {
    exec: &'a Exec<'a>,
    effort: Effort,
    /// Whether something is read that can't be read again.
    read_once: bool,
    /// There once something was spilled.
    file: OnceLock<Arc<SpillFile>>,
    journal: Journal,
    way: Way,
    /// What takes keys from sets, where their order is known before they are read, and sets will go to disk.
    taking: Option<Taking>,
    /// Bytes that documents will take, and that keys may.
    foreseen: (u64, u64),
    /// How often keys were taken.
    looks: AtomicU32,
    spilling: AtomicBool,
    /// Bytes of shingles in memory.
    held: AtomicU64,
    /// Bytes of shingles that went to disk.
    spilled: AtomicU64,
    /// Bytes of documents.
    documents: AtomicU64,
    count: AtomicU64,
    in_flight: Mutex<InFlight>,
    landed: Condvar,
    failed: AtomicBool,
}

impl<'a> Keeper<'a> {
    /// What is `read_once` can't be read again by a run that resumes, so all of it goes to disk if anything does.
    pub(super) fn new(plan: &Plan, exec: &'a Exec<'a>, journal: Journal, way: Way, read_once: bool) -> Keeper<'a> {
        let spilling = exec.spill.as_ref().is_some_and(|spill| spill.resume);
        Keeper {
            exec,
            effort: Effort::of(plan.recipe()),
            read_once,
            file: OnceLock::new(),
            journal,
            way,
            taking: None,
            foreseen: (0, 0),
            looks: AtomicU32::new(0),
            spilling: AtomicBool::new(spilling),
            held: AtomicU64::new(0),
            spilled: AtomicU64::new(0),
            documents: AtomicU64::new(0),
            count: AtomicU64::new(0),
            in_flight: Mutex::default(),
            landed: Condvar::new(),
            failed: AtomicBool::new(false),
        }
    }

    /// Takes keys from sets as they come. If nearly all sets will go to disk, so do the first: they would have to let go of the memory.
    pub(super) fn foreseeing(mut self, foreseen: Option<Foreseen>) -> Result<Keeper<'a>> {
        if let Some(Foreseen { order: (model, threshold), sets, documents, keys }) = foreseen {
            let room = (self.limit() / 10 * HOLDING_KEYS).saturating_sub(WORK + documents);
            let keys = Taking::bytes_of_keys(keys).min(room);
            self.foreseen = (documents, keys);
            self.taking = Some(Taking::new(model, threshold, self.exec)?);
            let left = (self.limit() / 4 * 3).saturating_sub(documents + keys);
            let few_stay = !self.is_ample() || left < sets / GOOD_PART;
            *self.spilling.get_mut() |= sets > self.limit() && few_stay;
        }
        Ok(self)
    }

    /// How many threads work on documents: where much goes to disk some of them wait for it. Each has buffers, for which there must be room.
    pub(super) fn workers(&self) -> usize {
        self.exec.threads * if self.taking.is_some() && self.is_ample() { 2 } else { 1 }
    }

    /// Whether each thread has more memory than it needs.
    fn is_ample(&self) -> bool {
        const ROOM: u64 = 256 << 20;
        self.limit() / self.exec.threads.max(1) as u64 >= ROOM
    }

    /// Whose work it is.
    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Goes on with the file of an interrupted run, where there is one.
    pub(super) fn go_on_with(&self, file: Option<Arc<SpillFile>>) {
        if let Some(file) = file {
            let _ = self.file.set(file);
        }
    }

    fn limit(&self) -> u64 {
        self.exec.memory.limit().unwrap_or(u64::MAX)
    }

    /// The longest line that is read to its end.
    pub(super) fn longest(&self) -> u64 {
        self.limit() / LONGEST_PART
    }

    /// The largest page of a Parquet file that is unpacked: it holds many documents.
    pub(super) fn largest_page(&self) -> u64 {
        self.limit() / 4
    }

    /// What is said of a document that is too much for the memory there is.
    pub(super) fn too_large(&self, name: &str, bytes: u64) -> Error {
        Error::out_of_memory(format!("a document of {} MiB or more in '{name}'", bytes >> 20), self.exec.memory)
    }

    /// The memory that it takes to work on documents of so many bytes, and no more than is left to them; their tokens are counted if there
    /// may be many of them.
    pub(super) fn weigh<'t>(&self, bytes: u64, texts: impl Iterator<Item = &'t [u8]>) -> u64 {
        // What is so small that several of them can be taken for usual.
        const SMALL: u64 = 16;
        let weight = if self.effort.most(bytes) <= self.limit() / SMALL {
            self.effort.usual(bytes)
        } else {
            self.effort.with_tokens(bytes, texts.map(most_tokens).sum())
        };
        weight.min(self.most_work())
    }

    /// The same before there is any text to look at.
    pub(super) fn weigh_unseen(&self, bytes: u64) -> u64 {
        self.effort.most(bytes).min(self.most_work())
    }

    /// The memory that a document may take to be worked on.
    pub(super) fn most_work(&self) -> u64 {
        self.limit() / WORKING_SHARE
    }

    /// Whether buffers that take so much are too large to be kept from unit to unit.
    pub(super) fn is_heavy(&self, bytes: u64) -> bool {
        bytes > self.limit() / LONGEST_PART / (self.workers() / self.exec.threads.max(1)) as u64
    }

    /// Whether a unit of such a weight has a document that is much larger than most.
    pub(super) fn is_large(&self, weight: u64) -> bool {
        weight > self.effort.usual(2 * BLOCK as u64)
    }

    /// Whether buffers for such units take too much to be kept.
    pub(super) fn is_too_large(&self, bytes: u64) -> bool {
        bytes > self.limit() / LONGEST_PART * 2
    }

    /// Waits until there is room for a unit of such a weight. One is always let through.
    pub(super) fn take_off(&self, weight: u64) -> Result<()> {
        let failed = || Error::Bug("a reading thread failed".into());
        let most = self.most_work();
        let mut in_flight = self.in_flight.lock().map_err(|_| failed())?;
        while in_flight.weight > 0 && in_flight.weight + weight > most {
            in_flight = self.landed.wait(in_flight).map_err(|_| failed())?;
        }
        in_flight.weight += weight;
        in_flight.most = in_flight.most.max(in_flight.weight);
        in_flight.heaviest = in_flight.heaviest.max(weight);
        drop(in_flight);
        let is_heavy = weight > self.limit() / 8;
        self.taking.as_ref().filter(|_| is_heavy).map_or(Ok(()), |taking| self.make_room_beside_keys(taking))
    }

    /// The memory that reading takes beside what it holds.
    fn to_read(&self) -> u64 {
        let most = self.in_flight.lock().map_or(self.most_work(), |in_flight| in_flight.most);
        // One more unit may have been read, and waits.
        most + most / Effort::PER_BYTE + PROGRAM
    }

    /// A unit of such a weight is done when this is dropped.
    pub(super) fn landing(&self, weight: u64) -> Landing<'_> {
        Landing { keeper: self, weight }
    }

    /// Stops the others.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether a worker gave up.
    pub(super) fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Counts what is known of files.
    pub(super) fn count_files(&self, bytes: u64) -> Result<()> {
        self.count(Weight { bytes, documents: 0 }).map(|_| ())
    }

    /// Counts documents; returns what all documents so far will take.
    pub(super) fn count(&self, weight: Weight) -> Result<u64> {
        let documents = self.documents.fetch_add(weight.bytes, Ordering::Relaxed) + weight.bytes;
        let count = self.count.fetch_add(weight.documents, Ordering::Relaxed) + weight.documents;
        let needed = bytes_of_documents(documents, count);
        if needed > self.limit() / 10 * 9 {
            return Err(Error::out_of_memory(format!("a collection of {count} documents or more"), self.exec.memory));
        }
        Ok(needed)
    }

    /// Takes a batch; leaves the buffer with its shingles empty, to be used again.
    pub(super) fn keep(&self, about: About, shingles: &mut Vec<u64>) -> Result<Batch> {
        let needed = self.count(about.weight())?;
        if self.exec.spill.is_some() {
            let held = self.held.load(Ordering::Relaxed) + shingles.len() as u64 * 8;
            let documents = self.documents.load(Ordering::Relaxed);
            let to_hold = match &self.taking {
                // It is known how much there is to come, so the most that reading may take need not be kept free.
                Some(taking) => {
                    let keys = self.foreseen.1.saturating_sub(taking.held_keys());
                    held + needed.max(self.foreseen.0) + taking.bytes() + keys + self.to_read() / 3 * 2
                }
                None => memory_to_hold(held, documents, needed).max(held + documents + self.to_read()),
            };
            if to_hold > self.limit() || self.exec.memory.is_tight() {
                self.spilling.store(true, Ordering::Relaxed);
            }
        }
        let taken = match &self.taking {
            Some(taking) => {
                // To ask the system what is taken costs time.
                const SELDOM: u32 = 8;
                if self.looks.fetch_add(1, Ordering::Relaxed).is_multiple_of(SELDOM) {
                    self.make_room_beside_keys(taking)?;
                }
                self.take(taking, &about, shingles, needed)?
            }
            None => None,
        };
        if self.spilling() {
            self.spilled.fetch_add(shingles.len() as u64 * 8, Ordering::Relaxed);
            let batch = self.write(&about, shingles, taken)?;
            shingles.clear();
            return Ok(batch);
        }
        let mut shingles = std::mem::take(shingles);
        shingles.shrink_to_fit();
        self.held.fetch_add(shingles.len() as u64 * 8, Ordering::Relaxed);
        Ok(Batch { taken, ..Batch::new(about, shingles) })
    }

    /// Takes the keys of a batch, unless its sets are large: then they are taken later.
    fn take(&self, taking: &Taking, about: &About, shingles: &[u64], needed: u64) -> Result<Option<TakenArena>> {
        if shingles.len() as u64 * 8 > self.limit() / TAKING_PART {
            return Ok(None);
        }
        let has_room = needed < self.limit() / 10 * OUTLINED;
        taking.take(shingles, about.documents.iter().map(|raw| raw.shingles), has_room).map(Some)
    }

    /// Lets keys take no more than leaves room for what was not foreseen: heavy units, more documents.
    fn make_room_beside_keys(&self, taking: &Taking) -> Result<()> {
        let heaviest = self.in_flight.lock().map_or(u64::MAX, |in_flight| in_flight.heaviest);
        // Most units take half of what they may take at most.
        let working = if heaviest > self.limit() / 4 { heaviest } else { heaviest / 2 };
        let documents = bytes_of_documents(self.documents.load(Ordering::Relaxed), self.count.load(Ordering::Relaxed));
        let free = working.max(self.limit() / 16).saturating_add(documents.saturating_sub(self.foreseen.0));
        let (held, left) = (taking.held_keys(), self.exec.memory.left());
        taking.hold_keys(held.saturating_add(left).saturating_sub(free).min(self.foreseen.1))
    }

    /// Whether batches go to disk.
    pub(super) fn spilling(&self) -> bool {
        self.spilling.load(Ordering::Relaxed)
    }

    /// Whether those that are in memory go to disk as well. They stay if they are the greater part: what is to be joined must then be about
    /// as large as the memory, and leaves room for it. Where that was foreseen, a good part is enough.
    pub(super) fn lets_go(&self) -> bool {
        let times = match &self.taking {
            Some(_) if self.is_ample() => GOOD_PART,
            Some(_) => 3,
            None => 1,
        };
        let is_less = self.held.load(Ordering::Relaxed) * times < self.spilled.load(Ordering::Relaxed);
        let resumes = self.exec.spill.as_ref().is_some_and(|spill| spill.resume);
        self.spilling() && (is_less || resumes || self.read_once || self.exec.memory.is_tight())
    }

    /// Puts what is in memory on disk, if reading it again would take longer than a moment.
    pub(super) fn spill_on_interrupt(&self, batches: &mut [Batch]) -> Result<()> {
        const A_MOMENT: u64 = 8 << 20;
        if self.held.load(Ordering::Relaxed) < A_MOMENT { Ok(()) } else { self.spill(batches) }
    }

    /// Puts what is in memory on disk.
    pub(super) fn spill(&self, batches: &mut [Batch]) -> Result<()> {
        for batch in batches {
            if let Place::Held(about, shingles) = &batch.place {
                *batch = self.write(about, shingles, batch.taken.take())?;
            }
        }
        Ok(())
    }

    fn write(&self, about: &About, shingles: &[u64], taken: Option<TakenArena>) -> Result<Batch> {
        let file = self.file()?;
        let bytes = postcard::to_stdvec(about).map_err(|e| Error::Bug(e.to_string()))?;
        let mut words = vec![bytes.len() as u64];
        words.extend(bytes.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }));
        let mut before = Vec::with_capacity(2 * HEADING + words.len());
        file.frame(ABOUT, &words, &mut before);
        before.extend(file.heading(SHINGLES, shingles));
        let at = file.append_parts(&[&before, shingles])?;
        let place = Place::Spilled { at, words: words.len() };
        Ok(Batch { file: about.file, position: about.position, documents: about.documents.len(), place, taken })
    }

    fn file(&self) -> Result<&Arc<SpillFile>> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let spill = self.exec.spill()?;
        // Of two threads that come here at once the second waits.
        let _one = self.in_flight.lock();
        if self.file.get().is_none() {
            self.journal.begin(spill)?;
            let _ = self.file.set(Arc::new(spill.create(BATCHES, self.way)?));
        }
        self.file.get().ok_or_else(|| Error::Bug("the spill file is gone".into()))
    }

    /// The spill file, and what takes keys, where there are such.
    pub(super) fn into_parts(self) -> (Option<Arc<SpillFile>>, Option<Taking>) {
        (self.file.into_inner(), self.taking)
    }
}

/// The weight of units on their way.
#[derive(Default)]
struct InFlight {
    weight: u64,
    /// The most that it was.
    most: u64,
    /// The heaviest of all units.
    heaviest: u64,
}

/// See [`Keeper::landing`].
pub(super) struct Landing<'a> {
    keeper: &'a Keeper<'a>,
    weight: u64,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        if let Ok(mut in_flight) = self.keeper.in_flight.lock() {
            in_flight.weight = in_flight.weight.saturating_sub(self.weight);
        }
        self.keeper.landed.notify_all();
    }
}

/// What [`Keeper::write`] put into the first frame of a batch.
pub(super) fn decode(words: &[u64]) -> Option<About> {
    let (&bytes, rest) = words.split_first()?;
    postcard::from_bytes(bytemuck::cast_slice::<u64, u8>(rest).get(..bytes as usize)?).ok()
}
