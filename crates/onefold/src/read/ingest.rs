//! The one pass over the bytes: a feeder reads, workers take documents through stages 2–4.

use std::io::Read;
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, bounded};

use super::assemble::assemble;
use super::catalog::{Catalog, Listed};
use super::count::common_words;
use super::document::{Raw, Refusal, Refused, Workbench};
use super::feed::{Feeder, Stream};
use super::fields::FieldRow;
use super::keep::{About, Batch, Foreseen, Keeper};
use super::lines::LineBlock;
use super::resume::{AllRead, Done, Journal, Left};
use super::warc::ContentRecord;
use super::{Input, Source, open, sample};
use crate::document::{Collection, Counted, Document, InputFile, WordCounts};
use crate::error::{Error, Result, Skipped};
use crate::exec::{Exec, SpillFile, Way, give_back};
use crate::join::Taking;
use crate::normalize::CommonWords;
use crate::plan::Plan;
use crate::report::Sink;
use crate::run::Stage;
use crate::shingle::Collisions;

/// What a worker takes.
pub(super) enum Unit {
    Rows { file: u32, block: LineBlock },
    Fields { file: u32, sequence: u64, rows: Vec<FieldRow> },
    Web { file: u32, sequence: u64, records: Vec<ContentRecord> },
    Files(Vec<u32>),
    Memory { file: u32, sequence: u64, documents: Vec<Document> },
}

impl Unit {
    /// The memory that it takes to work on it.
    pub(super) fn weight(&self, listed: &[Listed], keeper: &Keeper<'_>) -> u64 {
        match self {
            Unit::Rows { block, .. } => keeper.weigh(block.bytes.len() as u64, [&*block.bytes].into_iter()),
            Unit::Fields { rows, .. } => {
                let bytes = rows.iter().map(|row| row.bytes() as u64).sum();
                keeper.weigh(bytes, rows.iter().flat_map(FieldRow::texts))
            }
            Unit::Web { records, .. } => {
                let bytes = records.iter().map(|record| record.body.len() as u64).sum();
                keeper.weigh(bytes, records.iter().map(|record| record.body.as_slice()))
            }
            Unit::Memory { documents, .. } => {
                let bytes = documents.iter().map(|document| document.text.len() as u64).sum();
                keeper.weigh(bytes, documents.iter().map(|document| document.text.as_bytes()))
            }
            // Their worker opens them.
            Unit::Files(files) => keeper.weigh_unseen(files.iter().map(|&file| listed[file as usize].file.bytes).sum()),
        }
    }
}

/// A unit and its weight.
pub(super) type Weighed = (Unit, u64);

