//! Candidates that are noted while an index is probed, to be verified when it is known which sets they speak of.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::gathered::lock;
use super::sets::SetIndex;
use crate::error::Result;
use crate::exec::{Exec, SpillFile, Way, pack, unpack};

/// Some of the sets: a bit for each.
pub(super) struct Marks(Vec<AtomicU64>);

impl Marks {
    pub(super) fn new(sets: usize) -> Marks {
        Marks((0..sets.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    pub(super) fn mark(&self, set: SetIndex) {
        let (word, bit) = (&self.0[set as usize / 64], 1 << (set % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    pub(super) fn has(&self, set: SetIndex) -> bool {
        self.0[set as usize / 64].load(Ordering::Relaxed) >> (set % 64) & 1 == 1
    }
}

/// A set with its candidates.
pub(super) struct Note<'a> {
    pub(super) set: SetIndex,
    /// Keys that were not counted for some of them.
    pub(super) unseen: u32,
    /// Partners and keys in common, in turn.
    candidates: &'a [u32],
}

impl Note<'_> {
    pub(super) fn candidates(&self) -> impl Iterator<Item = (SetIndex, u32)> {
        self.candidates.chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }
}

/// Numbers before the candidates of a set: the set, keys not counted, how many candidates.
const HEAD: usize = 3;
/// Numbers that a thread hands over at a time.
const SHEET: usize = 1 << 16;
/// With more numbers than this it is better to verify what there is: candidates can be far more than pairs.
const MOST: u64 = 1 << 28;

/// What one thread has noted and not handed over.
#[derive(Default)]
pub(super) struct Notepad(Vec<u32>);

/// The notes of all threads.
pub(super) struct Noted<'a> {
    exec: &'a Exec<'a>,
    marks: Marks,
    sheets: Mutex<Sheets>,
    numbers: AtomicU64,
    /// Numbers that stay in memory.
    most_held: u64,
}

#[derive(Default)]
struct Sheets {
    all: Vec<(SetIndex, Sheet)>,
    held: u64,
    file: Option<SpillFile>,
}

enum Sheet {
    Held(Vec<u32>),
    /// Where its frame begins, its tag, and how many numbers it has.
    Spilled(u64, u32, usize),
}

impl<'a> Noted<'a> {
    /// For so many sets.
    pub(super) fn new(sets: usize, exec: &'a Exec<'a>) -> Noted<'a> {
        let most_held = if exec.spill.is_some() { exec.memory.left() / 16 / size_of::<u32>() as u64 } else { u64::MAX };
        Noted { exec, marks: Marks::new(sets), sheets: Mutex::default(), numbers: AtomicU64::new(0), most_held }
    }

    /// Whether they should be verified before there are more.
    pub(super) fn is_full(&self) -> bool {
        self.numbers.load(Ordering::Relaxed) > if self.exec.memory.is_tight() { 1 << 10 } else { MOST }
    }

    /// Notes the candidates of a set.
    pub(super) fn note(&self, pad: &mut Notepad, set: SetIndex, unseen: u32, candidates: &[(SetIndex, u32)]) -> Result<()> {
        if candidates.is_empty() {
            return Ok(());
        }
        self.marks.mark(set);
        candidates.iter().for_each(|&(partner, _)| self.marks.mark(partner));
        pad.0.extend([set, unseen, candidates.len() as u32]);
        pad.0.extend(candidates.iter().flat_map(|&(partner, shared)| [partner, shared]));
        if pad.0.len() < SHEET { Ok(()) } else { self.take(std::mem::take(pad)) }
    }

    /// Takes over what a thread has noted.
    pub(super) fn take(&self, Notepad(numbers): Notepad) -> Result<()> {
        let Some(&first) = numbers.first() else { return Ok(()) };
        self.numbers.fetch_add(numbers.len() as u64, Ordering::Relaxed);
        let mut sheets = lock(&self.sheets)?;
        let Sheets { all, held, file } = &mut *sheets;
        if *held + numbers.len() as u64 <= self.most_held {
            *held += numbers.len() as u64;
            all.push((first, Sheet::Held(numbers)));
            return Ok(());
        }
        let file = match file {
            Some(file) => file,
            None => file.insert(self.exec.spill()?.scratch("candidates", Way::Past)?),
        };
        let tag = all.len() as u32;
        let at = file.append_frame(tag, &pack(&numbers))?;
        all.push((first, Sheet::Spilled(at, tag, numbers.len())));
        Ok(())
    }

    /// The sets that they speak of, and the notes in the order of their first sets.
    pub(super) fn finish(self) -> Result<(Marks, NotedSheets)> {
        let Sheets { mut all, file, .. } = self.sheets.into_inner().map_err(|_| super::gathered::failed())?;
        all.sort_unstable_by_key(|(first, _)| *first);
        Ok((self.marks, NotedSheets { all, file }))
    }
}

/// All notes, by set.
pub(super) struct NotedSheets {
    all: Vec<(SetIndex, Sheet)>,
    file: Option<SpillFile>,
}

impl NotedSheets {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Marks the sets of all candidates that are `chosen`, given with their set.
    pub(super) fn mark(&self, marks: &Marks, chosen: impl Fn(SetIndex, SetIndex) -> bool + Sync) -> Result<()> {
        (0..self.len()).into_par_iter().try_for_each(|sheet| {
            self.each(sheet, |note| {
                for (partner, _) in note.candidates().filter(|&(partner, _)| chosen(note.set, partner)) {
                    marks.mark(note.set);
                    marks.mark(partner);
                }
                Ok(())
            })
        })
    }

    /// Looks at the notes of a sheet.
    pub(super) fn each(&self, sheet: usize, mut look: impl FnMut(Note<'_>) -> Result<()>) -> Result<()> {
        let unpacked;
        let mut rest = match (&self.all[sheet].1, &self.file) {
            (Sheet::Held(numbers), _) => numbers.as_slice(),
            (&Sheet::Spilled(at, tag, numbers), Some(file)) => {
                unpacked = unpack(file.read_frame(at, tag, numbers.div_ceil(2), &mut Vec::new())?, numbers);
                &unpacked
            }
            (Sheet::Spilled(..), None) => &[],
        };
        while let Some((&[set, unseen, count], after)) = rest.split_first_chunk::<HEAD>() {
            let (candidates, others) = after.split_at(2 * count as usize);
            look(Note { set, unseen, candidates })?;
            rest = others;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::{Memory, Spill};

    #[test]
    fn notes_come_back_in_the_order_of_sets_from_memory_and_from_disk() {
        let folder = tempfile::tempdir().unwrap();
        let tight = Exec { memory: Memory::TIGHT, spill: Some(Spill::in_folder(folder.path())), ..Exec::default() };
        for exec in [Exec::default(), tight] {
            let noted = Noted::new(1000, &exec);
            let candidates = |set: SetIndex| (0..set % 4).map(|n| (set - 1 - n, set + n)).collect::<Vec<_>>();
            for sets in [600..1000, 100..600] {
                let mut pad = Notepad::default();
                sets.into_iter().for_each(|set| noted.note(&mut pad, set, set % 2, &candidates(set)).unwrap());
                noted.take(pad).unwrap();
            }
            assert_eq!(noted.is_full(), exec.spill.is_some());
            let (marks, sheets) = noted.finish().unwrap();
            assert!(marks.has(101) && marks.has(100) && marks.has(999) && !marks.has(99) && !marks.has(3));
            let mut found = Vec::new();
            for sheet in 0..sheets.len() {
                let keep = |note: Note<'_>| {
                    found.push((note.set, note.unseen, note.candidates().collect::<Vec<_>>()));
                    Ok(())
                };
                sheets.each(sheet, keep).unwrap();
            }
            let with_some = (100..1000).filter(|set| set % 4 != 0);
            assert_eq!(found, with_some.map(|set| (set, set % 2, candidates(set))).collect::<Vec<_>>());
        }
    }
}
