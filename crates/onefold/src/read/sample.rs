//! A sample of the inputs: some files, or parts of some files, taken through stages 1–4, and what they say of all of them.
//!
//! Files are told apart by what they hold and how they are packed, since bytes of one kind say little of bytes of another. Of each kind a
//! part is read that is as large among the sample as the kind is among the inputs, from places anywhere in equal stretches of its bytes: places
//! at even distances would keep time with what recurs. Of lines, those count that *begin* in such a part, so that a long line is as likely to
//! be met as a short one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::catalog::{FileKind, Listed, Portion, RowFormat};
use super::document::Raw;
use super::ingest::{self, AllBatches, Inputs, Listing};
use super::keep::{self, About, Foreseen, Keeper};
use super::open::{self, Packing};
use super::resume::{Journal, Left};
use super::{Source, unlisted};
use crate::arenas::Arena;
use crate::error::{Result, Skipped};
use crate::exec::{Exec, Observer, Silent, Way};
use crate::learn::{Learning, ONE_IN};
use crate::plan::{Plan, Verify};
use crate::report::Sink;
use crate::run::Stage;
use crate::shingle::hash::mix;

/// Bytes that are read, about: half a second's work.
const SAMPLE: u64 = 32 << 20;
/// Bytes that are read of each kind at least.
const LEAST_OF_KIND: u64 = 2 << 20;
/// Whole files that are opened at most.
const MOST_FILES: usize = 10_000;
/// Bytes of lines that are read at one place. What is alike stands together, so many places tell more than few; but the line in which a place
/// lies is passed over.
const LINES: u64 = 256 << 10;
/// Bytes that are read from the beginning of a file of other rows; less would say little of how well the file is packed.
const BEGINNING: u64 = 4 << 20;

/// What a sample says of all inputs.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Bytes of the inputs and the reference, as they are stored.
    pub(crate) bytes: u64,
    /// Bytes of them that were looked at.
    pub(crate) sampled_bytes: u64,
    /// Whether that was all of them.
    pub(crate) whole: bool,
    pub(crate) sampled_documents: u64,
    /// What is expected of the inputs.
    pub(crate) inputs: Amounts,
    /// What is expected of the reference.
    pub(crate) reference: Amounts,
    /// Bytes of the longest document that was seen.
    pub(crate) longest: u64,
    pub(crate) skipped: Vec<Skipped>,
}

/// What documents are counted by.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Amounts {
    pub(crate) documents: f64,
    /// Bytes of what is remembered of them while they are read.
    pub(crate) raw_bytes: f64,
    /// The same, on disk.
    pub(crate) disk_bytes: f64,
    pub(crate) id_bytes: f64,
    pub(crate) shingles: f64,
    /// Words that are kept behind the shingles.
    pub(crate) words: f64,
    /// Join keys.
    pub(crate) keys: f64,
    /// Words of sketches.
    pub(crate) sketches: f64,
}

impl Amounts {
    /// Adds what is expected of files, of which `of_documents` times so many were seen, with `of_bytes` times so many bytes.
    fn add(&mut self, seen: &Amounts, of_documents: f64, of_bytes: f64) {
        self.documents += seen.documents * of_documents;
        self.raw_bytes += seen.raw_bytes * of_documents;
        self.disk_bytes += seen.disk_bytes * of_documents;
        self.id_bytes += seen.id_bytes * of_documents;
        self.shingles += seen.shingles * of_bytes;
        self.words += seen.words * of_bytes;
        self.keys += seen.keys * of_bytes;
        self.sketches += seen.sketches * of_bytes;
    }

    /// The sum.
    pub(crate) fn and(mut self, other: &Amounts) -> Amounts {
        self.add(other, 1.0, 1.0);
        self
    }
}

/// How many join keys a set of some size has whose document gave so many words of features, and how many words its sketch.
pub(crate) type KeysOf<'a> = &'a dyn Fn(u32, u32) -> (u32, u32);