/// Reads everything into a collection. The sink's own folders, where results will be, are not part of it; the sink may refuse the
/// inputs before any of them is read.
pub fn ingest(plan: &Plan, exec: &Exec<'_>, source: Source, sink: &dyn Sink) -> Result<Collection> {
    let has_reference = !source.against.is_empty();
    let Listing { listed, mut skipped, streams, memory } = list(plan, exec, source, sink)?;
    let passing = streams.iter().filter(|stream| !stream.reference).map(|stream| stream.name.as_str());
    let passing = passing.chain(memory.iter().any(|(_, reference)| !reference).then_some(""));
    let files = listed.iter().map(|l| &l.file).filter(|file| !file.reference).cloned();
    sink.review(&files.chain(passing.map(|name| super::unlisted(name, false))).collect::<Vec<_>>())?;
    if plan.min_idf.is_some() {
        let passing = streams.iter().map(|stream| super::unlisted(&stream.name, stream.reference));
        let once = listed.iter().map(|listed| listed.file.clone()).filter(|file| file.again.is_none()).chain(passing).next();
        once.map_or(Ok(()), |file| Err(file.read_once("count the words of")))?;
    }
    let total: u64 = listed.iter().map(|l| l.file.bytes).sum();
    let journal = Journal::new(plan, &listed, &streams)?;
    let read_once = !streams.is_empty() || !memory.is_empty() || listed.iter().any(|listed| listed.file.again.is_none());
    let way = if plan.looks_at_sets_in_order() { Way::Past } else { Way::Cached };
    let keeper = Keeper::new(plan, exec, journal, way, read_once);
    keeper.count_files(listed.iter().map(|listed| listed.file.memory()).sum())?;
    let left = Left::find(exec, keeper.journal(), way, &listed, |weight| keeper.count(weight))?;
    let common = match plan.min_idf.filter(|_| left.all_read.is_none()) {
        Some(min_idf) => Some(Arc::new(common_words(plan, exec, &listed, &memory, min_idf)?)),
        None => None,
    };
    exec.observer.begin(Stage::Read, (streams.is_empty() && total > 0).then_some(total));
    let read = match left.all_read {
        Some(note) => {
            let files = note.unlisted.iter().map(|(name, reference)| super::unlisted(name, *reference)).collect();
            AllBatches {
                batches: left.batches,
                spilled: left.file,
                taking: None,
                files,
                unread: note.unread,
                counted: note.counted,
            }
        }
        None => {
            let foreseen = foresee(plan, exec, &listed)?;
            let inputs = Inputs { listed: &listed, streams, memory: &memory };
            read_batches(plan, exec, inputs, common.as_ref(), keeper.foreseeing(foreseen)?, left)?
        }
    };
    exec.observer.end(Stage::Read);
    skipped.extend(read.unread);
    let files = listed.into_iter().map(|l| l.file).chain(read.files).collect();
    let counted = read.counted;
    let mut collection = assemble(exec, read.batches, read.spilled, read.taking, files, skipped)?;
    let inputs = collection.inputs();
    collection.reference_documents = has_reference.then_some((collection.documents.len() - inputs) as u64);
    collection.counted = counted;
    Ok(collection)
}

/// What is known before anything is read, if there is so much of it that sets will go to disk.
fn foresee(plan: &Plan, exec: &Exec<'_>, listed: &[Listed]) -> Result<Option<Foreseen>> {
    /// Sets take about as many bytes as the text; most of them should go to disk.
    const MOST: u64 = 2;
    let bytes: u64 = listed.iter().map(|listed| listed.file.bytes).sum();
    let can_be_held =
        exec.spill.is_none() || exec.memory.limit().map_or(!exec.memory.is_tight(), |limit| bytes < limit / 3 * MOST);
    if can_be_held || !plan.looks_at_sets_in_order() || plan.min_idf.is_some() {
        return Ok(None);
    }
    sample::foresee(plan, exec, listed).map(Some)
}

/// What there is to be read.
pub(super) struct Listing {
    pub(super) listed: Vec<Listed>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) streams: Vec<Stream>,
    /// Documents in memory, and whether they are of the reference.
    pub(super) memory: Vec<(Vec<Document>, bool)>,
}

/// Finds the files of a source.
pub(super) fn list(plan: &Plan, exec: &Exec<'_>, source: Source, sink: &dyn Sink) -> Result<Listing> {
    let own_folders = sink.own_folders().into_iter().chain(exec.spill.iter().map(|spill| spill.folder().to_path_buf()));
    let mut catalog = Catalog::new(plan, &own_folders.collect::<Vec<_>>());
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
    let (listed, skipped) = catalog.finish();
    Ok(Listing { listed, skipped, streams, memory })
}

/// The same, to be read.
pub(super) struct Inputs<'a> {
    pub(super) listed: &'a [Listed],
    pub(super) streams: Vec<Stream>,
    pub(super) memory: &'a [(Vec<Document>, bool)],
}

/// All that was read.
pub(super) struct AllBatches {
    pub(super) batches: Vec<Batch>,
    spilled: Option<Arc<SpillFile>>,
    taking: Option<Taking>,
    /// Streams and memory, numbered after the listed files.
    files: Vec<InputFile>,
    pub(super) unread: Vec<Skipped>,
    counted: Counted,
}

