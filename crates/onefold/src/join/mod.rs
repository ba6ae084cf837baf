//! Stage 7: join keys → verified pairs of distinct sets (stage 8 is called on each candidate as it is found).
//!
//! In: the distinct shingle sets and a method. Out: all pairs of sets that reach the threshold, or the partners of one set at a time. Invariant: the same pairs
//! for any number of threads and any amount of memory. Cost: only keys shared by two sets are kept; probing costs the postings of a set's
//! keys, less what size and position rule out. Drops nothing that the method can find. Sets, keys, postings and pairs each go to disk when
//! they are too many for memory.

mod apart;
mod codes;
mod contained;
mod crowds;
mod edits;
mod gathered;
mod index;
mod keys;
mod lanes;
mod needs;
mod noted;
mod ordered;
mod outlines;
mod pairs;
mod parts;
mod postings;
mod probe;
mod recent;
mod seen;
mod sets;
mod shared;
mod sketches;
mod taking;
mod tasks;
mod waves;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use contained::{common_shingles, contained_pairs};
pub use edits::Edits;
pub(crate) use needs::Needs;
pub use ordered::Ordered;
pub use pairs::PairList;
pub use sets::{Sameness, SetIndex, Sets};
pub use sketches::{Beside, Sketches};
pub(crate) use taking::{Taken, TakenArena, Taking};
pub(crate) use tasks::{pieces, sums};

use crate::cluster::Components;
use crate::error::{Error, Result};
use crate::exec::{Exec, Idle};
use crate::fingerprint::Fingerprint;
use crate::run::Stage;
use crate::threshold::Threshold;
use crate::verify::{Measure, Similarity};
use codes::Codes;
use gathered::lock;
use keys::{Keys, Lookup, gone};
use noted::{Note, Noted, Notepad};
use outlines::Outlines;
use pairs::Collector;
use parts::Wave;
use probe::{Prober, Space};
use shared::{KeysOf, Shared};
use tasks::Task;

/// Two distinct sets that reach the join's threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetPair {
    /// The smaller set (by size, then hash).
    pub first: SetIndex,
    /// The other.
    pub second: SetIndex,
    /// Common shingles.
    pub overlap: u32,
}

impl SetPair {
    /// Whether they belong together.
    pub fn accepted_by(&self, measure: Measure, sets: &Sets) -> bool {
        let size = |set: SetIndex| sets.sizes()[set as usize];
        measure.accepts(self.similarity(sets), size(self.first), size(self.second))
    }

    /// How alike they are.
    pub fn similarity(&self, sets: &Sets) -> Similarity {
        Similarity::new(self.overlap, sets.sizes()[self.first as usize], sets.sizes()[self.second as usize])
    }
}

/// What a candidate has to pass.
#[derive(Clone, Copy)]
pub struct Bar<'a> {
    /// Its resemblance has to reach this; nothing where the method has the last word on it.
    pub threshold: Option<Threshold>,
    /// Its words have to be so near.
    pub edits: Option<Edits<'a>>,
}

/// Sets of this many are probed at a time.
const BLOCK: usize = 256;

/// An index of the collection's distinct sets, ready to be probed.
pub struct Join<'a, F: ?Sized> {
    space: Space<'a, F>,
    keys: Keys,
    /// Counters that no thread uses at the moment.
    probers: Idle<Prober>,
}

impl<'a, F: Fingerprint + ?Sized> Join<'a, F> {
    /// Fingerprints every set and builds the index.
    pub fn new(
        sets: &'a Sets,
        ordered: &'a Ordered<'a>,
        beside: Beside<'_>,
        method: &'a F,
        bar: Bar<'a>,
        exec: &Exec<'_>,
    ) -> Result<Self> {
        let sketches = Sketches::new(sets, ordered, &beside, method, exec)?;
        let keys = match method.radius() {
            Some(radius) => {
                let code = |set: SetIndex| Ok(sketches.of(set)?.first().copied());
                let codes = (0..sets.len() as SetIndex).map(code).collect::<Result<Vec<Option<u64>>>>()?;
                Keys::Codes(Codes::new(codes, radius))
            }
            None => {
                let keys = MethodKeys { sets, ordered, method, sketches: &sketches };
                let shared = match ordered.take_keys()? {
                    Some(lanes) => Shared::of_lanes(sets.len(), lanes, !sets.has_reference(), exec)?,
                    None => Shared::build(sets.len(), &keys, exec)?,
                };
                Keys::new(shared, exec)?
            }
        };
        Ok(Join { space: Space { sets, ordered, method, sketches, bar }, keys, probers: Idle::default() })
    }

