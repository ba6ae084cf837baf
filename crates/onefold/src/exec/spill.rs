//! What does not fit in memory: files of frames, each with its length and a checksum, in a folder that goes when the run ends.
//!
//! Everything is 64-bit words. A frame is two words of heading and the words themselves. The heading says what kind of file it is of, how
//! many words follow (with a checksum of its own, so that a damaged length is never believed), which frame it is (so that a frame in the
//! wrong place is as wrong as one with a flipped bit), and a checksum of everything.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::idle::Idle;
use super::pages::{PAGE, Pages};
use crate::error::{Error, Result};

/// Raised when files of earlier versions must not be read.
pub const SPILL_VERSION: u32 = 1;
/// The file of what has been read.
pub(crate) const BATCHES: &str = "batches";
/// The note that says whose work lies in the folder.
pub(crate) const JOURNAL: &str = "journal.json";
/// The note that everything has been read.
pub(crate) const ALL_READ: &str = "read.json";
/// The note of the result's manifest.
const PUBLISHED: &str = "published.json";
/// Words of a frame's heading.
pub const HEADING: usize = 2;

/// A folder for what does not fit in memory.
#[derive(Debug)]
pub struct Spill {
    folder: PathBuf,
    /// Whether to go on with what an interrupted run left there, and to leave as much.
    pub resume: bool,
}

impl Spill {
    /// The folder, which need not exist yet.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Spill {
        Spill { folder: folder.into(), resume: false }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file that nobody else will open: it is gone as soon as it is dropped, however the run ends.
    pub(crate) fn scratch(&self, name: &str, way: Way) -> Result<SpillFile> {
        let file = self.create(name, way)?;
        let _ = fs::remove_file(&file.path);
        Ok(file)
    }

    /// A new, empty file that stays for a run that resumes.
    pub(crate) fn create(&self, name: &str, way: Way) -> Result<SpillFile> {
        let path = self.folder.join(name);
        fs::create_dir_all(&self.folder).map_err(|e| Error::spill("create", &self.folder, e))?;
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.map_err(|e| Error::spill("create", &path, e))?;
        Ok(SpillFile::new(path, file, kind_of(name), way, 0))
    }

    /// A file that an earlier run left; `None` where there is none.
    pub(crate) fn reopen(&self, name: &str, way: Way) -> Result<Option<SpillFile>> {
        let path = self.folder.join(name);
        match File::options().read(true).write(true).open(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::spill("open", &path, e)),
            Ok(file) => {
                let bytes = file.metadata().map_err(|e| Error::spill("open", &path, e))?.len();
                Ok(Some(SpillFile::new(path, file, kind_of(name), way, bytes / 8)))
            }
        }
    }

    /// Makes sure that nothing is lost that an interrupted run left, unless it may be replaced.
    pub(crate) fn claim(&self, replaces: bool) -> Result<()> {
        if self.resume {
            return Ok(());
        }
        if self.is_left() && !replaces {
            return Err(Error::Unfinished { path: self.folder.display().to_string() });
        }
        self.remove();
        Ok(())
    }

    /// Whether an interrupted run left something to go on with.
    pub fn is_left(&self) -> bool {
        fs::exists(self.folder.join(JOURNAL)).unwrap_or(false)
    }

    /// Whether it is the folder of a run: one with a note of whose work it is, and the work.
    pub(crate) fn holds_batches(&self) -> bool {
        self.is_left() && fs::exists(self.folder.join(BATCHES)).unwrap_or(false)
    }

    /// Notes that a result with this manifest is about to be published: all that is left to do then is to drop the work.
    pub(crate) fn note_published(&self, manifest: &str) -> Result<()> {
        if self.is_left() { self.write_note(PUBLISHED, &manifest) } else { Ok(()) }
    }

    /// Whether the work is of a run that published its result, whose manifest has this digest, and died before it dropped the work.
    pub(crate) fn is_published(&self, manifest: &str) -> bool {
        self.is_left() && self.read_note::<String>(PUBLISHED).as_deref() == Some(manifest)
    }

    /// Whether the work that is left holds all that was to be read: inputs are not looked at again.
    pub fn has_read_all(&self) -> bool {
        self.is_left() && fs::exists(self.folder.join(ALL_READ)).unwrap_or(false)
    }

    /// Drops a note that holds no more.
    pub(crate) fn drop_note(&self, name: &str) {
        let _ = fs::remove_file(self.folder.join(name));
    }

    /// Writes a note, whole or not at all.
    pub(crate) fn write_note(&self, name: &str, note: &impl Serialize) -> Result<()> {
        let (path, partial) = (self.folder.join(name), self.folder.join(format!("{name}.new")));
        let write = || {
            fs::create_dir_all(&self.folder)?;
            fs::write(&partial, serde_json::to_vec(note)?)?;
            fs::rename(&partial, &path)
        };
        write().map_err(|e| Error::spill("write", &path, e))
    }

    /// Reads a note; one that makes no sense is none.
    pub(crate) fn read_note<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.folder.join(name)).ok()?).ok()
    }

    /// Drops everything. It is put aside first: what a run that dies meanwhile leaves is not taken for work.
    pub(crate) fn remove(&self) {
        let _ = fs::rename(&self.folder, self.put_aside());
        self.sweep();
    }

    /// Drops what a run had put aside when it died.
    pub(crate) fn sweep(&self) {
        let _ = fs::remove_dir_all(self.put_aside());
    }

    fn put_aside(&self) -> PathBuf {
        let mut name = self.folder.clone().into_os_string();
        name.push("-done");
        name.into()
    }
}