/// Reads what an interrupted run has not left.
pub(super) fn read_batches(
    plan: &Plan,
    exec: &Exec<'_>,
    Inputs { listed, streams, memory }: Inputs<'_>,
    common: Option<&Arc<CommonWords>>,
    keeper: Keeper<'_>,
    left: Left,
) -> Result<AllBatches> {
    let done = left.done;
    keeper.go_on_with(left.file);
    let reading = Reading { plan, exec, listed, keeper: &keeper };
    let spare = Mutex::new(Vec::new());
    let (worked, fed) = reading.share_out(streams, memory, done, |units| work(&reading, common, &spare, units))?;
    let (batches, collisions): (Vec<Vec<Batch>>, Vec<Option<Collisions>>) = worked.into_iter().unzip();
    let mut batches = batches.into_iter().flatten().collect::<Vec<Batch>>();
    // Of what an earlier run has read only its hashes of few bits are left.
    let collisions = collisions.into_iter().flatten().reduce(Collisions::and).filter(|_| left.batches.is_empty());
    if exec.check().is_err() && exec.spill.is_some() {
        keeper.spill_on_interrupt(&mut batches)?;
    }
    let (files, unread) = fed?;
    exec.check()?;
    batches.extend(left.batches);
    let counted = Counted { words: common.map(|common| WordCounts::of(common)), collisions: collisions.map(|all| all.counts()) };
    if let Some(spill) = exec.spill.as_ref().filter(|_| keeper.lets_go()) {
        keeper.spill(&mut batches)?;
        let unlisted = files.iter().map(|file| (file.name.clone(), file.reference)).collect();
        AllRead { batches: batches.len(), unlisted, unread: unread.clone(), counted }.note(spill)?;
    }
    let (spilled, taking) = keeper.into_parts();
    spilled.as_ref().map_or(Ok(()), |file| file.close())?;
    Ok(AllBatches { batches, spilled, taking, files, unread, counted })
}

/// What all threads of a pass over the bytes look at.
pub(super) struct Reading<'a> {
    pub(super) plan: &'a Plan,
    pub(super) exec: &'a Exec<'a>,
    pub(super) listed: &'a [Listed],
    pub(super) keeper: &'a Keeper<'a>,
}

/// Streams and memory, numbered after the listed files; and what could not be read.
type Fed = (Vec<InputFile>, Vec<Skipped>);

