//! Chosen sets by size, region after region: in memory as far as there is room, the others on disk.
//!
//! Sets lie in regions of a few megabytes by size, and inside a region as they come. A region that goes to disk has its last words in memory
//! until they are worth writing; those of the smallest sets never do: they stay in memory until others need the room. Who verifies candidates
//! looks at one set after the other with those beside it that are a little smaller, so each region is read once, as a whole, while there is room
//! for all that is looked at. Where there is not, sets are read one by one.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread;

use crossbeam_channel::{Sender, TryRecvError, bounded};
use rayon::prelude::*;

use super::sets::{SetIndex, Sets};
use super::tasks::{pieces, sums};
use crate::error::{Error, Result};
use crate::exec::{Exec, PAGE, Pages, SpillFile, Way};

/// Words that are written at a time, where there is memory for so many of each region.
const BLOCK: usize = 32 * PAGE;
/// Words of a region, where there is memory for some of them.
const REGION: u64 = 1024 * PAGE as u64;

/// Hundredths of the memory that is left which they may take.
const SHARE: u64 = 80;
/// Bytes that verifying takes in each thread, beside them.
const VERIFYING: u64 = 16 << 20;

/// Words that threads may hold on to of regions that have gone, if the largest has so many: each of two. One more waits to be used again.
fn pinned(largest: u64) -> u64 {
    (2 * rayon::current_num_threads() as u64 + 1) * largest
}

/// See the module.
pub(super) struct Gathered {
    regions: Arc<Regions>,
    /// By set: where in its region it begins; nothing where it was not chosen.
    starts: Vec<u32>,
    ahead: Option<Ahead>,
}

/// In the place of a set that was not chosen.
const NONE: u32 = u32::MAX;

/// The same while sets come.
pub(super) struct Gathering {
    filled: Vec<Mutex<Filling>>,
    firsts: Vec<SetIndex>,
    starts: Vec<AtomicU32>,
    /// Where they go, unless they stay in memory.
    file: Option<SpillFile>,
    layout: Layout,
}

/// How large things are.
#[derive(Clone, Copy)]
struct Layout {
    /// Words of a region, unless one set has more.
    region: u64,
    /// Words of the largest.
    largest: u64,
    /// Words that are written at a time, and that have a checksum.
    block: usize,
}

/// All regions, some of them in memory.
struct Regions {
    /// Of those that are not in memory from the beginning.
    file: Option<SpillFile>,
    all: Vec<Region>,
    layout: Layout,
    window: Mutex<Window>,
}

/// Sets of about one size.
struct Region {
    first: SetIndex,
    /// Where it begins in the file.
    at: u64,
    words: usize,
    /// Of each block.
    checksums: Vec<u32>,
    /// Whether it is in memory from the beginning, and never on disk.
    stays: bool,
}

/// A region that is in memory, or about to be.
#[derive(Default)]
pub(super) struct Loaded {
    reading: Mutex<()>,
    pages: OnceLock<Pages>,
}

impl Loaded {
    pub(super) fn words(&self) -> &[u64] {
        self.pages.get().map_or(&[], Pages::words)
    }
}

/// Regions in memory.
#[derive(Default)]
struct Window {
    /// By their number among all, with the words that each was counted as.
    held: BTreeMap<usize, (Arc<Loaded>, u64)>,
    /// Words that a region takes at least.
    usual: u64,
    /// Words that are held, and that may be.
    words: u64,
    most: u64,
    /// Pages of a region that went, for the next.
    spare: Option<Pages>,
}

impl Gathered {
    /// Words that there is room for.
    pub(super) fn room(exec: &Exec<'_>) -> u64 {
        (exec.memory.left() / 100 * SHARE).saturating_sub(exec.threads as u64 * VERIFYING) / size_of::<u64>() as u64
    }