/// Reads a sample. What can be read only once is refused.
pub(crate) fn sample(plan: &Plan, exec: &Exec<'_>, source: Source, sink: &dyn Sink, keys_of: KeysOf<'_>) -> Result<Sample> {
    let Listing { listed, skipped, streams, memory } = ingest::list(plan, exec, source, sink)?;
    let passing = streams.iter().map(|stream| unlisted(&stream.name, stream.reference));
    let passing = passing.chain(memory.iter().map(|(_, reference)| unlisted("", *reference)));
    if let Some(input) = listed.iter().map(|listed| listed.file.clone()).chain(passing).find(|input| input.again.is_none()) {
        return Err(input.read_once("sample"));
    }
    let kinds = Kind::tell_apart(plan, listed);
    let bytes: u64 = kinds.iter().map(|kind| kind.bytes).sum();
    let mut sample = Sample { bytes, whole: true, skipped, ..Sample::default() };
    exec.observer.begin(Stage::Read, None);
    let read = kinds.iter().try_for_each(|kind| {
        let budget = (SAMPLE as f64 * kind.bytes as f64 / bytes.max(1) as f64) as u64;
        kind.sample(plan, exec, budget.max(LEAST_OF_KIND), keys_of, &mut sample)
    });
    exec.observer.end(Stage::Read);
    read.map(|()| sample)
}

/// Bytes that are read at least and at most to learn which shingles are common, and at one place: many places tell more of what recurs than a few.
const ORDER: std::ops::RangeInclusive<u64> = 12 << 20..=128 << 20;
const ORDER_LINES: u64 = 64 << 10;
/// Shingles are no more than such a part of the bytes, about.
const BYTES_OF_SHINGLE: u64 = 8;

/// What parts of files that can be read more than once say of all of them. What can't be read says nothing.
pub(super) fn foresee(plan: &Plan, exec: &Exec<'_>, listed: &[Listed]) -> Result<Foreseen> {
    let again = listed.iter().filter(|listed| listed.file.again.is_some()).cloned().collect();
    let kinds = Kind::tell_apart(plan, again);
    let bytes: u64 = kinds.iter().map(|kind| kind.bytes).sum();
    // What is read of them is in memory, with the words of their texts beside it.
    let most = (bytes / ONE_IN).clamp(*ORDER.start(), *ORDER.end()).min(exec.memory.limit().map_or(u64::MAX, |limit| limit / 8));
    let threshold = plan.join_threshold();
    let (mut sets, mut documents, mut keys) = (0.0, 0.0, 0.0);
    let mut learning = Learning::new(most / BYTES_OF_SHINGLE, exec.memory);
    for kind in kinds {
        let budget = (most as f64 * kind.bytes as f64 / bytes.max(1) as f64) as u64;
        let chosen = kind.choose(budget.max(ORDER_LINES), ORDER_LINES);
        let meter = Meter { watching: &Silent, bytes: AtomicU64::new(0) };
        let (threads, cancel, memory) = (exec.threads, Arc::clone(&exec.cancel), exec.memory);
        let reading = Exec { threads, observer: &meter, cancel, memory, ..Exec::default() };
        let keeper = Keeper::new(plan, &reading, Journal::new(plan, &chosen, &[])?, Way::Cached, false);
        let inputs = Inputs { listed: &chosen, streams: Vec::new(), memory: &[] };
        // What is wrong with them will be told when they are read as a whole.
        let Ok(read) = ingest::read_batches(plan, &reading, inputs, None, keeper, Left::default()) else { continue };
        let (mut seen, mut seen_documents, mut seen_keys, mut bytes_of_lines) = (0, 0, 0, 0);
        for batch in read.batches {
            let (about, arena, _) = batch.open(None)?;
            bytes_of_lines += about.end - about.position;
            seen_documents += about.weight().in_all_stages();
            seen_keys += about.documents.iter().map(|raw| u64::from(threshold.prefix(raw.shingles.len))).sum::<u64>();
            if let Arena::Held(shingles) = arena {
                seen += shingles.len() * size_of::<u64>();
                about.documents.iter().for_each(|raw| learning.count(raw.shingles.of(&shingles)));
            }
        }
        // The line in which a place lies is passed over.
        let looked_at = if kind.is_open_lines() { bytes_of_lines } else { meter.bytes.into_inner() };
        let all = ratio(kind.bytes, looked_at);
        sets += seen as f64 * all;
        documents += seen_documents as f64 * all;
        keys += seen_keys as f64 * all;
    }
    exec.check()?;
    let order = (learning.finish(), threshold);
    Ok(Foreseen { order, sets: sets as u64, documents: documents as u64, keys: keys as u64 })
}