impl Reading<'_> {
    /// Reads everything that is not done, in units that workers take; returns what became of each worker, and what the feeder has seen.
    pub(super) fn share_out<T: Send>(
        &self,
        streams: Vec<Stream>,
        memory: &[(Vec<Document>, bool)],
        done: Done,
        work: impl Fn(&Receiver<Weighed>) -> Result<T> + Sync,
    ) -> Result<(Vec<T>, Result<Fed>)> {
        let &Reading { plan, exec, listed, keeper } = self;
        std::thread::scope(|scope| {
            let (send_unit, units) = bounded::<Weighed>(exec.threads * 2);
            let work = &work;
            let start = |units: Receiver<Weighed>| scope.spawn(move || work(&units));
            let workers: Vec<_> = (0..keeper.workers()).map(|_| start(units.clone())).collect();
            drop(units);
            let mut feeder =
                Feeder { plan, exec, keeper, done, units: send_unit, extra_files: Vec::new(), listed, unread: Vec::new() };
            let fed = feeder.feed(streams, memory);
            let Feeder { extra_files, unread, units, .. } = feeder;
            drop(units);
            let failed = |_| Err(Error::Bug("a reading thread failed".into()));
            // A worker's own words come before the feeder's, which only says that nobody takes its units.
            let results = workers.into_iter().map(|worker| worker.join().unwrap_or_else(failed)).collect::<Result<Vec<T>>>()?;
            Ok((results, fed.map(|()| (extra_files, unread))))
        })
    }

    /// Takes units, each with its weight, until there are no more. Once the run is over the rest is taken and dropped, so that the feeder never waits.
    pub(super) fn each_unit(&self, units: &Receiver<Weighed>, mut take: impl FnMut(Unit, u64) -> Result<()>) -> Result<()> {
        let mut result = Ok(());
        for (unit, weight) in units {
            let _landing = self.keeper.landing(weight);
            if result.is_ok() && !self.keeper.failed() && self.exec.check().is_ok() {
                result = take(unit, weight);
                if result.is_err() {
                    self.keeper.fail();
                }
            }
        }
        result
    }

    /// An error if a document was too much for the memory there is.
    pub(super) fn check_weight(&self, workbench: &Workbench<'_>) -> Result<()> {
        let Some((file, bytes)) = workbench.too_heavy else { return Ok(()) };
        let name = self.listed.get(file as usize).map_or("a stream", |listed| &listed.file.name);
        Err(self.keeper.too_large(name, bytes))
    }

    /// Takes the documents of a unit through stages 2–4.
    pub(super) fn work_on(&self, unit: Unit, workbench: &mut Workbench<'_>) -> About {
        let &Reading { plan, exec, listed, .. } = self;
        match unit {
            Unit::Rows { file, block } => rows(file, &block, plan, workbench),
            Unit::Fields { file, sequence, rows } => field_rows(file, sequence, rows, plan, workbench),
            Unit::Web { file, sequence, records } => web_records(file, sequence, records, workbench),
            Unit::Files(files) => whole_files(&files, plan, exec, listed, workbench),
            Unit::Memory { file, sequence, documents } => in_memory(file, sequence, documents, workbench),
        }
    }
}

/// What a worker has done.
type Worked = (Vec<Batch>, Option<Collisions>);

/// Large documents are rare: workers share the benches for them, the `spare` ones, so that memory for them is seldom taken.
fn work<'p>(
    reading: &Reading<'p>,
    common: Option<&Arc<CommonWords>>,
    spare: &Mutex<Vec<Workbench<'p>>>,
    units: &Receiver<Weighed>,
) -> Result<Worked> {
    let &Reading { plan, exec, keeper, .. } = reading;
    let spare = || spare.lock().map_err(|_| Error::Bug("a reading thread failed".into()));
    let bench = || Workbench::new(plan, common, keeper.most_work(), exec.keep_texts);
    let mut workbench = bench();
    let mut batches: Vec<Batch> = Vec::new();
    // Whether all that was in memory is on disk.
    let mut gone = false;
    reading.each_unit(units, |unit, weight| {
        let own = if keeper.is_large(weight) { Some(workbench.replace(spare()?.pop().unwrap_or_else(bench))) } else { None };
        let about = reading.work_on(unit, &mut workbench);
        reading.check_weight(&workbench)?;
        batches.push(keeper.keep(about, &mut workbench.arena)?);
        if let Some(own) = own {
            put_back(&mut *spare()?, workbench.replace(own), keeper);
        } else if keeper.is_heavy(workbench.bytes()) {
            workbench.replace(bench());
            give_back();
        }
        if !gone && keeper.lets_go() {
            keeper.spill(&mut batches)?;
            gone = true;
        }
        Ok(())
    })?;
    Ok((batches, workbench.take_collisions()))
}

/// Puts a bench among the spare ones, the largest last. Those for which there is no room go, the largest first if it alone is too large.
fn put_back<'p>(spare: &mut Vec<Workbench<'p>>, bench: Workbench<'p>, keeper: &Keeper<'_>) {
    let place = spare.partition_point(|other| other.bytes() <= bench.bytes());
    spare.insert(place, bench);
    let before = spare.len();
    spare.pop_if(|largest| keeper.is_too_large(largest.bytes()));
    while keeper.is_too_large(spare.iter().map(Workbench::bytes).sum()) {
        spare.remove(0);
    }
    if spare.len() < before {
        give_back();
    }
}