    /// All pairs; an error once there are more than `limit`. Nothing can be probed afterwards: what comes next has the room.
    pub fn all_pairs(&mut self, exec: &Exec<'_>, limit: u64) -> Result<PairList> {
        let pairs = self.find_all_pairs(exec, limit)?;
        (self.keys, self.probers) = (Keys::Gone, Idle::default());
        exec.memory.make_room();
        Ok(pairs)
    }

    fn find_all_pairs(&mut self, exec: &Exec<'_>, limit: u64) -> Result<PairList> {
        if self.provably_exceeds(exec, limit)? {
            return Err(Error::TooManyPairs { limit });
        }
        let collector = Collector::new(exec, limit);
        if self.space.ordered.is_apart() {
            self.note_and_verify(exec, &collector)?;
            return collector.finish();
        }
        self.each_part(exec, |lookup, task| {
            self.in_blocks(exec, task.probe.clone(), |prober, sets| {
                let mut pairs = Vec::new();
                for set in sets.take_while(|_| !collector.is_over()) {
                    let before = pairs.len();
                    self.probe_once(lookup, task, prober, set, |_| true, |pair| pairs.push(pair))?;
                    collector.count(pairs.len() - before);
                    collector.take_some(&mut pairs)?;
                }
                collector.take(pairs)
            })
        })?;
        collector.finish()
    }

    /// Finds all candidates, and verifies them when it is known which sets are among them.
    fn note_and_verify(&mut self, exec: &Exec<'_>, collector: &Collector<'_>) -> Result<()> {
        let outlines = self.space.ordered.take_outlines()?;
        // One part of the join after the other has it.
        let noted = Mutex::new(Noted::new(self.space.sets.len(), exec));
        let take_notes = || Ok(std::mem::replace(&mut *lock(&noted)?, Noted::new(self.space.sets.len(), exec)));
        self.each_part(exec, |lookup, task| {
            let mut probe = task.probe.clone();
            while !probe.is_empty() && !collector.is_over() {
                let notes = lock(&noted)?;
                let note = |prober: &mut Prober, sets: Range<SetIndex>| {
                    let mut pad = Notepad::default();
                    for set in sets {
                        let Some((partners, wanted)) = self.partners_once(task, set) else { continue };
                        let unseen = prober.find_candidates(&self.space, lookup, set, partners, wanted);
                        notes.note(&mut pad, set, unseen, self.drop_far(set, outlines.as_ref(), prober))?;
                    }
                    notes.take(pad)
                };
                probe.start = self.in_blocks_while(exec, probe.clone(), || !notes.is_full(), note)?;
                let is_full = notes.is_full();
                drop(notes);
                if is_full {
                    self.verify_noted(exec, take_notes()?, collector)?;
                }
            }
            Ok(())
        })?;
        let noted = take_notes()?;
        if collector.is_over() {
            return Ok(());
        }
        // Sets need the room.
        self.keys = Keys::Gone;
        drop(outlines);
        exec.memory.make_room();
        self.verify_noted(exec, noted, collector)
    }