/// How the words of a file come to the disk and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Through the system's cache: for what is looked at here and there.
    Cached,
    /// Past it, where the disk allows that: for what is written and read in long runs. There is so much of it that a cache only costs time, and
    /// memory that others use.
    Past,
}

/// Frames of one kind.
#[derive(Debug)]
pub struct SpillFile {
    path: PathBuf,
    file: File,
    /// The same file, past the system's cache.
    past: Option<File>,
    kind: u16,
    end: Mutex<End>,
    /// Buffers that nobody uses at the moment.
    idle: Idle<Pages>,
}

/// Where a file ends.
#[derive(Debug)]
struct End {
    /// Words in the file.
    words: u64,
    /// Words that the disk has made room for.
    room: u64,
}

/// Least and most words for which room is made ahead of what is written.
const AHEAD: std::ops::RangeInclusive<u64> = 1 << 17..=1 << 23;

/// Fewer words than this go through the cache, whatever the way.
const LONG: usize = 16 * PAGE;
/// Words that are copied to or from pages at a time.
const COPIED: usize = 256 * PAGE;

/// Frames of different files, or of different versions, are not taken for one another.
fn kind_of(name: &str) -> u16 {
    // The first bit is never set in a shingle, so a heading is found again among shingles.
    (crc32fast::hash(name.as_bytes()) ^ SPILL_VERSION) as u16 | 1 << 15
}

impl SpillFile {
    fn new(path: PathBuf, file: File, kind: u16, way: Way, end: u64) -> SpillFile {
        let past = if way == Way::Past { past_cache(&path) } else { None };
        SpillFile { path, file, past, kind, end: Mutex::new(End { words: end, room: end }), idle: Idle::default() }
    }

    /// Appends a frame to a buffer for [`SpillFile::append`] or [`SpillFile::write_at`].
    pub(crate) fn frame(&self, tag: u32, words: &[u64], out: &mut Vec<u64>) {
        out.extend(self.heading(tag, words));
        out.extend_from_slice(words);
    }

    /// What stands before the words of a frame.
    pub(crate) fn heading(&self, tag: u32, words: &[u64]) -> [u64; HEADING] {
        let shape = self.shape(words.len());
        [shape, u64::from(tag) << 32 | u64::from(checksum(shape, tag, words))]
    }

    /// The first word of a heading: kind, a checksum of the length, the length.
    fn shape(&self, words: usize) -> u64 {
        let check = crc32fast::hash(&(words as u64).to_le_bytes()) as u16;
        u64::from(self.kind) << 48 | u64::from(check) << 32 | words as u64
    }

    /// Writes frames at the end; returns where they begin, in words.
    pub(crate) fn append(&self, frames: &[u64]) -> Result<u64> {
        self.append_parts(&[frames])
    }