fn rows(file: u32, block: &LineBlock, plan: &Plan, workbench: &mut Workbench<'_>) -> About {
    let mut about = About::new(file, block.offset, block.end);
    let mut offset = 0;
    while offset < block.bytes.len() {
        let end = memchr::memchr(b'\n', &block.bytes[offset..]).map_or(block.bytes.len(), |end| offset + end + 1);
        let row = trim_row(&block.bytes[offset..end], block.offset + offset as u64 == 0);
        let line = about.lines;
        about.lines += 1;
        let start = block.offset + offset as u64;
        offset = end;
        // Of an overlong line only the beginning is here, which may be blank.
        if row.is_empty() && !block.overlong {
            continue;
        }
        let too_large = block.overlong || row.len() as u64 > plan.max_document_bytes;
        let taken = if too_large { Err(too_large_row(plan)) } else { workbench.json_row(file, row) };
        match taken {
            Ok(raw) => about.documents.push(Raw { line: Some(line), offset: start, ..raw }),
            Err(refusal) => about.refused.push(Refused { file, line: Some(line), why: refusal }),
        }
    }
    about
}

fn field_rows(file: u32, sequence: u64, rows: Vec<FieldRow>, plan: &Plan, workbench: &mut Workbench<'_>) -> About {
    let mut about = About::new(file, sequence, sequence + 1);
    about.lines = rows.len() as u64;
    for (line, row) in rows.into_iter().enumerate() {
        let line = Some(line as u64);
        let too_large = row.bytes() as u64 > plan.max_document_bytes;
        let taken = if too_large { Err(too_large_row(plan)) } else { workbench.row(file, row.values, row.flags) };
        match taken {
            Ok(raw) => about.documents.push(Raw { line, offset: row.offset, ..raw }),
            Err(refusal) => about.refused.push(Refused { file, line, why: refusal }),
        }
    }
    about
}

fn web_records(file: u32, sequence: u64, records: Vec<ContentRecord>, workbench: &mut Workbench<'_>) -> About {
    // Records carry their own numbers, so none are counted here.
    let mut about = About::new(file, sequence, sequence + 1);
    for record in records {
        let (line, offset) = (Some(record.place.number - 1), record.place.offset);
        match workbench.web(file, record) {
            Ok(raw) => about.documents.push(Raw { line, offset, ..raw }),
            Err(refusal) => about.refused.push(Refused { file, line, why: refusal }),
        }
    }
    about
}

fn too_large_row(plan: &Plan) -> Refusal {
    Refusal::new(Stage::Read, "too_large", format!("more than {} bytes", plan.max_document_bytes))
}

fn trim_row(row: &[u8], first: bool) -> &[u8] {
    let row = if first { row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row) } else { row };
    row.trim_ascii()
}

fn whole_files(files: &[u32], plan: &Plan, exec: &Exec<'_>, listed: &[Listed], workbench: &mut Workbench<'_>) -> About {
    let mut about = About::new(files.first().copied().unwrap_or(0), 0, 1);
    for &file in files {
        let entry = &listed[file as usize];
        let taken = read_whole(entry, plan).and_then(|bytes| workbench.file(file, &entry.file.name, &bytes));
        match taken {
            Ok(raw) => about.documents.push(raw),
            Err(refusal) => about.refused.push(Refused { file, line: None, why: refusal }),
        }
        exec.observer.advance(Stage::Read, entry.file.bytes);
    }
    about
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

fn in_memory(file: u32, sequence: u64, documents: Vec<Document>, workbench: &mut Workbench<'_>) -> About {
    let mut about = About::new(file, sequence, sequence + 1);
    about.lines = documents.len() as u64;
    for (line, document) in documents.into_iter().enumerate() {
        let raw = workbench.memory(file, document);
        about.documents.push(Raw { line: Some(line as u64), ..raw });
    }
    about
}
