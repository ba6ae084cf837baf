//! One document through stages 2–4: from its bytes to what is remembered of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::effort::Effort;
use super::jsonl::{FieldReader, Parsed};
use super::time;
use super::warc::ContentRecord;
use crate::document::{Digest, Document, Flags, ShingleRef};
use crate::extract::{self, Extracted, extract};
use crate::fingerprint::{Built, Taken};
use crate::learn::Frequencies;
use crate::normalize::{CommonWords, Tokens, Words};
use crate::plan::{Columns, Plan, Verify};
use crate::run::Stage;
use crate::shingle::{Collisions, Shingler, first_bytes, set_hash};

/// A document as a worker leaves it; names and numbers that need the whole collection come later.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Raw {
    pub(super) file: u32,
    /// Line inside the block, from 0; `None` for a whole file.
    pub(super) line: Option<u64>,
    pub(super) offset: u64,
    pub(super) id: Option<String>,
    /// The id is an address, which a crawl may hold many times.
    pub(super) by_address: bool,
    pub(super) source: Option<String>,
    pub(super) url: Option<Box<str>>,
    pub(super) time: Option<i64>,
    pub(super) score: Option<f64>,
    pub(super) flags: Flags,
    pub(super) tokens: u32,
    pub(super) digest: Digest,
    pub(super) shingles: ShingleRef,
    /// See [`Entry::features`](crate::Entry::features).
    pub(super) features: u32,
    /// Where texts are kept. Those runs never go to disk.
    #[serde(skip)]
    pub(super) text: Option<String>,
}

/// What a remark on a document, or on what became none, takes in memory.
pub(super) const REMARK: u64 = 240;

impl Raw {
    /// What it takes in memory, with the remarks on it.
    pub(super) fn bytes(&self) -> u64 {
        /// What the allocator adds to a piece of text.
        const KEPT_BY_ALLOCATOR: usize = 16;
        let texts = [self.id.as_deref(), self.source.as_deref(), self.url.as_deref()];
        let texts: usize = texts.into_iter().flatten().map(|text| text.len() + KEPT_BY_ALLOCATOR).sum();
        (size_of::<Raw>() + texts) as u64 + self.flags.names().count() as u64 * REMARK
    }
}

/// A record that became no document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Refused {
    pub(super) file: u32,
    /// Line inside the block, from 0; `None` for a whole file.
    pub(super) line: Option<u64>,
    pub(super) why: Refusal,
}

/// Why a record became no document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Refusal {
    pub(super) stage: Stage,
    pub(super) reason: Cow<'static, str>,
    pub(super) detail: String,
}

impl Refusal {
    pub(super) fn new(stage: Stage, reason: &'static str, detail: impl Into<String>) -> Self {
        Refusal { stage, reason: reason.into(), detail: detail.into() }
    }
}

/// Shingles that a batch is expected to have at most; memory that is not needed is given back untouched.
const ARENA: usize = 1 << 18;

/// A worker's tools, kept from document to document.
pub(super) struct Workbench<'a> {
    plan: &'a Plan,
    fields: FieldReader,
    words: Words,
    tokens: Tokens,
    shingler: Shingler,
    /// Shingles of the documents of the present batch.
    pub(super) arena: Vec<u64>,
    /// The method, if it takes something from tokens.
    method: Option<Built>,
    /// Where words are counted, and nothing else is done with them.
    counted: Option<Frequencies>,
    keep_texts: bool,
    most_work: u64,
    /// The file, and the bytes, of a document that would take more memory than it may: it has no shingles.
    pub(super) too_heavy: Option<(u32, u64)>,
}

impl<'a> Workbench<'a> {
    /// For documents that take no more than `most_work` bytes of memory.
    pub(super) fn new(plan: &'a Plan, common: Option<&Arc<CommonWords>>, most_work: u64, keep_texts: bool) -> Self {
        Workbench {
            plan,
            fields: FieldReader::new(&wanted_columns(&plan.columns)),
            words: Words::new(plan.text, plan.filtering()).without(common),
            tokens: Tokens::default(),
            shingler: Shingler::new(plan.recipe()).without(common).watching(plan.hash),
            arena: Vec::new(),
            method: plan.build_method().ok().filter(|method| method.as_dyn().takes_features()),
            counted: None,
            keep_texts,
            most_work,
            too_heavy: None,
        }
    }