    /// The candidates of a set that was probed, without those that are plainly too far from it.
    fn drop_far<'p>(&self, set: SetIndex, outlines: Option<&Outlines>, prober: &'p mut Prober) -> &'p [(SetIndex, u32)] {
        if let (Some(outlines), Some(threshold)) = (outlines, self.space.bar.threshold) {
            let size = |set: SetIndex| self.space.sets.sizes()[set as usize];
            let most = |partner: SetIndex| {
                let needed = threshold.needed_overlap(size(set), size(partner));
                (u64::from(size(set)) + u64::from(size(partner))).saturating_sub(2 * u64::from(needed))
            };
            prober.retain_candidates(|partner| !outlines.differ_by_more(set, partner, most(partner)));
        }
        prober.candidates()
    }

    fn verify_noted(&self, exec: &Exec<'_>, noted: Noted<'_>, collector: &Collector<'_>) -> Result<()> {
        let (marks, sheets) = noted.finish()?;
        let verify = |wave: &Wave<'_>| {
            let next = AtomicUsize::new(0);
            let work = |prober: &mut Prober| {
                let mut pairs = Vec::new();
                loop {
                    let sheet = next.fetch_add(1, Ordering::Relaxed);
                    if sheet >= sheets.len() || collector.is_over() {
                        prober.let_go();
                        return collector.take(pairs);
                    }
                    sheets.each(sheet, |note| self.verify_note(&note, wave, prober, collector, &mut pairs))?;
                }
            };
            let work_together = || rayon::broadcast(|_| self.with_prober(work)).into_iter().collect();
            // A set and a partner, which may be read one by one.
            let pair = 2 * size_of::<u64>() as u64 * self.space.sets.sizes().last().map_or(0, |&largest| largest.into());
            let is_short = exec.memory.left() / 2 < exec.threads as u64 * pair;
            let result: Result<()> = if is_short { exec.with_buffers(pair, work_together) } else { work_together() };
            result.map(|()| !collector.is_over())
        };
        self.space.ordered.gathering(&marks, &sheets, |set| self.window(set), exec, verify)
    }

    /// Verifies those candidates of a set that are of a wave.
    fn verify_note(
        &self,
        note: &Note<'_>,
        wave: &Wave<'_>,
        prober: &mut Prober,
        collector: &Collector<'_>,
        pairs: &mut Vec<SetPair>,
    ) -> Result<()> {
        if collector.is_over() || !wave.has(note.set) {
            return Ok(());
        }
        let before = pairs.len();
        let found = |partner, overlap| pairs.push(pair_of(note.set, partner, overlap));
        prober.verify_noted(&self.space, note, |partner| wave.has_candidate(note.set, partner), found)?;
        collector.count(pairs.len() - before);
        collector.take_some(pairs)
    }

    /// Calls `found` with all pairs, from several threads. They are not stored, so there is no limit to them.
    pub fn each_pair(&self, exec: &Exec<'_>, found: impl Fn(SetPair) + Sync) -> Result<()> {
        self.each_part(exec, |lookup, task| {
            self.in_blocks(exec, task.probe.clone(), |prober, mut sets| {
                sets.try_for_each(|set| self.probe_once(lookup, task, prober, set, |_| true, &found))
            })
        })?;
        exec.check()
    }

    /// For each set the smallest set that chains of pairs connect it with. Pairs are not stored, so there is no limit to them.
    pub fn components(&self, exec: &Exec<'_>) -> Result<Vec<SetIndex>> {
        let count = self.space.sets.len();
        let connected = Mutex::new(Vec::new());
        self.each_part(exec, |lookup, task| {
            self.in_blocks(exec, task.probe.clone(), |prober, sets| {
                let idle = connected.lock().ok().and_then(|mut idle| idle.pop());
                let mut view = idle.unwrap_or_else(|| Components::new(count));
                for set in sets {
                    let mut found = Vec::new();
                    let apart = |partner: SetIndex| view.peek(set) != view.peek(partner);
                    self.probe_once(lookup, task, prober, set, apart, |pair| found.push(pair))?;
                    found.into_iter().for_each(|pair: SetPair| view.join(pair.first, pair.second));
                }
                if let Ok(mut idle) = connected.lock() {
                    idle.push(view);
                }
                Ok(())
            })
        })?;
        exec.check()?;
        let views = connected.into_inner().map_err(|_| Error::Bug("a thread failed while it joined".into()))?;
        Ok(Components::unite(count, views))
    }

    /// Calls `search` with each part of the join and what is probed in it.
    fn each_part(&self, exec: &Exec<'_>, search: impl Fn(Lookup<'_>, &Task) -> Result<()>) -> Result<()> {
        self.keys.each_part(exec, |set| self.window(set), search)
    }

    /// Where a set looks for partners. Those of the reference are found by others on both sides.
    fn window(&self, set: SetIndex) -> Range<SetIndex> {
        let partners = self.space.partners(set);
        if self.space.sets.has_reference() { partners } else { partners.start..set }
    }

    /// Lets all threads work on a range of sets, block by block.
    fn in_blocks(
        &self,
        exec: &Exec<'_>,
        sets: Range<SetIndex>,
        work: impl Fn(&mut Prober, Range<SetIndex>) -> Result<()> + Sync,
    ) -> Result<()> {
        self.in_blocks_while(exec, sets, || true, work).map(|_| ())
    }

    /// The same while `go_on` says so; returns the first set that is not done.
    fn in_blocks_while(
        &self,
        exec: &Exec<'_>,
        sets: Range<SetIndex>,
        go_on: impl Fn() -> bool + Sync,
        work: impl Fn(&mut Prober, Range<SetIndex>) -> Result<()> + Sync,
    ) -> Result<SetIndex> {
        let cursor = AtomicUsize::new(sets.start as usize);
        let work_through = |prober: &mut Prober| {
            while go_on() && exec.check().is_ok() {
                let first = cursor.fetch_add(BLOCK, Ordering::Relaxed);
                if first >= sets.end as usize {
                    break;
                }
                let block = first as SetIndex..sets.end.min((first + BLOCK) as SetIndex);
                exec.observer.advance(Stage::Join, block.len() as u64);
                work(prober, block)?;
            }
            Ok(())
        };
        rayon::broadcast(|_| self.with_prober(work_through)).into_iter().collect::<Result<()>>()?;
        exec.check()?;
        Ok((cursor.into_inner() as u64).min(sets.end.into()) as SetIndex)
    }

    /// Looks for a crowd around one set: k sets that all are halfway between the threshold and 1 to it are k(k−1)/2 pairs, by the
    /// triangle inequality. Templates with millions of true pairs are so refused after a few probes, not after counting them.
    fn provably_exceeds(&self, exec: &Exec<'_>, limit: u64) -> Result<bool> {
        const CROWDS: usize = 8;
        // Where sets are apart, some look for others on one side alone: what is found around one is then less than there is, and proves as much.
        let Keys::Indexed(index) = &self.keys else { return Ok(false) };
        let Bar { threshold, edits } = self.space.bar;
        let Some(threshold) = threshold.filter(|_| self.space.method.finds_all() && edits.is_none()) else { return Ok(false) };
        if (self.space.sets.len() as u64).pow(2) / 2 <= limit {
            return Ok(false);
        }
        let close = threshold.halfway_to_one();
        let crowds = self.partners_of(exec, &index.postings.crowded_sets(CROWDS), |_, _| true)?;
        let pairs_around = |partners: &Vec<(SetIndex, Similarity)>| {
            let crowd = partners.iter().filter(|(_, similarity)| similarity.reaches(close));
            let reference = crowd.clone().filter(|(set, _)| self.space.sets.is_reference(*set)).count() as u64;
            let own = crowd.count() as u64 - reference;
            own * own.saturating_sub(1) / 2 + own * reference
        };
        Ok(crowds.iter().map(pairs_around).any(|pairs| pairs > limit))
    }

    /// Where a set looks for partners, and which it takes, so that each pair is found once: before it in the order of sizes. Sets of the
    /// reference look for none, so that it is never compared with itself, however large it is; others find them on both sides.
    fn partners_once(&self, task: &Task, set: SetIndex) -> Option<(Range<SetIndex>, impl Fn(SetIndex) -> bool)> {
        let (sets, mut partners) = (self.space.sets, self.space.partners(set));
        if !sets.has_reference() {
            partners.end = set;
        } else if sets.is_reference(set) {
            return None;
        }
        let partners = overlapping(&partners, &task.among);
        let wanted = move |partner: SetIndex| partner < set || sets.is_reference(partner);
        (!partners.is_empty()).then_some((partners, wanted))
    }

    /// Calls `found` with the pairs of a set, each pair once.
    fn probe_once(
        &self,
        lookup: Lookup<'_>,
        task: &Task,
        prober: &mut Prober,
        set: SetIndex,
        wanted: impl Fn(SetIndex) -> bool,
        mut found: impl FnMut(SetPair),
    ) -> Result<()> {
        let Some((partners, once)) = self.partners_once(task, set) else { return Ok(()) };
        let wanted = |partner: SetIndex| once(partner) && wanted(partner);
        prober.probe(&self.space, lookup, set, partners, wanted, |partner, overlap| found(pair_of(set, partner, overlap)))
    }

    /// The partners of each of `wanted`, of any size, that `useful(set, partner)` lets through.
    pub fn partners_of(
        &self,
        exec: &Exec<'_>,
        wanted: &[SetIndex],
        useful: impl Fn(SetIndex, SetIndex) -> bool + Sync,
    ) -> Result<Vec<Vec<(SetIndex, Similarity)>>> {
        let all = 0..self.space.sets.len() as SetIndex;
        let parted = match &self.keys {
            Keys::Codes(codes) => return self.partners_among(exec, Lookup::Codes(codes), all, wanted, useful),
            Keys::Indexed(index) => return self.partners_among(exec, Lookup::Keys(index), all, wanted, useful),
            Keys::Parted(parted) => parted,
            Keys::Gone => return Err(gone()),
        };
        let mut all = vec![Vec::new(); wanted.len()];
        parted.each_around(exec, wanted, |index, among| {
            let found = self.partners_among(exec, Lookup::Keys(index), among, wanted, &useful)?;
            all.iter_mut().zip(found).for_each(|(all, found)| all.extend(found));
            Ok(())
        })?;
        Ok(all)
    }

    fn partners_among(
        &self,
        exec: &Exec<'_>,
        lookup: Lookup<'_>,
        among: Range<SetIndex>,
        wanted: &[SetIndex],
        useful: impl Fn(SetIndex, SetIndex) -> bool + Sync,
    ) -> Result<Vec<Vec<(SetIndex, Similarity)>>> {
        let probe = |prober: &mut Prober, set: SetIndex| {
            let mut partners = Vec::new();
            let size = |s: SetIndex| self.space.sets.sizes()[s as usize];
            let found = |partner: SetIndex, overlap| partners.push((partner, Similarity::new(overlap, size(set), size(partner))));
            let within = overlapping(&self.space.partners(set), &among);
            prober.probe(&self.space, lookup, set, within, |partner| useful(set, partner), found)?;
            Ok(partners)
        };
        let cursor = AtomicUsize::new(0);
        let work = |prober: &mut Prober| {
            let mut found = Vec::new();
            loop {
                let at = cursor.fetch_add(1, Ordering::Relaxed);
                if at >= wanted.len() || exec.check().is_err() {
                    return Ok(found);
                }
                found.push((at, probe(prober, wanted[at])?));
            }
        };
        let found: Result<Vec<Vec<_>>> = rayon::broadcast(|_| self.with_prober(work)).into_iter().collect();
        let mut found: Vec<(usize, Vec<(SetIndex, Similarity)>)> = found?.concat();
        found.sort_unstable_by_key(|(at, _)| *at);
        Ok(found.into_iter().map(|(_, partners)| partners).collect())
    }

    /// What the method's sketches say of a pair.
    pub fn estimate(&self, a: SetIndex, b: SetIndex) -> Result<Option<f64>> {
        self.space.sketches.estimate(self.space.method, a, b)
    }

    /// What its estimates come from, when nothing else is needed any more.
    pub fn into_sketches(self) -> Sketches {
        self.space.sketches
    }

    /// Whether every pair that reaches the threshold is found.
    pub fn finds_all(&self) -> bool {
        self.space.method.finds_all()
    }

    /// Lends counters to `work`; they are as large as the collection, so they are kept from call to call.
    fn with_prober<T>(&self, work: impl FnOnce(&mut Prober) -> T) -> T {
        let mut prober = self.probers.take_or(|| Prober::new(self.space.sets.len()));
        let result = work(&mut prober);
        self.probers.put(prober);
        result
    }
}

