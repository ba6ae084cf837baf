//! The feeder: the one thread that reads.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_channel::Sender;

use super::catalog::{FileKind, Listed, Portion, RowFormat};
use super::delimited::DelimitedRows;
use super::document::wanted_columns;
use super::fields::FieldRow;
use super::ingest::{Unit, Weighed};
use super::interruptible::Interruptible;
use super::keep::Keeper;
use super::lines::{LineBlock, Lines};
use super::open;
use super::resume::Done;
use super::warc::{Limits, Notice, WarcItem, WarcReader};
use crate::document::{Document, InputFile};
use crate::error::{Error, Result, SkipKind, Skipped};
use crate::exec::Exec;
use crate::plan::Plan;
use crate::run::Stage;

/// Bytes of rows that a worker takes at a time.
pub(super) const BLOCK: usize = 1 << 20;
/// The same where only a part of a file is read: so much may be read beyond it.
const SMALL_BLOCK: usize = 64 << 10;
/// Bytes that are read at a time where it matters how many it took to read a part of a file.
const SMALL_STEP: usize = 16 << 10;
/// Files, and bytes of files, that a worker takes at a time.
const FILES: usize = 64;
const FILE_BYTES: u64 = 4 << 20;

/// Rows that come from no file.
pub(super) struct Stream {
    pub(super) name: String,
    pub(super) reader: Box<dyn Read + Send>,
    pub(super) reference: bool,
}

/// Reads the inputs, in blocks that workers take.
pub(super) struct Feeder<'a> {
    pub(super) plan: &'a Plan,
    pub(super) exec: &'a Exec<'a>,
    pub(super) keeper: &'a Keeper<'a>,
    /// What an interrupted run has left.
    pub(super) done: Done,
    pub(super) units: Sender<Weighed>,
    pub(super) listed: &'a [Listed],
    /// Streams and memory, numbered after the listed files.
    pub(super) extra_files: Vec<InputFile>,
    pub(super) unread: Vec<Skipped>,
}

