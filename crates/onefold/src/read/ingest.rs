//! The one pass over the bytes: a feeder reads, workers take documents through stages 2–4.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::assemble::assemble;
use super::catalog::{Catalog, FileKind, Listed};
use super::document::{Raw, Refusal, Workbench};
use super::lines::{LineBlock, Lines};
use super::{Input, Source, open};
use crate::document::{Collection, Document, InputFile};
use crate::error::{Error, Result, SkipKind, Skipped};
use crate::exec::Exec;
use crate::plan::Plan;
use crate::run::Stage;

/// Bytes of JSONL that a worker takes at a time.
const BLOCK: usize = 1 << 20;
/// Files, and bytes of files, that a worker takes at a time.
const FILES: usize = 64;
const FILE_BYTES: u64 = 4 << 20;

/// What a worker takes.
enum Unit {
    Rows { file: u32, sequence: u64, block: LineBlock },
    Files(Vec<u32>),
    Memory { file: u32, sequence: u64, documents: Vec<Document> },
}

/// What a worker gives back for a unit.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) file: u32,
    pub(super) sequence: u64,
    /// Lines in the unit, to number those that follow.
    pub(super) lines: u64,
    pub(super) documents: Vec<Raw>,
    pub(super) refused: Vec<(u32, Option<u64>, Refusal)>,
    pub(super) arena: Vec<u64>,
}

/// Reads everything into a collection.
pub fn ingest(plan: &Plan, exec: &Exec<'_>, source: Source) -> Result<Collection> {
    let mut catalog = Catalog::new(plan.follow);
    let mut streams = Vec::new();
    let mut memory = Vec::new();
    for input in source {
        match input {
            Input::Path(path) => catalog.add(&path)?,
            Input::Stream { name, reader } => streams.push((name, reader)),
            Input::Documents(documents) => memory.extend(documents),
        }
    }
    let (listed, mut skipped) = catalog.finish();
    let total: u64 = listed.iter().map(|l| l.file.bytes).sum();
    exec.observer.begin(Stage::Read, (streams.is_empty() && total > 0).then_some(total));
    let (batches, files, unread) = std::thread::scope(|scope| {
        let (send_unit, units) = bounded::<Unit>(exec.threads * 2);
        let listed = &listed;
        let workers: Vec<_> =
            (0..exec.threads).map(|_| units.clone()).map(|units| scope.spawn(move || work(plan, exec, listed, &units))).collect();
        drop(units);
        let mut feeder = Feeder { plan, exec, units: send_unit, extra_files: Vec::new(), listed, unread: Vec::new() };
        let fed = feeder.feed(streams, memory);
        let Feeder { extra_files, unread, units, .. } = feeder;
        drop(units);
        let batches = workers.into_iter().map(|w| w.join().map_err(|_| Error::Bug("a reading thread failed".into())));
        let batches = batches.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect::<Vec<_>>();
        fed.map(|()| (batches, extra_files, unread))
    })?;
    exec.observer.end(Stage::Read);
    exec.check()?;
    skipped.extend(unread);
    let files = listed.into_iter().map(|l| l.file).chain(files).collect();
    Ok(assemble(batches, files, skipped))
}

struct Feeder<'a> {
    plan: &'a Plan,
    exec: &'a Exec<'a>,
    units: Sender<Unit>,
    listed: &'a [Listed],
    /// Streams and memory, numbered after the listed files.
    extra_files: Vec<InputFile>,
    unread: Vec<Skipped>,
}