/// Files that are alike.
struct Kind {
    reference: bool,
    kind: FileKind,
    packing: Packing,
    files: Vec<Listed>,
    bytes: u64,
}

impl Kind {
    fn tell_apart(plan: &Plan, listed: Vec<Listed>) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = Vec::new();
        for listed in listed {
            let (reference, kind, packing, bytes) = (listed.file.reference, listed.kind, packing(&listed), listed.file.bytes);
            // Such files are skipped; nothing need be read to know that.
            if kind == FileKind::Document && bytes > plan.max_document_bytes {
                continue;
            }
            let alike = |other: &&mut Kind| (other.reference, other.kind, other.packing) == (reference, kind, packing);
            match kinds.iter_mut().find(alike) {
                Some(alike) => {
                    alike.files.push(listed);
                    alike.bytes += bytes;
                }
                None => kinds.push(Kind { reference, kind, packing, files: vec![listed], bytes }),
            }
        }
        kinds
    }

    /// Whether it is lines that can be read from anywhere.
    fn is_open_lines(&self) -> bool {
        self.kind == FileKind::Rows(RowFormat::Jsonl) && self.packing == Packing::Plain
    }

    /// Adds what about `budget` bytes of these files say of all of them.
    fn sample(&self, plan: &Plan, exec: &Exec<'_>, budget: u64, keys_of: KeysOf<'_>, sample: &mut Sample) -> Result<()> {
        let chosen = self.choose(budget, LINES);
        let meter = Meter { watching: exec.observer, bytes: AtomicU64::new(0) };
        let reading = Exec { threads: exec.threads, observer: &meter, cancel: Arc::clone(&exec.cancel), ..Exec::default() };
        let journal = Journal::new(plan, &chosen, &[])?;
        let keeper = Keeper::new(plan, &reading, journal, Way::Cached, false);
        let inputs = Inputs { listed: &chosen, streams: Vec::new(), memory: &[] };
        let read = ingest::read_batches(plan, &reading, inputs, None, keeper, Left::default())?;
        let AllBatches { batches, unread, .. } = read;
        sample.skipped.extend(unread);
        let abouts = batches.into_iter().map(|batch| batch.open(None).map(|(about, ..)| about));
        let mut abouts = abouts.collect::<Result<Vec<About>>>()?;
        let (looked_at, of_documents) = match self.kind {
            // How many files there are is known; only how many of them are documents is not.
            FileKind::Document => {
                sample.longest = self.files.iter().map(|listed| listed.file.bytes).fold(sample.longest, u64::max);
                (bytes_of(&chosen), self.files.len() as f64 / chosen.len() as f64)
            }
            _ if self.is_open_lines() => {
                let lines = abouts.iter_mut().map(|about| within_portion(about, chosen[about.file as usize].portion));
                let (bytes, longest) = lines.fold((0, sample.longest), |(sum, most), line| (sum + line.0, most.max(line.1)));
                sample.longest = longest;
                (bytes, ratio(self.bytes, bytes_of(&chosen)))
            }
            _ => {
                let bytes = meter.bytes.into_inner();
                (bytes, ratio(self.bytes, bytes))
            }
        };
        let seen = abouts.iter().fold(Amounts::default(), |sum, about| sum.and(&amounts(about, &chosen, plan, keys_of)));
        let side = if self.reference { &mut sample.reference } else { &mut sample.inputs };
        side.add(&seen, of_documents, ratio(self.bytes, looked_at));
        sample.sampled_bytes += looked_at.min(self.bytes);
        sample.whole &= looked_at >= self.bytes && of_documents == 1.0;
        sample.sampled_documents += seen.documents as u64;
        Ok(())
    }

    /// The files that are read, and what of them; of lines, so many bytes at one place.
    fn choose(&self, budget: u64, lines: u64) -> Vec<Listed> {
        let files = self.files.len();
        if self.kind == FileKind::Document {
            let step = (self.bytes.div_ceil(budget) as usize).max(files.div_ceil(MOST_FILES)).max(1);
            let first = (step / 2).min(files - 1);
            return self.files.iter().skip(first).step_by(step).cloned().collect();
        }
        if self.is_open_lines() {
            if self.bytes <= budget {
                return self.files.clone();
            }
            let places = (budget / lines).max(1);
            let portion = |listed: &Listed, start: u64| Portion { start, most: lines.min(listed.file.bytes - start) };
            let stretch = self.bytes / places;
            return self.portions((0..places).map(|nth| anywhere(nth, stretch, stretch.saturating_sub(lines))), portion);
        }
        // Packed files hold several times the bytes that they take.
        let expected = (self.bytes / files as u64 * 4).clamp(1, BEGINNING);
        let places = (budget / expected).clamp(1, files as u64);
        let most = (budget / places).max(BEGINNING);
        let stretch = self.bytes / places;
        self.portions((0..places).map(|nth| anywhere(nth, stretch, stretch)), |_, _| Portion { start: 0, most })
    }

    /// Portions of the files in which these bytes of all files lie.
    fn portions(&self, places: impl Iterator<Item = u64>, portion: impl Fn(&Listed, u64) -> Portion) -> Vec<Listed> {
        let mut end = 0;
        let starts = self.files.iter().map(|listed| {
            end += listed.file.bytes;
            end - listed.file.bytes
        });
        let starts: Vec<u64> = starts.collect();
        let mut chosen: Vec<(usize, Portion)> = Vec::new();
        for place in places {
            let file = starts.partition_point(|&start| start <= place).saturating_sub(1);
            chosen.push((file, portion(&self.files[file], place - starts[file])));
        }
        chosen.dedup();
        chosen.into_iter().map(|(file, portion)| Listed { portion: Some(portion), ..self.files[file].clone() }).collect()
    }
}