    /// Which sets are gathered at a time, with those in their windows: all of them, or first the smaller and then the larger if there is room
    /// for each of these and not for all. `before[set]` is the number of words of all sets before it.
    pub(super) fn waves(before: &[u64], window: impl Fn(SetIndex) -> Range<SetIndex>, exec: &Exec<'_>) -> [Range<SetIndex>; 2] {
        let count = before.len() as SetIndex - 1;
        let room = Gathered::room(exec);
        // All sets before this one fit.
        let last_fitting = before.partition_point(|&words| words <= room) as SetIndex - 1;
        let middle = if exec.memory.is_tight() { last_fitting.max(count / 2) } else { last_fitting };
        let rest = || before[count as usize] - before[window(middle).start.min(middle) as usize];
        let is_divided = middle < count && exec.spill.is_some() && (rest() <= room || exec.memory.is_tight());
        let end = if is_divided { middle } else { count };
        [0..end, end..count]
    }

    /// Makes places for the sets that are wanted. `window` tells with which others a set is looked at; it rises with the set.
    pub(super) fn begin(
        sets: &Sets,
        is_wanted: impl Fn(SetIndex) -> bool,
        window: impl Fn(SetIndex) -> Range<SetIndex>,
        exec: &Exec<'_>,
    ) -> Result<Gathering> {
        let all = 0..sets.len() as SetIndex;
        let before = sums(all.clone().map(|set| if is_wanted(set) { sets.sizes()[set as usize].into() } else { 0 }));
        let total = before[sets.len()];
        let verifying = exec.threads as u64 * VERIFYING;
        let file = match exec.spill_beyond(SHARE, total * size_of::<u64>() as u64 + verifying) {
            Some(spill) => Some(spill.scratch("sets", Way::Past)?),
            None => None,
        };
        let mut layout = Layout::new(total, exec);
        let words_of = |range: &Range<SetIndex>| before[range.end as usize] - before[range.start as usize];
        layout.largest = pieces(&before, layout.region, all.clone()).map(|range| words_of(&range)).fold(layout.region, u64::max);
        let most_staying = if file.is_some() {
            // Those that are looked at together must have room at a time, and some to spare: others are a little behind, or ahead.
            let together = |region: Range<SetIndex>| {
                let (first, last) = (window(region.start), window(region.end - 1));
                before[last.end.max(region.end) as usize] - before[first.start.min(region.start) as usize]
            };
            let widest = pieces(&before, layout.region, all.clone()).map(together).max().unwrap_or(0);
            let room = Gathered::room(exec);
            if room / 4 < (widest + pinned(layout.largest)) / 3 { 0 } else { room }
        } else {
            u64::MAX
        };
        let mut at = 0;
        let region = |range: Range<SetIndex>| {
            let words = words_of(&range) as usize;
            let stays = before[range.end as usize] <= most_staying;
            let region = Region { first: range.start, at, words, checksums: Vec::new(), stays };
            at += if stays { 0 } else { words.next_multiple_of(PAGE) as u64 };
            let room = if stays { words } else { layout.block.min(words) };
            Mutex::new(Filling { region, room, block: Pages::new(0), filled: 0, written: 0 })
        };
        let filled: Vec<Mutex<Filling>> = pieces(&before, layout.region, all.clone()).map(region).collect();
        file.as_ref().map_or(Ok(()), |file| file.make_room(at))?;
        let firsts = filled.iter().map(|filling| lock(filling).map(|filling| filling.region.first)).collect::<Result<_>>()?;
        Ok(Gathering { filled, firsts, starts: all.map(|_| AtomicU32::new(NONE)).collect(), file, layout })
    }

    /// A region that has a set, and where in it the set begins; `None` where it was not chosen, or there is no room for its region.
    pub(super) fn find(&self, set: SetIndex) -> Result<Option<(Arc<Loaded>, usize)>> {
        let start = self.starts[set as usize];
        if start == NONE {
            return Ok(None);
        }
        let number = self.regions.all.partition_point(|region| region.first <= set) - 1;
        let loaded = self.regions.load(number, || self.ahead.iter().for_each(|ahead| ahead.look(number)))?;
        Ok(loaded.map(|loaded| (loaded, start as usize)))
    }
}

impl Gathering {
    /// Takes a set.
    pub(super) fn add(&self, set: SetIndex, words: &[u64]) -> Result<()> {
        let region = self.firsts.partition_point(|&first| first <= set) - 1;
        let start = lock(&self.filled[region])?.append(words, self.file.as_ref())?;
        self.starts[set as usize].store(start, Ordering::Relaxed);
        Ok(())
    }