impl Feeder<'_> {
    fn feed(&mut self, streams: Vec<(String, Box<dyn Read + Send>)>, memory: Vec<Document>) -> Result<()> {
        self.feed_files()?;
        for (file, listed) in self.listed.iter().enumerate().filter(|(_, l)| l.kind == FileKind::Rows) {
            let opened = open_rows(listed);
            self.feed_rows(file as u32, &listed.file.name, opened)?;
        }
        for (name, reader) in streams {
            let file = self.add_file(&name);
            self.feed_rows(file, &name, Ok(reader))?;
        }
        if !memory.is_empty() {
            let file = self.add_file("");
            for (sequence, documents) in memory.chunks(FILES).enumerate() {
                self.send(Unit::Memory { file, sequence: sequence as u64, documents: documents.to_vec() })?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, name: &str) -> u32 {
        self.extra_files.push(InputFile { name: name.into(), path: None, aliases: Vec::new(), argument: name.into(), bytes: 0 });
        (self.listed.len() + self.extra_files.len() - 1) as u32
    }

    fn send(&self, unit: Unit) -> Result<()> {
        self.exec.check()?;
        self.units.send(unit).map_err(|_| Error::Bug("no reading thread is left".into()))
    }

    fn feed_files(&mut self) -> Result<()> {
        let (mut unit, mut bytes) = (Vec::new(), 0);
        for (file, listed) in self.listed.iter().enumerate().filter(|(_, l)| l.kind == FileKind::Document) {
            unit.push(file as u32);
            bytes += listed.file.bytes;
            if unit.len() == FILES || bytes > FILE_BYTES {
                self.send(Unit::Files(std::mem::take(&mut unit)))?;
                bytes = 0;
            }
        }
        if unit.is_empty() { Ok(()) } else { self.send(Unit::Files(unit)) }
    }

    fn feed_rows(&mut self, file: u32, name: &str, opened: io::Result<Box<dyn Read + Send>>) -> Result<()> {
        let done = Arc::new(AtomicU64::new(0));
        let counted = opened.map(|inner| Box::new(Counted { inner, done: Arc::clone(&done) }) as Box<dyn Read + Send>);
        let mut lines = match counted.and_then(open::decompress) {
            Ok(reader) => Lines::new(reader, BLOCK, self.plan.max_document_bytes),
            Err(error) => {
                self.not_read(name, &error);
                return Ok(());
            }
        };
        for sequence in 0.. {
            match lines.next_block() {
                Ok(None) => break,
                Ok(Some(block)) => self.send(Unit::Rows { file, sequence, block })?,
                Err(error) => {
                    self.not_read(name, &error);
                    break;
                }
            }
            self.exec.observer.advance(Stage::Read, done.swap(0, Ordering::Relaxed));
        }
        Ok(())
    }

    /// The rest of a file is out of reach; what came before it stands.
    fn not_read(&mut self, name: &str, error: &io::Error) {
        let reason = if error.kind() == io::ErrorKind::UnexpectedEof { "truncated" } else { "unreadable" };
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
fn open_rows(listed: &Listed) -> io::Result<Box<dyn Read + Send>> {
    let path = listed.file.path.as_deref().ok_or(io::ErrorKind::NotFound)?;
    if listed.follow && !path.is_file() {
        return Ok(Box::new(File::open(path)?));
    }
    Ok(Box::new(open::open_regular(path, listed.follow)?))
}

/// Counts the bytes that pass.
struct Counted {
    inner: Box<dyn Read + Send>,
    done: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

fn work(plan: &Plan, exec: &Exec<'_>, listed: &[Listed], units: &Receiver<Unit>) -> Vec<Batch> {
    let mut workbench = Workbench::new(plan);
    let mut batches = Vec::new();
    for unit in units {
        // After a cancellation the channel is only emptied, so that the feeder does not wait.
        if exec.check().is_ok() {
            batches.push(work_on(unit, plan, exec, listed, &mut workbench));
        }
    }
    batches
}

fn work_on(unit: Unit, plan: &Plan, exec: &Exec<'_>, listed: &[Listed], workbench: &mut Workbench<'_>) -> Batch {
    let mut batch = match unit {
        Unit::Rows { file, sequence, block } => rows(file, sequence, &block, plan, workbench),
        Unit::Files(files) => whole_files(&files, plan, exec, listed, workbench),
        Unit::Memory { file, sequence, documents } => in_memory(file, sequence, documents, workbench),
    };
    batch.arena = std::mem::take(&mut workbench.arena);
    batch.arena.shrink_to_fit();
    batch
}

fn rows(file: u32, sequence: u64, block: &LineBlock, plan: &Plan, workbench: &mut Workbench<'_>) -> Batch {
    let mut batch = Batch { file, sequence, ..Batch::default() };
    let mut offset = 0;
    while offset < block.bytes.len() {
        let end = memchr::memchr(b'\n', &block.bytes[offset..]).map_or(block.bytes.len(), |end| offset + end + 1);
        let row = trim_row(&block.bytes[offset..end], block.offset + offset as u64 == 0);
        let line = batch.lines;
        batch.lines += 1;
        let start = block.offset + offset as u64;
        offset = end;
        if row.is_empty() {
            continue;
        }
        let too_large = block.overlong || row.len() as u64 > plan.max_document_bytes;
        let taken = if too_large { Err(too_large_row(plan)) } else { workbench.row(file, row) };
        match taken {
            Ok(raw) => batch.documents.push(Raw { line: Some(line), offset: start, ..raw }),
            Err(refusal) => batch.refused.push((file, Some(line), refusal)),
        }
    }
    batch
}

fn too_large_row(plan: &Plan) -> Refusal {
    Refusal::new(Stage::Read, "too_large", format!("more than {} bytes", plan.max_document_bytes))
}

fn trim_row(row: &[u8], first: bool) -> &[u8] {
    let row = if first { row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row) } else { row };
    row.trim_ascii()
}

fn whole_files(files: &[u32], plan: &Plan, exec: &Exec<'_>, listed: &[Listed], workbench: &mut Workbench<'_>) -> Batch {
    let mut batch = Batch { file: files.first().copied().unwrap_or(0), ..Batch::default() };
    for &file in files {
        let entry = &listed[file as usize];
        let taken = read_whole(entry, plan).and_then(|bytes| workbench.file(file, &entry.file.name, &bytes));
        match taken {
            Ok(raw) => batch.documents.push(raw),
            Err(refusal) => batch.refused.push((file, None, refusal)),
        }
        exec.observer.advance(Stage::Read, entry.file.bytes);
    }
    batch
}

fn read_whole(entry: &Listed, plan: &Plan) -> std::result::Result<Vec<u8>, Refusal> {
    let path = entry.file.path.as_deref().ok_or_else(|| Refusal::new(Stage::Read, "unreadable", ""))?;
    let mut bytes = Vec::with_capacity(entry.file.bytes.min(plan.max_document_bytes) as usize + 1);
    let read =
        open::open_regular(path, entry.follow).and_then(|file| file.take(plan.max_document_bytes + 1).read_to_end(&mut bytes));
    match read {
        Err(error) => Err(Refusal::new(Stage::Read, "unreadable", error.to_string())),
        Ok(count) if count as u64 > plan.max_document_bytes => Err(too_large_row(plan)),
        Ok(_) => Ok(bytes),
    }
}

fn in_memory(file: u32, sequence: u64, documents: Vec<Document>, workbench: &mut Workbench<'_>) -> Batch {
    let mut batch = Batch { file, sequence, lines: documents.len() as u64, ..Batch::default() };
    for (line, document) in documents.into_iter().enumerate() {
        let raw = workbench.memory(file, document);
        batch.documents.push(Raw { line: Some(line as u64), ..raw });
    }
    batch
}