    /// Writes frames, some words after the other, at the end; returns where they begin.
    pub(crate) fn append_parts(&self, parts: &[&[u64]]) -> Result<u64> {
        let words = parts.iter().map(|part| part.len()).sum();
        if self.past.is_none() || words < LONG {
            let at = self.reserve(words, 1)?;
            let mut next = at;
            for part in parts {
                self.write_at(next, part)?;
                next += part.len() as u64;
            }
            return Ok(at);
        }
        let at = self.reserve(words.next_multiple_of(PAGE), PAGE)?;
        self.with_pages(|pages| {
            let (mut next, mut filled) = (at, 0);
            for part in parts {
                let mut rest = *part;
                while !rest.is_empty() {
                    let (some, others) = rest.split_at(rest.len().min(COPIED - filled));
                    pages[filled..filled + some.len()].copy_from_slice(some);
                    (rest, filled) = (others, filled + some.len());
                    if filled == COPIED {
                        self.write_at(next, pages)?;
                        (next, filled) = (next + COPIED as u64, 0);
                    }
                }
            }
            let end = filled.next_multiple_of(PAGE);
            pages[filled..end].fill(0);
            self.write_at(next, &pages[..end])
        })?;
        Ok(at)
    }

    /// Gives the file so many words in all, to be written in any order: the disk has room for them, or says now that it has not.
    pub(crate) fn make_room(&self, words: u64) -> Result<()> {
        let mut end = self.lock_end()?;
        end.words = words.max(end.words);
        match self.make_room_on_disk(words) {
            // Some disks know no such thing, and make room when something is written.
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(Error::spill("write", &self.path, error)),
            _ => Ok(()),
        }
    }

