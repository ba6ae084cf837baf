//! Sets of which some are on disk, for a join that looks at prefixes of all of them, and at its candidates once more.
//!
//! Keys were taken while sets were read, or are taken now, from beginning to end; sets stay as they were read, in the order of their shingles.
//! When it is known which of them are candidates, those that are on disk are gathered before they are verified (`waves.rs`).

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rayon::prelude::*;

use super::gathered::{Gathered, Loaded, lock};
use super::lanes::{Lanes, NONE};
use super::noted::Marks;
use super::outlines::Outlines;
use super::sets::{SetIndex, Sets};
use super::taking::{Buffers, Taken};
use crate::arenas::{Arena, Arenas, fit};
use crate::document::ShingleRef;
use crate::error::{Error, Result};
use crate::exec::{Exec, PAGE, Pages, SpillFile, give_back};
use crate::learn::Model;
use crate::run::Stage;
use crate::shingle::set_hash;

/// See the module.
pub(super) struct Apart {
    arenas: Vec<Arena>,
    file: Arc<SpillFile>,
    /// The join keys, until somebody takes them.
    keys: Mutex<Option<Lanes>>,
    /// Outlines of sets, until somebody takes them.
    outlines: Mutex<Option<Outlines>>,
    gathered: RwLock<Option<Gathered>>,
}

/// What a set lies in while it is looked at; kept from set to set.
#[derive(Default)]
pub(super) struct Hold {
    pub(super) words: Vec<u64>,
    region: Option<Arc<Loaded>>,
}

impl Apart {
    /// Takes the keys of all sets from which they were not taken when they were read: so many of its first shingles in the order of the model
    /// as `prefix` says for the size of a set.
    pub(super) fn new(
        arenas: Arenas,
        sets: &Sets,
        model: &Model,
        prefix: impl Fn(u32) -> u32 + Sync + Send,
        exec: &Exec<'_>,
    ) -> Result<Apart> {
        let (arenas, file, taken) = arenas.into_parts();
        let file = file.ok_or_else(|| Error::Bug("a spilled arena without a file".into()))?;
        let mut outlines = Outlines::new(sets.len(), arenas.len());
        let (keys, numbers) = match taken {
            Some(taken) => take_over(*taken, sets, &mut outlines)?,
            None => (Lanes::new(exec)?, (0..sets.len() as u32).collect()),
        };
        let by_arena = by_arena(sets, arenas.len(), |set| numbers[set as usize] != NONE);
        let take = |(pages, buffers): &mut (Option<Pages>, Buffers), (arena, members): (&Arena, Vec<SetIndex>)| {
            exec.check()?;
            exec.observer.advance(Stage::Learn, members.len() as u64);
            let words = Words::of(arena, &file, &members, sets, pages)?;
            for member in members {
                let set = words.set(sets.refs()[member as usize])?;
                buffers.take(model, numbers[member as usize], set, prefix(set.len() as u32), &keys)?;
            }
            buffers.hand_over(&keys)
        };
        // Shingles of a set that are common are there again, twice; its keys are fewer.
        let taking = 3 * sets.sizes().last().map_or(0, |&largest| 8 * u64::from(largest));
        exec.with_waiting(taking + bytes_to_look(sets, &by_arena), || {
            arenas.par_iter().zip(by_arena).map_init(Default::default, take).collect::<Result<()>>()
        })?;
        Ok(Apart {
            arenas,
            file,
            keys: Mutex::new(Some(keys)),
            outlines: Mutex::new(Some(outlines)),
            gathered: RwLock::default(),
        })
    }

    /// The join keys of all sets, for the first who asks.
    pub(super) fn take_keys(&self) -> Result<Option<Lanes>> {
        Ok(lock(&self.keys)?.take())
    }

    /// What was drawn of sets while they were read, for the first who asks.
    pub(super) fn take_outlines(&self) -> Result<Option<Outlines>> {
        Ok(lock(&self.outlines)?.take())
    }

    /// By arena: how many words the sets have that are chosen; nothing for an arena that is in memory.
    pub(super) fn words_on_disk(&self, chosen: &Marks, sets: &Sets) -> Vec<Option<u64>> {
        let mut words: Vec<Option<u64>> =
            self.arenas.iter().map(|arena| matches!(arena, Arena::Spilled(_)).then_some(0)).collect();
        for (_, place) in (0..).zip(sets.refs()).filter(|(set, _)| chosen.has(*set)) {
            words[place.arena as usize].iter_mut().for_each(|words| *words += u64::from(place.len));
        }
        words
    }

