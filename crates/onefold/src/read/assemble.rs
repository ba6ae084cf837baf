//! From what the workers left to a collection: numbers, ids, sources, and the order of ids.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::by_id::sort_by_id;
use super::document::{Raw, Refusal, Refused};
use super::keep::{About, Batch};
use crate::arenas::{Arena, Arenas};
use crate::document::{Collection, Counted, Entry, Flags, InputFile, Locator, ShingleRef};
use crate::error::{Result, SkipKind, Skipped};
use crate::exec::{Exec, SpillFile};
use crate::join::{TakenArena, Taking};
use crate::run::Stage;

/// Batches that are opened at a time.
const TOGETHER: usize = 64;

/// Bytes that a batch takes without its shingles, about.
const BATCH: u64 = 1 << 18;

/// Puts the batches together. The result does not depend on their order.
pub(super) fn assemble(
    exec: &Exec<'_>,
    mut batches: Vec<Batch>,
    spilled: Option<Arc<SpillFile>>,
    taking: Option<Taking>,
    files: Vec<InputFile>,
    mut skipped: Vec<Skipped>,
) -> Result<Collection> {
    batches.sort_unstable_by_key(|batch| (batch.file, batch.position));
    let mut sources = Sources::default();
    let mut documents = Vec::with_capacity(batches.iter().map(|batch| batch.documents).sum());
    let mut by_address = HashSet::new();
    let (mut arenas, mut taken) = (Vec::with_capacity(batches.len()), Vec::with_capacity(batches.len()));
    let mut lines_before: HashMap<u32, u64> = HashMap::new();
    let mut texts = HashMap::new();
    let mut batches = batches.into_iter();
    let mut next = || batches.by_ref().take(TOGETHER).collect::<Vec<Batch>>();
    let open = |some: Vec<Batch>| some.into_par_iter().map(|batch| batch.open(spilled.as_deref())).collect::<Result<Vec<_>>>();
    let mut put_together = |(about, arena, of_arena): (About, Arena, Option<TakenArena>)| {
        let before = lines_before.entry(about.file).or_default();
        let number = |line: Option<u64>| line.map_or(0, |line| *before + line + 1);
        for mut raw in about.documents {
            let record = number(raw.line);
            if let Some(text) = raw.text.take() {
                texts.insert(place(&raw, record), text);
            }
            if raw.by_address {
                by_address.insert(place(&raw, record));
            }
            let source = sources.number(raw.source.as_deref().unwrap_or(&files[raw.file as usize].argument));
            documents.push(entry(raw, record, arenas.len() as u32, &files, source));
        }
        let skip = |refused: Refused| skip(&files[refused.file as usize], number(refused.line), refused.why);
        skipped.extend(about.refused.into_iter().map(skip));
        *before += about.lines;
        arenas.push(arena);
        taken.push(of_arena);
    };
    let mut put_all_together = || {
        let mut opened = open(next())?;
        while !opened.is_empty() {
            let some = next();
            // Those on disk are waited for, while others are put together.
            let (others, ()) = rayon::join(|| open(some), || opened.into_iter().for_each(&mut put_together));
            opened = others?;
        }
        Ok(())
    };
    if spilled.is_some() {
        exec.with_waiting(BATCH, put_all_together)?
    } else {
        put_all_together()?
    }
    documents.shrink_to_fit();
    let sources = sources.sort(&mut documents);
    let is_reference = |document: &Entry| document.flags.has(Flags::REFERENCE);
    // Of one id those come first that have more right to it.
    let right = |document: &Entry| (is_reference(document), document.source, document.locator);
    sort_by_id(&mut documents, |a, b| right(a).cmp(&right(b)));
    let renamed = rename_repeated(&mut documents, &sources, &by_address);
    if renamed || documents.iter().any(is_reference) {
        documents.par_sort_unstable_by(|a, b| is_reference(a).cmp(&is_reference(b)).then_with(|| a.id.cmp(&b.id)));
    }
    skipped.extend(documents.iter().filter(|document| !is_reference(document)).flat_map(remarks));
    skipped.sort_unstable();
    let texts = if texts.is_empty() {
        Vec::new()
    } else {
        documents.iter().map(|d| texts.remove(&d.locator).unwrap_or_default()).collect()
    };
    let arenas = Arenas::new(arenas, spilled, taking.map(|taking| taking.finish(taken)).transpose()?);
    Ok(Collection { documents, files, sources, arenas, texts, counted: Counted::default(), reference_documents: None, skipped })
}