    /// All sets are there.
    pub(super) fn finish(self, exec: &Exec<'_>) -> Result<Gathered> {
        let Gathering { filled, starts, file, layout, .. } = self;
        let mut window = Window { usual: layout.region.next_multiple_of(PAGE as u64), most: u64::MAX, ..Window::default() };
        let close = |filling: Mutex<Filling>| {
            let mut filling = filling.into_inner().map_err(|_| failed())?;
            if filling.region.stays {
                let pages = OnceLock::from(filling.block);
                return Ok((filling.region, Some(Arc::new(Loaded { reading: Mutex::default(), pages }))));
            }
            file.as_ref().map_or(Ok(()), |file| filling.write(file))?;
            Ok((filling.region, None))
        };
        let (all, staying): (Vec<Region>, Vec<Option<Arc<Loaded>>>) =
            filled.into_par_iter().map(close).collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let staying = staying.into_iter().zip(&all).enumerate();
        window.held = staying.filter_map(|(number, (loaded, region))| Some((number, (loaded?, region.words as u64)))).collect();
        window.words = window.held.values().map(|(_, words)| words).sum();
        if file.is_some() {
            // Pairs take room as well.
            let left = exec.memory.part(4, 0) * 3 / size_of::<u64>() as u64;
            window.most = (window.words + left).saturating_sub(pinned(layout.largest));
            if exec.memory.is_tight() {
                window.most = 2 * (1 + rayon::current_num_threads() as u64) * window.usual;
            }
        }
        let regions = Arc::new(Regions { file, all, layout, window: Mutex::new(window) });
        let ahead = regions.file.as_ref().and_then(|_| Ahead::start(regions.clone()));
        Ok(Gathered { regions, starts: starts.into_iter().map(AtomicU32::into_inner).collect(), ahead })
    }
}

impl Regions {
    /// Whether a region can come without another having to go.
    fn has_room(&self, number: usize) -> bool {
        self.window.lock().is_ok_and(|window| window.words + window.usual.max(self.all[number].words as u64) <= window.most)
    }

    /// A region in memory; `None` where there is no room for it. Calls `first` if it is not there yet.
    fn load(&self, number: usize, first: impl FnOnce()) -> Result<Option<Arc<Loaded>>> {
        let Some(region) = self.all.get(number) else { return Ok(None) };
        let mut window = lock(&self.window)?;
        if region.stays {
            return Ok(window.held.get(&number).map(|(loaded, _)| loaded.clone()));
        }
        let usual = window.usual as usize;
        let Some((loaded, spare)) = window.take_in(number, region.words as u64) else { return Ok(None) };
        drop(window);
        let Some(file) = self.file.as_ref().filter(|_| loaded.pages.get().is_none()) else { return Ok(Some(loaded)) };
        first();
        let reading = lock(&loaded.reading)?;
        if loaded.pages.get().is_none() {
            let fits = |pages: &Pages| pages.len() >= region.words;
            let mut pages = spare.filter(fits).unwrap_or_else(|| Pages::new(region.words.max(usual)));
            file.read_pages(region.at, region.words, pages.words_mut())?;
            let blocks = pages.words()[..region.words.next_multiple_of(PAGE)].chunks(self.layout.block);
            if !blocks.zip(&region.checksums).all(|(block, &sum)| checksum(block) == sum) {
                return Err(file.damaged(region.at, "sets of shingles are not what was written"));
            }
            let _ = loaded.pages.set(pages);
        }
        drop(reading);
        Ok(Some(loaded))
    }
}

/// Reads what will be looked at later, in a thread of its own, which ends when nobody can ask any more.
struct Ahead {
    wanted: Sender<usize>,
}

impl Ahead {
    /// `None` where there can be no such thread: reading takes longer then.
    fn start(regions: Arc<Regions>) -> Option<Ahead> {
        let (wanted, numbers) = bounded(4);
        // Whoever needs it will hear what is wrong with it.
        let load = |regions: &Regions, number: usize| drop(regions.load(number, || ()));
        let read = move || {
            // While nobody asks, those that there is room for.
            let first = regions.all.partition_point(|region| region.stays);
            for number in (first..regions.all.len()).take_while(|&number| regions.has_room(number)) {
                match numbers.try_recv() {
                    Ok(wanted) => load(&regions, wanted),
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => return,
                }
                load(&regions, number);
            }
            numbers.into_iter().for_each(|number| load(&regions, number));
        };
        thread::Builder::new().name("ahead".into()).spawn(read).ok()?;
        Some(Ahead { wanted })
    }