    /// Gathers the sets that are wanted.
    pub(super) fn gather(
        &self,
        is_wanted: impl Fn(SetIndex) -> bool,
        sets: &Sets,
        window: impl Fn(SetIndex) -> Range<SetIndex>,
        exec: &Exec<'_>,
    ) -> Result<()> {
        let is_wanted = &is_wanted;
        let gathering = Gathered::begin(sets, is_wanted, window, exec)?;
        let by_arena = by_arena(sets, self.arenas.len(), is_wanted);
        let take = |pages: &mut Option<Pages>, (arena, members): (&Arena, Vec<SetIndex>)| {
            exec.check()?;
            let words = Words::of(arena, &self.file, &members, sets, pages)?;
            members.into_iter().try_for_each(|number| gathering.add(number, words.set(sets.refs()[number as usize])?))
        };
        exec.with_waiting(bytes_to_look(sets, &by_arena), || {
            self.arenas.par_iter().zip(by_arena).map_init(Default::default, take).collect::<Result<()>>()
        })?;
        let gathered = gathering.finish(exec)?;
        *self.gathered.write().unwrap_or_else(PoisonError::into_inner) = Some(gathered);
        Ok(())
    }

    /// Lets go of the sets that were gathered.
    pub(super) fn let_go(&self) {
        *self.gathered.write().unwrap_or_else(PoisonError::into_inner) = None;
        // The next ones need the room, not only what is beside them.
        give_back();
    }

    /// Whether a set is on disk.
    pub(super) fn is_spilled(&self, place: ShingleRef) -> bool {
        place.len > 0 && matches!(self.arenas[place.arena as usize], Arena::Spilled(_))
    }

    /// A set, in the order of its shingles.
    pub(super) fn get<'b>(&'b self, set: SetIndex, place: ShingleRef, hold: &'b mut Hold) -> Result<&'b [u64]> {
        let first = match &self.arenas[place.arena as usize] {
            _ if place.len == 0 => return Ok(&[]),
            Arena::Held(words) => return Ok(place.of(words)),
            Arena::Spilled(first) => *first,
        };
        let gathered = self.gathered.read().unwrap_or_else(PoisonError::into_inner);
        let found = gathered.as_ref().map_or(Ok(None), |gathered| gathered.find(set))?;
        drop(gathered);
        let Hold { words, region } = hold;
        if let Some((loaded, start)) = found {
            *region = Some(loaded);
            // Sets may be large.
            *words = Vec::new();
            let words = region.as_ref().map_or(&[][..], |loaded| loaded.words());
            return Ok(&words[start..start + place.len as usize]);
        }
        // It was not chosen, or there is no room for those around it.
        let at = first + u64::from(place.start);
        *region = None;
        fit(words, place.len as usize);
        self.file.read(at, words)?;
        verified(words, place).ok_or_else(|| damaged(&self.file, at))
    }
}

/// Gives the sets from which keys were taken their numbers, and the others new ones. Returns the keys, and by set the number under which its keys
/// are still to be taken; none for sets from which they were.
fn take_over(taken: Taken, sets: &Sets, outlines: &mut Outlines) -> Result<(Lanes, Vec<u32>)> {
    let Taken { mut keys, count, arenas, .. } = taken;
    let mut numbers = vec![NONE; sets.len()];
    let mut named = vec![NONE; count as usize];
    for (set, place) in (0..).zip(sets.refs()).filter(|(_, place)| place.len > 0) {
        match &arenas[place.arena as usize] {
            Some(arena) => {
                let nth = arena.starts.partition_point(|(start, _)| *start < place.start);
                let (_, outline) = arena.starts.get(nth).ok_or_else(|| Error::Bug("a set without keys".into()))?;
                named[arena.first as usize + nth] = set;
                outlines.place(set, place.arena, *outline, place.len);
            }
            None => {
                numbers[set as usize] = named.len() as u32;
                named.push(set);
            }
        }
    }
    let drawn = arenas.into_iter().enumerate().filter_map(|(arena, taken)| Some((arena, taken?.outlines)));
    drawn.for_each(|(arena, drawn)| outlines.add(arena, drawn));
    keys.rename(named);
    Ok((keys, numbers))
}

