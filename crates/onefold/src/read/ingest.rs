//! The one pass over the bytes: a feeder reads, workers take documents through stages 2–4.

use std::io::Read;

use crossbeam_channel::{Receiver, bounded};

use super::assemble::assemble;
use super::catalog::{Catalog, Listed};
use super::document::{Raw, Refusal, Workbench};
use super::feed::{Feeder, Stream};
use super::fields::FieldRow;
use super::lines::LineBlock;
use super::warc::ContentRecord;
use super::{Input, Source, open};
use crate::document::{Collection, Document};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::plan::Plan;
use crate::report::Sink;
use crate::run::Stage;

/// What a worker takes.
pub(super) enum Unit {
    Rows { file: u32, sequence: u64, block: LineBlock },
    Fields { file: u32, sequence: u64, rows: Vec<FieldRow> },
    Web { file: u32, sequence: u64, records: Vec<ContentRecord> },
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

/// Reads everything into a collection. The sink's own folders, where results will be, are not part of it; the sink may refuse the
/// inputs before any of them is read.
pub fn ingest(plan: &Plan, exec: &Exec<'_>, source: Source, sink: &dyn Sink) -> Result<Collection> {
    let has_reference = !source.against.is_empty();
    let mut catalog = Catalog::new(plan, &sink.own_folders());
    let mut streams = Vec::new();
    let mut memory = Vec::new();
    for (inputs, reference) in [(source.inputs, false), (source.against, true)] {
        for input in inputs {
            match input {
                Input::Path(path) => catalog.add(&path, reference)?,
                Input::Stream { name, reader } => streams.push(Stream { name, reader, reference }),
                Input::Documents(documents) => memory.push((documents, reference)),
            }
        }
    }
    let (listed, mut skipped) = catalog.finish();
    let passing = streams.iter().filter(|stream| !stream.reference).map(|stream| stream.name.as_str());
    let passing = passing.chain(memory.iter().any(|(_, reference)| !reference).then_some(""));
    let files = listed.iter().map(|l| &l.file).filter(|file| !file.reference).cloned();
    sink.review(&files.chain(passing.map(|name| super::unlisted(name, false))).collect::<Vec<_>>())?;
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
    let mut collection = assemble(batches, files, skipped);
    let inputs = collection.inputs();
    collection.reference_documents = has_reference.then_some((collection.documents.len() - inputs) as u64);
    Ok(collection)
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
        Unit::Fields { file, sequence, rows } => field_rows(file, sequence, rows, plan, workbench),
        Unit::Web { file, sequence, records } => web_records(file, sequence, records, workbench),
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
        // Of an overlong line only the beginning is here, which may be blank.
        if row.is_empty() && !block.overlong {
            continue;
        }
        let too_large = block.overlong || row.len() as u64 > plan.max_document_bytes;
        let taken = if too_large { Err(too_large_row(plan)) } else { workbench.json_row(file, row) };
        match taken {
            Ok(raw) => batch.documents.push(Raw { line: Some(line), offset: start, ..raw }),
            Err(refusal) => batch.refused.push((file, Some(line), refusal)),
        }
    }
    batch
}

fn field_rows(file: u32, sequence: u64, rows: Vec<FieldRow>, plan: &Plan, workbench: &mut Workbench<'_>) -> Batch {
    let mut batch = Batch { file, sequence, lines: rows.len() as u64, ..Batch::default() };
    for (line, row) in rows.into_iter().enumerate() {
        let line = Some(line as u64);
        let too_large = row.bytes() as u64 > plan.max_document_bytes;
        let taken = if too_large { Err(too_large_row(plan)) } else { workbench.row(file, row.values, row.flags) };
        match taken {
            Ok(raw) => batch.documents.push(Raw { line, offset: row.offset, ..raw }),
            Err(refusal) => batch.refused.push((file, line, refusal)),
        }
    }
    batch
}

fn web_records(file: u32, sequence: u64, records: Vec<ContentRecord>, workbench: &mut Workbench<'_>) -> Batch {
    // Records carry their own numbers, so none are counted here.
    let mut batch = Batch { file, sequence, ..Batch::default() };
    for record in records {
        let (line, offset) = (Some(record.place.number - 1), record.place.offset);
        match workbench.web(file, record) {
            Ok(raw) => batch.documents.push(Raw { line, offset, ..raw }),
            Err(refusal) => batch.refused.push((file, line, refusal)),
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
    let mut bytes = Vec::with_capacity(entry.file.bytes.min(plan.max_document_bytes) as usize);
    let read = open::open_regular(path, entry.follow)
        .and_then(|file| file.take(plan.max_document_bytes.saturating_add(1)).read_to_end(&mut bytes));
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