/// A place among the first `most` bytes of the n-th stretch, always the same. The first is the beginning: something is seen of any input.
fn anywhere(nth: u64, stretch: u64, most: u64) -> u64 {
    nth * stretch + mix(nth) % most.max(1)
}

/// A file that can't be opened is none that is packed.
fn packing(listed: &Listed) -> Packing {
    let path = listed.file.path.as_deref().filter(|_| listed.kind == FileKind::Rows(RowFormat::Jsonl));
    let opened = path.and_then(|path| open::open_regular(path, listed.follow).ok());
    opened.and_then(|mut file| Packing::of_file(&mut file).ok()).unwrap_or(Packing::Plain)
}

fn amounts(about: &About, listed: &[Listed], plan: &Plan, keys_of: KeysOf<'_>) -> Amounts {
    let sum = |of: &dyn Fn(&Raw) -> u64| about.documents.iter().map(of).sum::<u64>() as f64;
    // Without an id it is called by its place.
    let id = |raw: &Raw| raw.id.as_ref().map_or_else(|| listed[raw.file as usize].file.name.len() + 6, String::len);
    let own_words = |raw: &Raw| if plan.verify == Verify::Edit { raw.tokens } else { 0 };
    Amounts {
        documents: about.documents.len() as f64,
        raw_bytes: sum(&Raw::bytes),
        disk_bytes: keep::bytes_on_disk(about) as f64,
        id_bytes: sum(&|raw| id(raw) as u64),
        shingles: sum(&|raw| raw.shingles.len.into()),
        words: sum(&|raw| (raw.features + own_words(raw)).into()),
        keys: sum(&|raw| keys_of(raw.shingles.len, raw.features).0.into()),
        sketches: sum(&|raw| keys_of(raw.shingles.len, raw.features).1.into()),
    }
}

