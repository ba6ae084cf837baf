//! What a run will take, told from a sample of its inputs: memory, disk, time.
//!
//! Everything that grows with documents, shingles and join keys is counted where the code that takes it stands; here it is put together in
//! the order in which a run takes it. What pairs take is not in it: a sample of one in a hundred documents holds one in ten thousand
//! of their pairs.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::exec::{Exec, Memory};
use crate::fingerprint::Side;
use crate::join::{Needs, PairList};
use crate::plan::{PairsMode, Plan};
use crate::read::{self, Amounts, Sample, Source};
use crate::report::Sink;
use crate::run::Pair;

/// What is expected of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Bytes of all inputs as they are stored, with those of the reference.
    pub bytes: u64,
    /// Bytes of them that were looked at.
    pub sampled_bytes: u64,
    /// Whether that is all of them.
    pub sampled_all: bool,
    /// Documents in these.
    pub sampled_documents: u64,
    /// Documents of the inputs.
    pub documents: u64,
    /// Documents of the reference.
    pub reference_documents: u64,
    /// Shingles of all documents.
    pub shingles: u64,
    /// The longest document that was seen; one that was not seen may be longer.
    pub longest_document_bytes: u64,
    /// What a run may take: [`Exec::memory`].
    pub memory_limit_bytes: Option<u64>,
    /// What a run takes that may take as much as it wants.
    pub memory_bytes: u64,
    /// What a run must be allowed to take, or it goes to disk.
    pub memory_without_disk_bytes: u64,
    /// What a run must be allowed to take, or it gives up.
    pub memory_least_bytes: u64,
    /// What goes to disk, beside pairs.
    pub disk_bytes: u64,
    /// What pairs may take on disk beside that, if there are as many as may be listed.
    pub pairs_disk_bytes: u64,
    /// The size of the result without its pairs.
    pub result_bytes: u64,
    /// How many times longer all stages take than the first four of a sample.
    pub time_factor: f64,
}

/// Predicts what [`run`](crate::run) will take with the same arguments. Reads a part of the inputs, and writes nothing.
pub fn estimate(plan: &Plan, exec: &Exec<'_>, source: impl Into<Source>, sink: &dyn Sink) -> Result<Estimate> {
    plan.validate()?;
    let method = plan.build_method()?;
    let contained = plan.measure().containment.is_some();
    let keys_of = |size: u32, features: u32| {
        let sketch = method.as_dyn().most_sketch(size, features);
        // Where containment is asked for the second join indexes every shingle, and takes more than the first.
        let keys = if contained { size } else { method.as_dyn().key_count(Side { size, sketch }) };
        (keys, sketch)
    };
    let sample = read::sample(plan, exec, source.into(), sink, &keys_of)?;
    if sample.inputs.documents == 0.0 {
        let first = sample.skipped.first().map(|s| format!(" (first: '{}', {}: {})", s.input, s.reason, s.detail));
        return Err(Error::NoInput { seen: sample.skipped.len() as u64, first: first.unwrap_or_default() });
    }
    let course = Course::new(plan, &sample, exec);
    let documents = sample.inputs.documents.round() as u64;
    let least = read::least_memory(plan, course.documents, sample.longest).max(Memory::LEAST);
    let on_disk = course.spills_sets() || course.spills_keys();
    Ok(Estimate {
        bytes: sample.bytes,
        sampled_bytes: sample.sampled_bytes,
        sampled_all: sample.whole,
        sampled_documents: sample.sampled_documents,
        documents,
        reference_documents: sample.reference.documents.round() as u64,
        shingles: course.join.shingles,
        longest_document_bytes: sample.longest,
        memory_limit_bytes: exec.memory.limit(),
        memory_bytes: course.memory(),
        memory_without_disk_bytes: course.memory_without_disk().max(least),
        memory_least_bytes: least,
        disk_bytes: course.disk(),
        pairs_disk_bytes: if course.limit == u64::MAX { 0 } else { pairs_on_disk(plan, documents) },
        result_bytes: sink.bytes_to_write(documents, sample.inputs.id_bytes as u64),
        time_factor: sample.bytes as f64 / sample.sampled_bytes.max(1) as f64 * stages_factor(plan, on_disk),
    })
}

/// How many times longer all stages take than the first four, as measured with two threads and 50 MB to 1 GB of pages.
fn stages_factor(plan: &Plan, on_disk: bool) -> f64 {
    let exact = if on_disk { 3.0 } else { 2.1 };
    let containment = match (plan.measure().containment.is_some(), on_disk) {
        (false, _) => 0.0,
        (true, false) => 1.6,
        (true, true) => 3.0,
    };
    // Words are counted in a pass of their own.
    let counting = if plan.min_idf.is_some() { 1.0 } else { 0.0 };
    exact + containment + counting
}