    /// For documents of which only the words are counted.
    pub(super) fn counting(plan: &'a Plan, most_work: u64) -> Self {
        let counted = Some(Frequencies::default());
        Workbench { counted, method: None, ..Workbench::new(plan, None, most_work, false) }
    }

    /// What was counted, to be taken.
    pub(super) fn counted(&mut self) -> &mut Frequencies {
        self.counted.get_or_insert_default()
    }

    /// What was seen of hashes of few bits so far.
    pub(super) fn take_collisions(&mut self) -> Option<Collisions> {
        self.shingler.collisions.take()
    }

    /// Lets another go on in its place; returns it.
    pub(super) fn replace(&mut self, mut other: Workbench<'a>) -> Workbench<'a> {
        other.shingler.collisions = self.take_collisions();
        std::mem::replace(self, other)
    }

    /// Bytes of its buffers.
    pub(super) fn bytes(&self) -> u64 {
        let words = self.arena.capacity() * size_of::<u64>();
        (words + self.tokens.memory() + self.words.memory() + self.shingler.memory()) as u64
    }

    /// A whole file.
    pub(super) fn file(&mut self, file: u32, name: &str, bytes: &[u8]) -> Result<Raw, Refusal> {
        let extracted = extract(bytes, name).map_err(|r| Refusal::new(Stage::Extract, r.code, r.detail))?;
        let mut flags = Flags::default();
        if extracted.lossy {
            flags.set(Flags::LOSSY);
        }
        Ok(self.finish(&extracted.text, Document::default(), file, flags))
    }

    /// A record of a web archive.
    pub(super) fn web(&mut self, file: u32, record: ContentRecord) -> Result<Raw, Refusal> {
        let extracted = page_text(&record).map_err(|r| Refusal::new(Stage::Extract, r.code, r.detail))?;
        let mut flags = Flags::default();
        if extracted.lossy {
            flags.set(Flags::LOSSY);
        }
        if record.truncated {
            flags.set(Flags::TRUNCATED);
        }
        let by_address = record.trec_id.is_none();
        let time = record.date.as_deref().and_then(time::parse);
        let about = Document { id: record.trec_id.or_else(|| record.uri.clone()), url: record.uri, time, ..Document::default() };
        Ok(Raw { by_address, ..self.finish(&extracted.text, about, file, flags) })
    }

    /// A document in memory.
    pub(super) fn memory(&mut self, file: u32, mut document: Document) -> Raw {
        let text = std::mem::take(&mut document.text);
        self.finish(&text, document, file, Flags::default())
    }

    /// A row of JSONL.
    pub(super) fn json_row(&mut self, file: u32, row: &[u8]) -> Result<Raw, Refusal> {
        let error = match self.fields.read(row) {
            Ok(mut values) => {
                // A number too large for 64 bits was rounded; an id must not be.
                if let Parsed::Real(_) = values[ID] {
                    values[ID] = literal(row, &self.plan.columns.id).map_or(Parsed::Missing, |text| Parsed::Text(text.into()));
                }
                return self.row(file, values, Flags::default());
            }
            Err(error) => error,
        };
        if std::str::from_utf8(row).is_ok() {
            return Err(bad_json(&error));
        }
        let repaired = String::from_utf8_lossy(row).into_owned();
        let values = self.fields.read(repaired.as_bytes()).map_err(|e| bad_json(&e))?;
        self.row(file, values, Flags::LOSSY)
    }

    /// The wanted fields of a row, in the order of [`wanted_columns`].
    pub(super) fn row(&mut self, file: u32, values: Vec<Parsed<'_>>, flags: Flags) -> Result<Raw, Refusal> {
        let [text, id, url, time, score, source] = <[Parsed<'_>; 6]>::try_from(values).unwrap_or([const { Parsed::Missing }; 6]);
        let column = &self.plan.columns.text;
        let text = match text {
            Parsed::Text(text) => text,
            Parsed::Missing => return Err(Refusal::new(Stage::Read, "missing_text", format!("no field '{column}'"))),
            _ => return Err(Refusal::new(Stage::Read, "text_not_a_string", format!("the field '{column}' is no string"))),
        };
        let (id, source, url) = (name(id), name(source), name(url));
        let document = Document { id, text: String::new(), source, url, time: seconds(time), score: number(score) };
        Ok(self.finish(&text, document, file, flags))
    }

    fn finish(&mut self, text: &str, about: Document, file: u32, mut flags: Flags) -> Raw {
        self.words.cut(text, &mut self.tokens);
        let tokens = self.tokens.hashes().len() as u32;
        // Now its tokens are known, and what takes most is yet to come.
        if Effort::of(self.plan.recipe()).with_tokens(text.len() as u64, tokens.into()) > self.most_work {
            self.too_heavy = Some((file, text.len() as u64));
            self.tokens = Tokens::default();
        }
        let digest = self.tokens.digest();
        if self.arena.capacity() == 0 {
            self.arena.reserve(ARENA);
        }
        let start = self.arena.len();
        let kept = self.words.filter(&self.tokens);
        match &mut self.counted {
            Some(counted) => counted.add(kept.hashes()),
            None => self.shingler.shingle_into(text, kept, self.plan.recipe(), &mut self.arena),
        }
        let shingles = &self.arena[start..];
        if tokens == 0 {
            flags.set(Flags::NO_TEXT);
        } else if shingles.is_empty() {
            flags.set(Flags::TOO_SHORT);
        }
        // Documents without shingles are told apart by their digests.
        let hash = if shingles.is_empty() { first_bytes(&digest.0) } else { set_hash(shingles) };
        let shingles = ShingleRef { arena: 0, start: start as u32, len: shingles.len() as u32, hash };
        let taken = Taken { tokens: kept, url: about.url.as_deref() };
        let features = self.method.as_ref().map_or(0, |method| take_features(method, taken, &mut self.arena));
        if self.plan.verify == Verify::Edit && shingles.len > 0 {
            self.arena.extend_from_slice(self.tokens.hashes());
            self.arena.push(set_hash(self.tokens.hashes()));
        }
        let Document { id, source, url, time, score, .. } = about;
        let score = score.filter(|score| !score.is_nan());
        Raw {
            file,
            line: None,
            offset: 0,
            id: id.filter(|id| !id.is_empty()),
            by_address: false,
            source,
            url: url.map(Into::into),
            time,
            score,
            flags,
            tokens,
            digest,
            shingles,
            features,
            text: self.keep_texts.then(|| text.to_string()),
        }
    }
}

/// Appends what the method takes from the tokens, and a hash of it; says how many words they are.
fn take_features(method: &Built, taken: Taken<'_>, arena: &mut Vec<u64>) -> u32 {
    let start = arena.len();
    method.as_dyn().features(taken, arena);
    if arena.len() > start {
        arena.push(set_hash(&arena[start..]));
    }
    (arena.len() - start) as u32
}

/// The text of a page; the server's word on its type stands for a file name.
pub(super) fn page_text(record: &ContentRecord) -> Result<Extracted, extract::Refused> {
    let hint = if record.media_type.as_deref().is_some_and(|kind| kind.contains("html")) { ".html" } else { "" };
    extract(&record.body, hint)
}

/// The columns that make a document.
pub(super) fn wanted_columns(columns: &Columns) -> [&str; 6] {
    let Columns { text, id, url, time, score, source } = columns;
    [text, id, url, time, score, source]
}

/// The place of the id among [`wanted_columns`].
const ID: usize = 1;

/// A top-level field as it is written.
fn literal<'a>(row: &'a [u8], column: &str) -> Option<&'a str> {
    let fields: HashMap<String, &serde_json::value::RawValue> = serde_json::from_slice(row).ok()?;
    fields.get(column).map(|value| value.get())
}

fn bad_json(error: &serde_json::Error) -> Refusal {
    Refusal::new(Stage::Read, "bad_json", error.to_string())
}

fn name(value: Parsed<'_>) -> Option<String> {
    match value {
        Parsed::Text(text) if !text.is_empty() => Some(text.into_owned()),
        Parsed::Integer(number) => Some(number.to_string()),
        Parsed::Real(number) => Some(number.to_string()),
        _ => None,
    }
}

fn number(value: Parsed<'_>) -> Option<f64> {
    match value {
        Parsed::Integer(number) => Some(number as f64),
        Parsed::Real(number) => Some(number),
        Parsed::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn seconds(value: Parsed<'_>) -> Option<i64> {
    match value {
        Parsed::Integer(number) => i64::try_from(number).ok().map(time::to_seconds),
        Parsed::Real(number) => Some(time::to_seconds(number as i64)),
        Parsed::Text(text) => time::parse(&text),
        _ => None,
    }
}