/// Forgets the lines that begin beyond the portion that a block is of. How many bytes the others have, and the longest of them.
fn within_portion(about: &mut About, portion: Option<Portion>) -> (u64, u64) {
    let Some(portion) = portion else { return (about.end - about.position, longest_line(about, about.end)) };
    let inside = about.documents.partition_point(|raw| raw.offset < portion.end());
    let end = about.documents.get(inside).map_or(about.end, |raw| raw.offset);
    about.documents.truncate(inside);
    (end - about.position, longest_line(about, end))
}

/// The longest of lines that end at `end`; where some are no documents, nothing is known of the others.
fn longest_line(about: &About, end: u64) -> u64 {
    if !about.refused.is_empty() {
        return 0;
    }
    let starts = about.documents.iter().map(|raw| raw.offset);
    let ends = starts.clone().skip(1).chain([end]);
    starts.zip(ends).map(|(start, end)| end - start).max().unwrap_or(0)
}

/// Bytes of files, or of the portions that are read of them.
fn bytes_of(chosen: &[Listed]) -> u64 {
    chosen.iter().map(|listed| listed.portion.map_or(listed.file.bytes, |portion| portion.most)).sum()
}

fn ratio(all: u64, some: u64) -> f64 {
    if some == 0 { 0.0 } else { all as f64 / some as f64 }
}

/// Counts the bytes that are read.
struct Meter<'a> {
    watching: &'a dyn Observer,
    bytes: AtomicU64,
}