/// Pairs and the rows that are made of them are there together.
fn pairs_on_disk(plan: &Plan, documents: u64) -> u64 {
    match plan.pairs {
        PairsMode::All => plan.pair_limit(documents as usize) * (PairList::PAIR_ON_DISK + Pair::ON_DISK),
        PairsMode::Star => 0,
    }
}

/// What a run takes in its course.
struct Course {
    join: Needs,
    /// Bytes of documents in all stages.
    documents: u64,
    /// Bytes of documents as they are read, which are there beside the others where nothing goes to disk.
    raw: u64,
    /// Bytes of documents on disk, with their shingles.
    batches: u64,
    /// Bytes of units on their way, buffers and tables.
    work: u64,
    /// What may be taken.
    limit: u64,
    /// Whether reading goes to disk in any case.
    resumable: bool,
    /// Whether sets on disk are looked at for their keys, and gathered when candidates are known.
    apart: bool,
}

impl Course {
    fn new(plan: &Plan, sample: &Sample, exec: &Exec<'_>) -> Course {
        let Amounts { documents, raw_bytes, disk_bytes, shingles, words, keys, sketches, .. } =
            sample.inputs.and(&sample.reference);
        let join = Needs { shingles: shingles as u64, words: words as u64, keys: keys as u64, sketches: sketches as u64 };
        Course {
            join,
            documents: read::bytes_of_documents(raw_bytes as u64, documents as u64),
            raw: raw_bytes as u64,
            batches: disk_bytes as u64 + join.held_sets(),
            work: (16 << 20) + exec.threads as u64 * (8 << 20),
            limit: exec.memory.limit().filter(|_| exec.spill.is_some()).unwrap_or(u64::MAX),
            resumable: exec.spill.as_ref().is_some_and(|spill| spill.resume),
            apart: plan.looks_at_sets_in_order(),
        }
    }

    fn memory(&self) -> u64 {
        self.work + self.raw + self.documents + self.join.held_sets() + self.join.sketches() + self.join.keys()
    }

    fn memory_without_disk(&self) -> u64 {
        let room = self.join.room_for_keys().max(self.join.room_for_sketches());
        let joining = self.work + self.raw + self.documents + self.join.held_sets() + room;
        joining.max(read::memory_to_hold(self.join.held_sets(), self.raw, self.documents))
    }

    fn spills_sets(&self) -> bool {
        self.resumable || read::memory_to_hold(self.join.held_sets(), self.raw, self.documents) > self.limit
    }

    /// Memory that is left when the join begins.
    fn left(&self) -> u64 {
        let held = self.work + self.raw + self.documents + self.join.held_sets();
        self.limit.saturating_sub(if self.spills_sets() { self.work + self.documents } else { held })
    }

    fn spills_keys(&self) -> bool {
        self.join.room_for_keys() > self.left()
    }

    fn disk(&self) -> u64 {
        let sketches = if self.join.room_for_sketches() > self.left() { self.join.sketches() } else { 0 };
        let (beside_sets, spilled_keys) = if self.apart {
            (self.join.keys_apart().max(self.join.gathered_sets()), self.join.shared_keys())
        } else {
            (self.join.keys_of_spilled_sets(), self.join.spilled_keys())
        };
        let sets = if self.spills_sets() { self.batches + beside_sets } else { 0 };
        let keys = match (self.spills_keys(), self.spills_sets()) {
            (false, _) => 0,
            (true, true) => spilled_keys,
            (true, false) => self.join.spilled_keys(),
        };
        sets + sketches + keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gigabyte of text, as it was measured: 160,000 documents, 107 million shingles.
    fn course(limit: u64) -> Course {
        let join = Needs { shingles: 107_000_000, words: 0, keys: 20_000_000, sketches: 0 };
        let (documents, raw, work) = (77_000_000, 42_000_000, 32 << 20);
        Course { join, documents, raw, batches: 875_000_000, work, limit, resumable: false, apart: true }
    }

    #[test]
    fn more_memory_is_less_disk() {
        let disk: Vec<u64> = (7..13).map(|power| course(1 << (power + 20)).disk()).collect();
        assert!(disk.is_sorted_by(|less, more| less >= more), "{disk:?}");
        let without = course(u64::MAX).memory_without_disk();
        assert_eq!(course(without).disk(), 0);
        assert!(course(without / 10 * 9).disk() > 0);
    }

    #[test]
    fn a_gigabyte_takes_what_it_took() {
        let near = |expected: u64, measured: u64| expected.abs_diff(measured) < measured / 10;
        assert!(near(course(u64::MAX).memory(), 1_400_000_000), "{}", course(u64::MAX).memory());
        assert!(near(course(1 << 28).disk(), 1_224_000_000), "{}", course(1 << 28).disk());
        let others = Course { apart: false, ..course(1 << 28) };
        assert!(near(others.disk(), 1_337_000_000), "{}", others.disk());
    }

    #[test]
    fn a_run_that_is_to_be_resumed_goes_to_disk() {
        assert!(Course { resumable: true, ..course(u64::MAX) }.disk() > 0);
    }
}