    /// Where room is there already, threads need not wait for each other to write.
    fn make_room_on_disk(&self, words: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            #[expect(unsafe_code, reason = "a function of the C library")]
            // SAFETY: it touches no memory, and the file is open.
            if unsafe { libc::fallocate(self.file.as_raw_fd(), 0, 0, (words * 8) as libc::off_t) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Makes place at the end for so many words, beginning at a multiple of `multiple`; returns where it begins.
    fn reserve(&self, words: usize, multiple: usize) -> Result<u64> {
        let mut end = self.lock_end()?;
        let at = end.words.next_multiple_of(multiple as u64);
        end.words = at + words as u64;
        if self.past.is_some() && end.words > end.room {
            end.room = end.words + end.words.clamp(*AHEAD.start(), *AHEAD.end());
            // If there is none for more than this, the disk will say so when it is full.
            let _ = self.make_room_on_disk(end.room);
        }
        Ok(at)
    }

    fn lock_end(&self) -> Result<MutexGuard<'_, End>> {
        self.end.lock().map_err(|_| Error::Bug("a thread failed while it wrote".into()))
    }

    /// Gives back the room for more.
    pub(crate) fn close(&self) -> Result<()> {
        self.cut(self.words())
    }

    /// Lends pages to `work`.
    fn with_pages<T>(&self, work: impl FnOnce(&mut [u64]) -> T) -> T {
        let mut pages = self.idle.take_or(|| Pages::new(COPIED));
        let result = work(pages.words_mut());
        self.idle.put(pages);
        result
    }

    /// Writes one frame at the end; returns where it begins.
    pub(crate) fn append_frame(&self, tag: u32, words: &[u64]) -> Result<u64> {
        self.append_parts(&[&self.heading(tag, words), words])
    }

    /// Writes words at a place that nobody else writes to.
    pub(crate) fn write_at(&self, at: u64, words: &[u64]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let past = self.past.as_ref().filter(|_| at.is_multiple_of(PAGE as u64) && Pages::are(words));
        // What did not go past the cache, for whatever reason, goes through it.
        if past.is_some_and(|past| past.write_at(bytes, at * 8).is_ok_and(|written| written == bytes.len())) {
            return Ok(());
        }
        self.file.write_all_at(bytes, at * 8).map_err(|e| Error::spill("write", &self.path, e))
    }

    /// Reads `buffer.len()` words.
    pub(crate) fn read(&self, at: u64, buffer: &mut [u64]) -> Result<()> {
        if self.past.is_none() || buffer.len() < LONG {
            return self.read_cached(at, buffer);
        }
        self.with_pages(|pages| {
            let mut at = at;
            let mut rest = buffer;
            while !rest.is_empty() {
                let skipped = (at % PAGE as u64) as usize;
                let (some, others) = rest.split_at_mut(rest.len().min(COPIED - skipped));
                self.read_pages(at, some.len(), pages)?;
                some.copy_from_slice(&pages[skipped..skipped + some.len()]);
                (at, rest) = (at + some.len() as u64, others);
            }
            Ok(())
        })
    }

    /// Reads the pages that hold so many words at a place; the first page is the first of the buffer.
    pub(crate) fn read_pages(&self, at: u64, words: usize, pages: &mut [u64]) -> Result<()> {
        let first = at / PAGE as u64 * PAGE as u64;
        let needed = (at - first) as usize + words;
        let whole = &mut pages[..needed.next_multiple_of(PAGE)];
        let past = self.past.as_ref().filter(|_| Pages::are(whole));
        // The last page of a file may not be whole.
        if past.is_some_and(|past| past.read_at(bytemuck::cast_slice_mut(whole), first * 8).is_ok_and(|read| read >= needed * 8))
        {
            return Ok(());
        }
        self.read_cached(at, &mut pages[needed - words..needed])
    }

    fn read_cached(&self, at: u64, buffer: &mut [u64]) -> Result<()> {
        self.file.read_exact_at(bytemuck::cast_slice_mut(buffer), at * 8).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged(at, "it is cut off"),
            _ => Error::spill("read", &self.path, e),
        })
    }

    /// Reads the frame of `words` words at a place; the buffer then holds it, and nothing else.
    pub(crate) fn read_frame<'a>(&self, at: u64, tag: u32, words: usize, buffer: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        buffer.resize(HEADING + words, 0);
        self.read(at, buffer)?;
        self.verified(at, tag, buffer)
    }

    /// The words of a frame that was read from `at`, if it is what was written.
    pub(crate) fn verified<'a>(&self, at: u64, tag: u32, frame: &'a [u64]) -> Result<&'a [u64]> {
        let (heading, words) = frame.split_at(HEADING);
        if heading == self.heading(tag, words) { Ok(words) } else { Err(self.damaged(at, "it is not what was written")) }
    }

    /// The frame at a place whose length and tag are not known; `None` where no whole and sound frame is.
    pub(crate) fn next_frame<'a>(&self, at: u64, buffer: &'a mut Vec<u64>) -> Option<(u32, &'a [u64])> {
        let left = self.words().checked_sub(at + HEADING as u64)?;
        let mut heading = [0; HEADING];
        self.read(at, &mut heading).ok()?;
        let words = u64::from(heading[0] as u32);
        let tag = (heading[1] >> 32) as u32;
        if words > left || heading[0] != self.shape(words as usize) {
            return None;
        }
        self.read_frame(at, tag, words as usize, buffer).ok().map(|words| (tag, words))
    }

    /// The next place, from `at` on, where the heading of a frame of this file could stand.
    pub(crate) fn find_frame(&self, mut at: u64) -> Option<u64> {
        let mut buffer = vec![0; 1 << 16];
        // Most often it stands where the next page begins.
        let mut looked = PAGE;
        while at + (HEADING as u64) < self.words() {
            let some = looked.min((self.words() - at) as usize);
            looked = buffer.len();
            self.read(at, &mut buffer[..some]).ok()?;
            if let Some(found) = buffer[..some].iter().position(|word| word >> 48 == u64::from(self.kind)) {
                return Some(at + found as u64);
            }
            at += some as u64;
        }
        None
    }

    /// Whether long runs of it go past the cache, and are not at hand.
    pub(crate) fn is_past(&self) -> bool {
        self.past.is_some()
    }

    /// Words in the file.
    pub(crate) fn words(&self) -> u64 {
        self.end.lock().map_or(0, |end| end.words)
    }

    /// Drops what follows.
    pub(crate) fn cut(&self, at: u64) -> Result<()> {
        let mut end = self.lock_end()?;
        self.file.set_len(at * 8).map_err(|e| Error::spill("write", &self.path, e))?;
        *end = End { words: at, room: at };
        Ok(())
    }

    /// What is said of a frame that can't be believed.
    pub(crate) fn damaged(&self, at: u64, problem: &str) -> Error {
        Error::Damaged { path: self.path.display().to_string(), offset: at * 8, problem: problem.into() }
    }
}