/// Bytes that a thread takes to look at some sets of one arena after the other.
fn bytes_to_look(sets: &Sets, by_arena: &[Vec<SetIndex>]) -> u64 {
    const USUAL: u64 = 4 << 20;
    let span = |members: &Vec<SetIndex>| {
        let places = || members.iter().map(|&set| sets.refs()[set as usize]);
        let (first, end) = (places().map(|set| set.start).min(), places().map(|set| set.start + set.len).max());
        end.unwrap_or(0) - first.unwrap_or(0)
    };
    USUAL.max(by_arena.iter().map(span).max().map_or(0, |words| 8 * u64::from(words)))
}

/// The sets of each arena that are wanted and not empty.
fn by_arena(sets: &Sets, arenas: usize, is_wanted: impl Fn(SetIndex) -> bool) -> Vec<Vec<SetIndex>> {
    let wanted = || (0..).zip(sets.refs()).filter(|(set, place)| place.len > 0 && is_wanted(*set));
    let mut counts = vec![0; arenas];
    wanted().for_each(|(_, place)| counts[place.arena as usize] += 1);
    let mut by_arena: Vec<Vec<SetIndex>> = counts.into_iter().map(Vec::with_capacity).collect();
    wanted().for_each(|(set, place)| by_arena[place.arena as usize].push(set));
    by_arena
}

/// Words between two sets that are not read with them: reading a little more takes less time than reading once more.
const GAP: u32 = 4 * PAGE as u32;

/// Runs of words in which sets lie, in their order, with what lies between sets that are near each other.
fn runs(mut sets: Vec<ShingleRef>) -> Vec<Range<u32>> {
    sets.sort_unstable_by_key(|set| set.start);
    let mut runs: Vec<Range<u32>> = Vec::new();
    for set in sets {
        match runs.last_mut() {
            Some(run) if set.start <= run.end + GAP => run.end = run.end.max(set.start + set.len),
            _ => runs.push(set.start..set.start + set.len),
        }
    }
    runs
}

/// The words of some sets of an arena.
struct Words<'a> {
    words: &'a [u64],
    /// What stands before the first of them.
    first: u32,
    /// Where they come from, and from which word on, if they come from disk.
    read: Option<(&'a SpillFile, u64)>,
}

impl<'a> Words<'a> {
    /// The buffer is for what is not in memory.
    fn of(
        arena: &'a Arena,
        file: &'a SpillFile,
        members: &[SetIndex],
        sets: &Sets,
        buffer: &'a mut Option<Pages>,
    ) -> Result<Words<'a>> {
        let at = match arena {
            Arena::Held(words) => return Ok(Words { words, first: 0, read: None }),
            Arena::Spilled(at) => *at,
        };
        let runs = runs(members.iter().map(|&number| sets.refs()[number as usize]).collect());
        let first = runs.first().map_or(0, |run| run.start);
        let words = runs.last().map_or(first, |run| run.end) - first;
        let at = at + u64::from(first);
        let skipped = (at % PAGE as u64) as usize;
        let needed = skipped + words as usize;
        let fits = |pages: &Pages| pages.len() >= needed;
        let pages = buffer.take().filter(fits).unwrap_or_else(|| Pages::new(needed));
        let pages = buffer.insert(pages);
        for run in runs {
            let start = (run.start - first) as usize;
            let page = (skipped + start) / PAGE * PAGE;
            file.read_pages(at + start as u64, run.len(), &mut pages.words_mut()[page..])?;
        }
        Ok(Words { words: &pages.words()[skipped..needed], first, read: Some((file, at)) })
    }

    fn set(&self, set: ShingleRef) -> Result<&'a [u64]> {
        let start = (set.start - self.first) as usize;
        let words = &self.words[start..start + set.len as usize];
        let Some((file, at)) = self.read else { return Ok(words) };
        verified(words, set).ok_or_else(|| damaged(file, at + start as u64))
    }
}

/// The words of a set if they are what was written: its hash was taken when it was made, a better witness than any checksum of the disk's words.
fn verified(words: &[u64], place: ShingleRef) -> Option<&[u64]> {
    (set_hash(words) == place.hash).then_some(words)
}

fn damaged(file: &SpillFile, at: u64) -> Error {
    file.damaged(at, "a set of shingles is not what was written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_are_near_each_other_are_read_together() {
        let set = |start: u32, len: u32| ShingleRef { arena: 0, start, len, hash: 0 };
        let far = 100 + GAP + 1;
        assert_eq!(runs(vec![set(far, 10), set(50, 10), set(0, 40), set(95, 5)]), [0..100, far..far + 10]);
        assert_eq!(runs(vec![set(far - 1, 10), set(0, 100)]).first(), Some(&(0..far + 9)));
        assert_eq!(runs(Vec::new()), []);
    }
}