/// Names of sources, numbered as they come.
#[derive(Default)]
struct Sources {
    numbers: HashMap<String, u32>,
}

impl Sources {
    fn number(&mut self, name: &str) -> u32 {
        match self.numbers.get(name) {
            Some(&number) => number,
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(name.into(), number);
                number
            }
        }
    }

    /// The names in order; documents are told their new numbers.
    fn sort(self, documents: &mut [Entry]) -> Vec<String> {
        let mut names: Vec<(String, u32)> = self.numbers.into_iter().collect();
        names.sort_unstable();
        let mut places = vec![0; names.len()];
        names.iter().zip(0..).for_each(|((_, number), place)| places[*number as usize] = place);
        documents.iter_mut().for_each(|document| document.source = places[document.source as usize]);
        names.into_iter().map(|(name, _)| name).collect()
    }
}

fn skip(file: &InputFile, record: u64, refusal: Refusal) -> Skipped {
    let input = if record == 0 { file.name.clone() } else { format!("{}:{record}", file.name) };
    Skipped { kind: SkipKind::Skipped, input, stage: refusal.stage, reason: refusal.reason.into(), detail: refusal.detail }
}

fn place(raw: &Raw, record: u64) -> Locator {
    Locator { file: raw.file, record, offset: raw.offset }
}

fn entry(raw: Raw, record: u64, arena: u32, files: &[InputFile], source: u32) -> Entry {
    let file = &files[raw.file as usize];
    let locator = place(&raw, record);
    let mut flags = raw.flags;
    if file.reference {
        flags.set(Flags::REFERENCE);
    }
    let given_by_place = || if record == 0 { file.name.clone() } else { format!("{}#{record}", file.name) };
    Entry {
        id: raw.id.unwrap_or_else(given_by_place),
        source,
        locator,
        url: raw.url,
        time: raw.time,
        score: raw.score,
        flags,
        tokens: raw.tokens,
        digest: raw.digest,
        shingles: ShingleRef { arena, ..raw.shingles },
        features: raw.features,
    }
}

/// Gives every id to one document: of those that have it, which stand together, the first keeps it, others become `ID@source#N`, or
/// `ADDRESS#N`. Documents of the reference come last: they have no rows, so a new name of theirs is no remark. Says whether there were any.
fn rename_repeated(documents: &mut [Entry], sources: &[String], by_address: &HashSet<Locator>) -> bool {
    let is_repeated = |place: &usize| documents[place - 1].id == documents[*place].id;
    let repeated: Vec<usize> = (1..documents.len()).filter(is_repeated).collect();
    let mut given: HashSet<String> = HashSet::new();
    let mut new_ids = Vec::with_capacity(repeated.len());
    for &place in &repeated {
        let document = &documents[place];
        let number = document.locator.record.max(1);
        let source = &sources[document.source as usize];
        let address = by_address.contains(&document.locator);
        let mut id = if address { format!("{}#{number}", document.id) } else { format!("{}@{source}#{number}", document.id) };
        let is_taken = |id: &String| documents.binary_search_by(|document| document.id.cmp(id)).is_ok();
        while is_taken(&id) || given.contains(&id) {
            id.push('\'');
        }
        given.insert(id.clone());
        new_ids.push((id, address));
    }
    for (&place, (id, address)) in repeated.iter().zip(new_ids) {
        documents[place].id = id;
        // A crawl meets an address many times; that is no mistake.
        if !address {
            documents[place].flags.set(Flags::RENAMED);
        }
    }
    !repeated.is_empty()
}

/// A remark for each flag that the documents table also shows.
fn remarks(document: &Entry) -> impl Iterator<Item = Skipped> + '_ {
    document.flags.names().map(|flag| {
        let stage = match flag {
            "too_short" | "no_text" => Stage::Shingle,
            "lossy" => Stage::Extract,
            _ => Stage::Read,
        };
        let detail = if flag == "renamed" { "another document has the id before the last @" } else { "" };
        Skipped { kind: SkipKind::Flagged, input: document.id.clone(), stage, reason: flag.into(), detail: detail.into() }
    })
}