impl Drop for SpillFile {
    /// The room of a large file is given back beside whatever comes next: it takes the system a while.
    fn drop(&mut self) {
        const LARGE: u64 = 1 << 24;
        if self.words() > LARGE
            && let Ok(last) = self.file.try_clone()
        {
            let _ = thread::Builder::new().name("free".into()).spawn(move || drop(last));
        }
    }
}

/// A file that is there, opened so that its words go past the system's cache; `None` where the system or the disk knows no such way.
fn past_cache(path: &Path) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        File::options().read(true).write(true).custom_flags(libc::O_DIRECT).open(path).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        None
    }
}

/// Numbers of 32 bits in the halves of words; the last half may be empty.
pub(crate) fn pack(numbers: &[u32]) -> Vec<u64> {
    let word = |pair: &[u32]| u64::from(pair[0]) << 32 | u64::from(pair.get(1).copied().unwrap_or(0));
    numbers.chunks(2).map(word).collect()
}

/// So many numbers from the halves of words.
pub(crate) fn unpack(words: &[u64], count: usize) -> Vec<u32> {
    words.iter().flat_map(|&word| [(word >> 32) as u32, word as u32]).take(count).collect()
}

fn checksum(shape: u64, tag: u32, words: &[u64]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&shape.to_le_bytes());
    sum.update(&tag.to_le_bytes());
    sum.update(bytemuck::cast_slice(words));
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::in_folder(folder.path().join("work"));
        let file = spill.create("sets", Way::Cached).unwrap();
        let mut frames = Vec::new();
        file.frame(7, &[1, 2, 3], &mut frames);
        file.frame(8, &[], &mut frames);
        file.append(&frames).unwrap();
        let mut buffer = Vec::new();
        assert_eq!(file.read_frame(0, 7, 3, &mut buffer).unwrap(), [1, 2, 3]);
        assert!(file.read_frame(5, 8, 0, &mut buffer).unwrap().is_empty());
        assert!(file.read_frame(0, 8, 3, &mut buffer).is_err(), "another frame");
        assert!(file.read_frame(0, 7, 2, &mut buffer).is_err(), "another length");
        assert!(file.read_frame(5, 8, 1, &mut buffer).is_err(), "beyond the end");
        for bit in 0..5 * 64 {
            frames[bit / 64] ^= 1 << (bit % 64);
            file.write_at(0, &frames).unwrap();
            let error = file.read_frame(0, 7, 3, &mut buffer).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Corrupt, "bit {bit}");
            assert!(file.next_frame(0, &mut buffer).is_none(), "bit {bit}");
            assert_eq!(file.find_frame(1), Some(5), "bit {bit}");
            frames[bit / 64] ^= 1 << (bit % 64);
        }
        let other = spill.create("pairs", Way::Cached).unwrap();
        other.append(&frames).unwrap();
        assert!(other.read_frame(0, 7, 3, &mut buffer).is_err(), "a file under another's name");
    }

    #[test]
    fn numbers_come_back_from_the_halves_of_words() {
        for count in 0..5 {
            let numbers: Vec<u32> = (0..count).map(|number| u32::MAX - number).collect();
            assert_eq!(unpack(&pack(&numbers), numbers.len()), numbers);
        }
    }

    #[test]
    fn what_an_earlier_run_left_is_found_up_to_where_it_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::in_folder(folder.path());
        assert!(spill.reopen("sets", Way::Cached).unwrap().is_none());
        let mut frames = Vec::new();
        let file = spill.create("sets", Way::Cached).unwrap();
        file.frame(1, &[10], &mut frames);
        file.frame(2, &[20, 21], &mut frames);
        file.append(&frames[..6]).unwrap();
        let file = spill.reopen("sets", Way::Cached).unwrap().unwrap();
        let mut buffer = Vec::new();
        assert_eq!(file.next_frame(0, &mut buffer), Some((1, &[10][..])));
        assert_eq!(file.next_frame(3, &mut buffer), None);
        file.cut(3).unwrap();
        assert_eq!(file.words(), 3);
    }
}