    /// The region after this one will be wanted, and the one after that.
    fn look(&self, number: usize) {
        for next in [number + 1, number + 2] {
            // If there is so much to read already, it will be read when it is needed.
            let _ = self.wanted.try_send(next);
        }
    }
}

impl Window {
    /// Takes a region in, with pages for it if it is new and there are any. Smaller sets go first: those that are looked at rise.
    fn take_in(&mut self, number: usize, words: u64) -> Option<(Arc<Loaded>, Option<Pages>)> {
        if let Some((loaded, _)) = self.held.get(&number) {
            return Some((loaded.clone(), None));
        }
        let words = words.max(self.usual);
        while self.words + words > self.most
            && let Some(smallest) = self.held.first_entry()
            && *smallest.key() < number
        {
            let (loaded, counted) = smallest.remove();
            self.words -= counted;
            self.spare = Arc::into_inner(loaded).and_then(|loaded| loaded.pages.into_inner()).or(self.spare.take());
        }
        if self.words + words > self.most {
            return None;
        }
        self.words += words;
        let loaded = Arc::new(Loaded::default());
        self.held.insert(number, (loaded.clone(), words));
        Some((loaded, self.spare.take()))
    }
}

/// A region to which sets are added.
struct Filling {
    region: Region,
    /// How many words the block will have.
    room: usize,
    /// Its last words, which are not written yet; all of them if they stay in memory. There once a set came, in the thread that brought it.
    block: Pages,
    filled: usize,
    /// Words that are.
    written: usize,
}

impl Filling {
    /// Adds a set; returns where it begins.
    fn append(&mut self, mut words: &[u64], file: Option<&SpillFile>) -> Result<u32> {
        let start = (self.written + self.filled) as u32;
        if self.block.len() < self.room {
            self.block = Pages::new(self.room);
        }
        while !words.is_empty() {
            if let Some(file) = file.filter(|_| self.filled == self.block.len() && !self.region.stays) {
                self.write(file)?;
            }
            let room = self.block.len() - self.filled;
            if room == 0 {
                return Err(Error::Bug("more sets came than were chosen".into()));
            }
            let (some, others) = words.split_at(words.len().min(room));
            self.block.words_mut()[self.filled..self.filled + some.len()].copy_from_slice(some);
            self.filled += some.len();
            words = others;
        }
        Ok(start)
    }

    fn write(&mut self, file: &SpillFile) -> Result<()> {
        let whole = self.filled.next_multiple_of(PAGE);
        let words = &mut self.block.words_mut()[..whole];
        words[self.filled..].fill(0);
        self.region.checksums.push(checksum(words));
        file.write_at(self.region.at + self.written as u64, words)?;
        self.written += self.filled;
        self.filled = 0;
        Ok(())
    }
}

impl Layout {
    /// For so many words: a region is a small part of the memory that is left, and so are the last blocks of all regions.
    fn new(words: u64, exec: &Exec<'_>) -> Layout {
        if exec.memory.is_tight() {
            return Layout { region: words.div_ceil(50).max(1), largest: 0, block: PAGE };
        }
        let part = exec.memory.left() / size_of::<u64>() as u64 / 16;
        let regions = words.div_ceil(part.max(1)).max(1);
        let pages = (2 * part / regions) as usize / PAGE;
        let block = (pages * PAGE).clamp(PAGE, BLOCK);
        let most = (2 * part / block as u64).max(1);
        Layout { region: words.div_ceil(most).max(REGION.min(part)).max(1), largest: 0, block }
    }
}

pub(super) fn checksum(words: &[u64]) -> u32 {
    crc32fast::hash(bytemuck::cast_slice(words))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> Result<MutexGuard<'_, T>> {
    mutex.lock().map_err(|_| failed())
}