impl Observer for Meter<'_> {
    fn advance(&self, stage: Stage, amount: u64) {
        self.bytes.fetch_add(amount, Ordering::Relaxed);
        self.watching.advance(stage, amount);
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;

    use super::*;
    use crate::error::ErrorKind;
    use crate::read::Input;
    use crate::report::Discard;

    /// Rows whose lengths differ by a factor of 40, mixed.
    fn rows(bytes: usize) -> (String, u64) {
        let (mut text, mut count) = (String::new(), 0);
        while text.len() < bytes {
            let words = 10 + mix(count) % 400;
            let _ = write!(text, "{{\"id\":\"document-{count}\",\"text\":\"");
            (0..words)
                .for_each(|word| text.extend([["some ", "words ", "here "][word as usize % 3], &format!("{count}x{word} ")]));
            text.push_str("\"}\n");
            count += 1;
        }
        (text, count)
    }

    fn kinds(paths: &[&Path]) -> Vec<Kind> {
        let source = Source::from(paths.iter().map(|path| Input::Path(path.to_path_buf())).collect::<Vec<_>>());
        let listing = ingest::list(&Plan::default(), &Exec::default(), source, &Discard).unwrap();
        Kind::tell_apart(&Plan::default(), listing.listed)
    }

    fn sampled(kind: &Kind, budget: u64) -> Sample {
        let mut sample = Sample { bytes: kind.bytes, whole: true, ..Sample::default() };
        kind.sample(&Plan::default(), &Exec::default(), budget, &|size, _| (size, 0), &mut sample).unwrap();
        sample
    }

    #[track_caller]
    fn near(expected: f64, truth: u64) {
        assert!((expected / truth as f64 - 1.0).abs() < 0.1, "{expected} for {truth}");
    }

    #[test]
    fn a_part_of_the_lines_tells_how_many_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let (text, count) = rows(12 << 20);
        let path = folder.path().join("rows.jsonl");
        fs::write(&path, &text).unwrap();
        let kinds = kinds(&[&path]);
        let all = sampled(&kinds[0], 16 << 20);
        assert!(all.whole && all.inputs.documents == count as f64 && all.sampled_bytes == text.len() as u64);
        let some = sampled(&kinds[0], 3 << 20);
        assert!(!some.whole && some.sampled_bytes.abs_diff(3 << 20) < 1 << 18, "{}", some.sampled_bytes);
        near(some.inputs.documents, count);
        near(some.inputs.shingles, all.inputs.shingles as u64);
        near(some.inputs.raw_bytes, all.inputs.raw_bytes as u64);
    }

    #[test]
    fn the_beginning_of_a_packed_file_tells_how_well_it_is_packed() {
        let folder = tempfile::tempdir().unwrap();
        let (text, count) = rows(20 << 20);
        let paths = ["rows.jsonl.gz", "rows.jsonl.zst"].map(|name| folder.path().join(name));
        let mut encoder = flate2::write::GzEncoder::new(fs::File::create(&paths[0]).unwrap(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap();
        fs::write(&paths[1], zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
        let kinds = kinds(&[&paths[0], &paths[1]]);
        assert_eq!(kinds.len(), 2, "they are packed in different ways");
        for kind in &kinds {
            let some = sampled(kind, 2 << 20);
            assert!(some.sampled_bytes < kind.bytes / 2, "{} of {}", some.sampled_bytes, kind.bytes);
            near(some.inputs.documents, count);
            let all = sampled(kind, 64 << 20);
            assert!(all.whole && all.inputs.documents == count as f64, "{} of {}", all.sampled_bytes, kind.bytes);
        }
    }

    #[test]
    fn some_of_the_files_stand_for_the_others() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..400u64 {
            let words = (0..20 + mix(n) % 300).map(|word| format!("{n}w{word} "));
            fs::write(folder.path().join(format!("{n}.txt")), words.collect::<String>()).unwrap();
        }
        let kinds = kinds(&[folder.path()]);
        let (all, some) = (sampled(&kinds[0], 1 << 30), sampled(&kinds[0], kinds[0].bytes.div_ceil(5)));
        assert!(all.whole && all.inputs.documents == 400.0);
        assert_eq!((some.sampled_documents, some.inputs.documents), (80, 400.0));
        near(some.inputs.shingles, all.inputs.shingles as u64);
    }

    /// A place in a long line is a place where no line begins.
    #[test]
    fn long_lines_make_no_difference() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let long = format!("{{\"text\":\"{}\"}}\n", "word ".repeat(1 << 19));
        let texts: Vec<(String, u64)> = [1, 3, 2, 5, 4, 6].map(|length| rows(length << 20)).into();
        fs::write(&path, texts.iter().map(|(text, _)| text.clone() + &long).collect::<String>()).unwrap();
        let some = sampled(&kinds(&[&path])[0], 24 << 20);
        assert!(!some.whole);
        near(some.inputs.documents, texts.iter().map(|(_, count)| count + 1).sum());
    }

    /// Where the same pages come again and again, all of them are met.
    #[test]
    fn places_do_not_keep_time_with_what_recurs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let chosen = kinds(&[&path])[0].choose(32 << 20, LINES);
        assert_eq!(chosen.len(), 128);
        let starts: Vec<u64> = chosen.iter().map(|listed| listed.portion.unwrap().start).collect();
        assert!(starts.is_sorted() && starts[0] == 0, "{starts:?}");
        for recurring in [8 << 20, 16 << 20, 64 << 20] {
            let early = starts.iter().filter(|&start| start % recurring < recurring / 2).count();
            assert!((48..80).contains(&early), "{early} of 128 in the first half of {recurring}");
        }
    }

    #[test]
    fn one_line_that_is_longer_than_the_sample_is_one_document() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        fs::write(&path, format!("{{\"text\":\"{}\"}}\n", "word ".repeat(1 << 20))).unwrap();
        let one = sampled(&kinds(&[&path])[0], 2 << 20);
        assert_eq!((one.sampled_documents, one.longest), (1, 5 * (1 << 20) + 12));
    }

    #[test]
    fn what_can_be_read_only_once_is_refused() {
        let stream = Input::Stream { name: "-".into(), reader: Box::new(std::io::empty()) };
        let refused =
            sample(&Plan::default(), &Exec::default(), vec![stream].into(), &Discard, &|size, _| (size, 0)).unwrap_err();
        assert_eq!(
            (refused.kind(), refused.to_string().as_str()),
            (ErrorKind::Usage, "cannot sample '-': standard input can be read only once")
        );
    }
}