fn pair_of(set: SetIndex, partner: SetIndex, overlap: u32) -> SetPair {
    SetPair { first: set.min(partner), second: set.max(partner), overlap }
}

/// What two ranges have in common.
fn overlapping(a: &Range<SetIndex>, b: &Range<SetIndex>) -> Range<SetIndex> {
    a.start.max(b.start)..a.end.min(b.end)
}

/// The join keys of a method.
struct MethodKeys<'a, F: ?Sized> {
    sets: &'a Sets,
    ordered: &'a Ordered<'a>,
    method: &'a F,
    sketches: &'a Sketches,
}

impl<F: Fingerprint + ?Sized> KeysOf for MethodKeys<'_, F> {
    type Buffers = (ordered::Buffers, Vec<u64>);

    fn count(&self, set: SetIndex) -> u64 {
        self.method.key_count(self.sketches.side(set, self.sets.sizes()[set as usize])).into()
    }

    fn each(
        &self,
        sets: Range<SetIndex>,
        (buffers, keys): &mut Self::Buffers,
        mut look: impl FnMut(SetIndex, &[u64]),
    ) -> Result<()> {
        let mut result = Ok(());
        self.ordered.each(sets, buffers, |set, shingles| match self.sketches.of(set) {
            Ok(sketch) => {
                keys.clear();
                self.method.keys(shingles, &sketch, keys);
                look(set, keys);
            }
            Err(error) => result = Err(error),
        })?;
        result
    }

    fn is_held(&self) -> bool {
        self.ordered.is_held() && self.sketches.is_held()
    }
}