pub(super) fn failed() -> Error {
    Error::Bug("a thread failed while it looked at sets".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::ShingleRef;
    use crate::exec::{Memory, Spill};

    /// Two hundred sets of up to twelve words; every third is not wanted.
    fn sets() -> (Sets, impl Fn(SetIndex) -> Vec<u64>) {
        let refs: Vec<ShingleRef> =
            (0..200).map(|n| ShingleRef { arena: 0, start: 0, len: 1 + n / 17, hash: n.into() }).collect();
        (Sets::of_refs(&refs), |set| (0..1 + u64::from(set) / 17).map(|word| u64::from(set) << 8 | word).collect())
    }

    fn window(set: SetIndex) -> Range<SetIndex> {
        set.saturating_sub(20)..set
    }

    #[test]
    fn chosen_sets_are_found_in_memory_and_on_disk_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Some(Spill::in_folder(folder.path().join("work")));
        let tight = Exec { memory: Memory::TIGHT, spill, ..Exec::default() };
        for exec in [Exec::default(), tight] {
            let (sets, words) = sets();
            let gathering = Gathered::begin(&sets, |set| set % 3 != 0, window, &exec).unwrap();
            // In no order.
            for set in (0..200).map(|n| n * 77 % 200).filter(|set| set % 3 != 0) {
                gathering.add(set, &words(set)).unwrap();
            }
            let gathered = gathering.finish(&exec).unwrap();
            let mut found = 0;
            for set in 0..200 {
                let place = gathered.find(set).unwrap();
                assert!(set % 3 != 0 || place.is_none());
                if let Some((region, start)) = place {
                    assert_eq!(region.words()[start..start + words(set).len()], words(set));
                    found += 1;
                }
            }
            assert_eq!(found, 133, "in rising order there is room for each");
        }
    }

    #[test]
    fn regions_that_stay_give_way_to_larger_ones_that_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Some(Spill::in_folder(folder.path().join("work")));
        let exec = Exec { memory: Memory::TIGHT, spill, ..Exec::default() };
        let (sets, words) = sets();
        let gathering = Gathered::begin(&sets, |_| true, window, &exec).unwrap();
        // The first five, with room for a few more.
        for filled in &gathering.filled[..5] {
            let mut filling = filled.lock().unwrap();
            filling.region.stays = true;
            filling.room = filling.region.words;
        }
        (0..200).for_each(|set| gathering.add(set, &words(set)).unwrap());
        let gathered = gathering.finish(&exec).unwrap();
        let regions = &gathered.regions;
        {
            let mut window = regions.window.lock().unwrap();
            window.most = window.words + 4 * window.usual;
        }
        let find = |set: SetIndex| gathered.find(set).unwrap().map(|(region, start)| region.words()[start]);
        let last_that_stays = regions.all[5].first - 1;
        assert_eq!((find(0), find(last_that_stays)), (Some(words(0)[0]), Some(words(last_that_stays)[0])));
        for set in regions.all[5].first..200 {
            assert_eq!(find(set), Some(words(set)[0]));
        }
        assert_eq!((find(0), find(last_that_stays)), (None, None), "they are read one by one now");
    }

    #[test]
    fn regions_and_their_last_blocks_are_small_parts_of_the_memory() {
        let exec = Exec { memory: Memory::parse("96MiB").unwrap(), ..Exec::default() };
        for words in [1, 1 << 20, 1 << 24, 1 << 28] {
            let Layout { region, block, .. } = Layout::new(words, &exec);
            let regions = words.div_ceil(region);
            assert!(region * 8 <= 96 << 16, "{words} words: regions of {region}");
            assert!(regions * block as u64 * 8 <= 96 << 17, "{words} words: {regions} blocks of {block}");
        }
    }

    #[test]
    fn what_is_not_what_was_written_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let exec = Exec { memory: Memory::TIGHT, spill: Some(Spill::in_folder(folder.path())), ..Exec::default() };
        let (sets, words) = sets();
        let gathering = Gathered::begin(&sets, |_| true, window, &exec).unwrap();
        (0..200).for_each(|set| gathering.add(set, &words(set)).unwrap());
        let gathered = gathering.finish(&exec).unwrap();
        let last = gathered.regions.all.last().unwrap().at;
        gathered.regions.file.as_ref().unwrap().write_at(last, &[1]).unwrap();
        assert!(gathered.find(5).is_ok());
        assert!(matches!(gathered.find(199), Err(Error::Damaged { .. })));
    }
}