impl Feeder<'_> {
    /// Sends everything; an error means that the run is over.
    pub(super) fn feed(&mut self, streams: Vec<Stream>, memory: &[(Vec<Document>, bool)]) -> Result<()> {
        self.feed_files()?;
        for (file, listed) in self.listed.iter().enumerate() {
            let (file, name) = (file as u32, &listed.file.name);
            let opened = || counted(open_rows(listed, &self.exec.cancel), listed.portion);
            match listed.kind {
                FileKind::Document => (),
                FileKind::Rows(RowFormat::Jsonl) => self.feed_rows(file, name, opened())?,
                FileKind::Rows(RowFormat::Delimited(delimiter)) => self.feed_delimited(file, name, opened(), delimiter)?,
                FileKind::Rows(RowFormat::Parquet) => self.feed_parquet(file, listed)?,
                FileKind::Rows(RowFormat::Warc) => self.feed_web(file, name, opened())?,
            }
        }
        for Stream { name, reader, reference } in streams {
            let file = self.add_file(&name, reference);
            let reader = Interruptible::new(move || Ok(reader), Arc::clone(&self.exec.cancel));
            self.feed_rows(file, &name, counted(Ok(Box::new(reader)), None))?;
        }
        for side in [false, true] {
            let documents: Vec<Document> =
                memory.iter().filter(|(_, reference)| *reference == side).flat_map(|(documents, _)| documents).cloned().collect();
            let file = if documents.is_empty() { continue } else { self.add_file("", side) };
            for (sequence, documents) in documents.chunks(FILES).enumerate() {
                self.send(Unit::Memory { file, sequence: sequence as u64, documents: documents.to_vec() })?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, name: &str, reference: bool) -> u32 {
        self.extra_files.push(super::unlisted(name, reference));
        (self.listed.len() + self.extra_files.len() - 1) as u32
    }

    fn send(&self, unit: Unit) -> Result<()> {
        self.exec.check()?;
        if self.keeper.failed() {
            return Err(Error::Bug("a reading thread gave up".into()));
        }
        let weight = unit.weight(self.listed, self.keeper);
        self.keeper.take_off(weight)?;
        self.units.send((unit, weight)).map_err(|_| Error::Bug("no reading thread is left".into()))
    }

    fn feed_files(&mut self) -> Result<()> {
        let (mut unit, mut bytes) = (Vec::new(), 0);
        for (file, listed) in self.listed.iter().enumerate().filter(|(_, l)| l.kind == FileKind::Document) {
            if self.done.file(file as u32) {
                self.exec.observer.advance(Stage::Read, listed.file.bytes);
                continue;
            }
            let most = self.keeper.longest().min(self.plan.max_document_bytes);
            if listed.file.bytes > most && most < self.plan.max_document_bytes {
                return Err(self.keeper.too_large(&listed.file.name, listed.file.bytes));
            }
            unit.push(file as u32);
            bytes += listed.file.bytes;
            if unit.len() == FILES || bytes > FILE_BYTES {
                self.send(Unit::Files(std::mem::take(&mut unit)))?;
                bytes = 0;
            }
        }
        if unit.is_empty() { Ok(()) } else { self.send(Unit::Files(unit)) }
    }

    /// What is read of a file, where that is not all.
    fn portion(&self, file: u32) -> Option<Portion> {
        self.listed.get(file as usize)?.portion
    }

    fn feed_rows(&mut self, file: u32, name: &str, (counted, done): Opened) -> Result<()> {
        let longest = self.keeper.longest().min(self.plan.max_document_bytes);
        let portion = self.portion(file);
        let lines = counted.and_then(open::decompress).and_then(|reader| match portion {
            None => Ok(Lines::new(reader, BLOCK, longest)),
            Some(Portion { start: 0, .. }) => Ok(Lines::new(reader, SMALL_BLOCK, longest)),
            // A line that ends behind the portion is not its own, nor are those that follow.
            Some(Portion { start, most }) => Lines::from_within(reader, SMALL_BLOCK, longest, start - 1, most + 1),
        });
        let mut lines = match lines {
            Ok(lines) => lines,
            Err(error) => {
                self.not_read(name, &error);
                return Ok(());
            }
        };
        while portion.is_none_or(|portion| lines.offset() < portion.end()) {
            match self.next_block(file, &mut lines) {
                Ok(None) => break,
                Ok(Some(block)) if block.overlong && longest < self.plan.max_document_bytes => {
                    return Err(self.keeper.too_large(name, longest));
                }
                Ok(Some(block)) => self.send(Unit::Rows { file, block })?,
                Err(error) => {
                    self.not_read(name, &error);
                    break;
                }
            }
            self.advance(&done);
        }
        self.advance(&done);
        Ok(())
    }

    /// Tells how many more bytes were read.
    fn advance(&self, done: &AtomicU64) {
        self.exec.observer.advance(Stage::Read, done.swap(0, Ordering::Relaxed));
    }

    /// The next block that an interrupted run has not left.
    fn next_block(&self, file: u32, lines: &mut Lines) -> io::Result<Option<LineBlock>> {
        while let Some(end) = self.done.end_of(file, lines.offset()) {
            lines.skip_to(end)?;
        }
        match self.done.next_after(file, lines.offset()) {
            Some(next) => lines.next_block_until(next),
            None => lines.next_block(),
        }
    }

    fn feed_delimited(&mut self, file: u32, name: &str, (counted, done): Opened, delimiter: u8) -> Result<()> {
        let rows = counted
            .and_then(open::decompress)
            .and_then(|reader| DelimitedRows::new(reader, delimiter, &wanted_columns(&self.plan.columns), self.keeper.longest()));
        match rows {
            Ok(rows) => self.feed_fields(file, name, rows, &done),
            Err(error) => self.out_of_reach(name, &error),
        }
    }

    #[cfg(feature = "parquet")]
    fn feed_parquet(&mut self, file: u32, listed: &Listed) -> Result<()> {
        let name = &listed.file.name;
        let path = listed.file.path.as_deref().ok_or_else(|| Error::Bug("a Parquet file without a path".into()))?;
        let rows = open::open_regular(path, listed.follow).and_then(|opened| {
            super::parquet::ParquetRows::new(opened, &wanted_columns(&self.plan.columns), self.keeper.largest_page())
        });
        let (mut taken, mut all) = (0, 0);
        let fed = match rows {
            Ok(rows) => {
                all = rows.total();
                self.feed_fields(file, name, rows.inspect(|_| taken += 1), &AtomicU64::new(0))
            }
            Err(error) => {
                self.not_read(name, &error);
                Ok(())
            }
        };
        // Columns lie apart, so the share of rows stands for the share of bytes.
        let share = if listed.portion.is_some() && taken < all { taken as f64 / all as f64 } else { 1.0 };
        self.exec.observer.advance(Stage::Read, (listed.file.bytes as f64 * share) as u64);
        fed
    }

    #[cfg(not(feature = "parquet"))]
    fn feed_parquet(&mut self, _file: u32, listed: &Listed) -> Result<()> {
        self.not_read(&listed.file.name, &io::Error::other("built without the feature 'parquet'"));
        Ok(())
    }

    fn feed_web(&mut self, file: u32, name: &str, (counted, done): Opened) -> Result<()> {
        let longest = self.keeper.longest().min(self.plan.max_document_bytes);
        let limits = Limits { record_bytes: longest, body_bytes: longest };
        let reader = match counted {
            Ok(reader) => WarcReader::new(Box::new(io::BufReader::with_capacity(BLOCK, reader)), limits),
            Err(error) => {
                self.not_read(name, &error);
                return Ok(());
            }
        };
        let mut notices = Vec::new();
        let short = longest < self.plan.max_document_bytes;
        let pages = reader.filter_map(|item| match item {
            Ok(WarcItem::Content(record)) => Some(Ok(record)),
            // A page that was found unchanged is another name of one that was stored before.
            Ok(WarcItem::Alias(_)) => None,
            Ok(WarcItem::Flagged(notice)) => {
                notices.push((SkipKind::Flagged, notice));
                None
            }
            Ok(WarcItem::Skipped(notice)) if short && notice.reason == "too_large" => {
                Some(Err(io::ErrorKind::OutOfMemory.into()))
            }
            Ok(WarcItem::Skipped(notice)) => {
                notices.push((SkipKind::Skipped, notice));
                None
            }
            Err(error) => Some(Err(error)),
        });
        let unit = |sequence, records| Unit::Web { file, sequence, records };
        let fed = self.feed_units(file, name, pages, |record| record.body.len(), unit, &done);
        notices.into_iter().for_each(|(kind, notice)| self.notice(kind, name, notice));
        fed
    }

    fn notice(&mut self, kind: SkipKind, name: &str, notice: Notice) {
        let input = notice.number.map_or_else(|| format!("{name}@{}", notice.offset), |number| format!("{name}:{number}"));
        self.unread.push(Skipped { kind, input, stage: Stage::Read, reason: notice.reason.into(), detail: notice.detail });
    }

    /// Sends items in units of about a block; an error ends the file, what came before it stands.
    fn feed_units<T>(
        &mut self,
        file: u32,
        name: &str,
        items: impl Iterator<Item = io::Result<T>>,
        bytes_of: impl Fn(&T) -> usize,
        unit_of: impl Fn(u64, Vec<T>) -> Unit,
        done: &AtomicU64,
    ) -> Result<()> {
        let (mut unit, mut bytes, mut sequence) = (Vec::new(), 0, 0);
        let mut left = self.portion(file).map_or(u64::MAX, |portion| portion.most);
        for item in items {
            match item {
                Ok(item) => {
                    let size = bytes_of(&item);
                    if size as u64 > self.keeper.longest() && size as u64 <= self.plan.max_document_bytes {
                        return Err(self.keeper.too_large(name, size as u64));
                    }
                    bytes += size;
                    unit.push(item);
                }
                Err(error) => {
                    self.out_of_reach(name, &error)?;
                    break;
                }
            }
            if bytes > BLOCK {
                if self.done.end_of(file, sequence).is_some() {
                    unit.clear();
                } else {
                    self.send(unit_of(sequence, std::mem::take(&mut unit)))?;
                }
                self.advance(done);
                left = left.saturating_sub(bytes as u64);
                (bytes, sequence) = (0, sequence + 1);
                if left == 0 {
                    break;
                }
            }
        }
        self.advance(done);
        if self.done.end_of(file, sequence).is_some() { Ok(()) } else { self.send(unit_of(sequence, unit)) }
    }

    fn feed_fields(
        &mut self,
        file: u32,
        name: &str,
        rows: impl Iterator<Item = io::Result<FieldRow>>,
        done: &AtomicU64,
    ) -> Result<()> {
        self.feed_units(file, name, rows, FieldRow::bytes, |sequence, rows| Unit::Fields { file, sequence, rows }, done)
    }

    /// The rest of a file is out of reach. If more memory would help, the run is over.
    fn out_of_reach(&mut self, name: &str, error: &io::Error) -> Result<()> {
        let short = self.keeper.longest() < self.plan.max_document_bytes;
        if error.kind() == io::ErrorKind::OutOfMemory && short {
            return Err(self.keeper.too_large(name, self.keeper.longest()));
        }
        self.not_read(name, error);
        Ok(())
    }

    /// The rest of a file is out of reach; what came before it stands.
    fn not_read(&mut self, name: &str, error: &io::Error) {
        let reason = match error.kind() {
            io::ErrorKind::UnexpectedEof => "truncated",
            io::ErrorKind::InvalidInput => "missing_text",
            io::ErrorKind::InvalidData => "damaged",
            _ => "unreadable",
        };
        self.unread.push(Skipped {
            kind: SkipKind::Skipped,
            input: name.into(),
            stage: Stage::Read,
            reason: reason.into(),
            detail: error.to_string(),
        });
    }
}

/// A pipe named on the command line is waited for; anything else must be a regular file.
fn open_rows(listed: &Listed, cancel: &Arc<AtomicBool>) -> io::Result<Box<dyn Read + Send>> {
    let path = listed.file.path.clone().ok_or(io::ErrorKind::NotFound)?;
    if listed.follow && !path.is_file() {
        let open = move || File::open(&path).map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        return Ok(Box::new(Interruptible::new(open, Arc::clone(cancel))));
    }
    let mut file = open::open_regular(&path, listed.follow)?;
    if let Some(Portion { start: start @ 1.., .. }) = listed.portion {
        // The byte before tells whether a line begins here.
        file.seek(SeekFrom::Start(start - 1))?;
    }
    Ok(Box::new(file))
}

/// A file, and how many bytes of it were read.
type Opened = (io::Result<Box<dyn Read + Send>>, Arc<AtomicU64>);

fn counted(opened: io::Result<Box<dyn Read + Send>>, portion: Option<Portion>) -> Opened {
    let done = Arc::new(AtomicU64::new(0));
    let step = if portion.is_some() { SMALL_STEP } else { usize::MAX };
    let counted = opened.map(|inner| Box::new(Counted { inner, done: Arc::clone(&done), step }) as Box<dyn Read + Send>);
    (counted, done)
}

/// Counts the bytes that pass.
struct Counted {
    inner: Box<dyn Read + Send>,
    done: Arc<AtomicU64>,
    /// Most that pass at a time.
    step: usize,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let step = buffer.len().min(self.step);
        let read = self.inner.read(&mut buffer[..step])?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
