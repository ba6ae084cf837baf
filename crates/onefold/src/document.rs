//! The nouns that all stages share.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::arenas::Arenas;
use crate::error::{Error, Result};
use crate::normalize::CommonWords;

/// A document handed over in memory, for users of the library.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Its id; without one it is called `#N`.
    pub id: Option<String>,
    /// Its text.
    pub text: String,
    /// The collection it belongs to.
    pub source: Option<String>,
    /// Where it came from.
    pub url: Option<String>,
    /// Seconds since 1970.
    pub time: Option<i64>,
    /// Higher is better.
    pub score: Option<f64>,
}

/// A document of the collection: its place in the order of ids.
///
/// Documents are numbered by their ids, bytewise, so the smaller number is the smaller id; those of a reference come after all others.
pub type DocIndex = u32;

/// What is remembered of a document once its text has passed.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Unique in the collection.
    pub id: String,
    /// Index into [`Collection::sources`].
    pub source: u32,
    /// Where its bytes are.
    pub locator: Locator,
    /// Where it came from.
    pub url: Option<Box<str>>,
    /// Seconds since 1970.
    pub time: Option<i64>,
    /// Higher is better.
    pub score: Option<f64>,
    /// Remarks.
    pub flags: Flags,
    /// Number of tokens.
    pub tokens: u32,
    /// Of the token sequence.
    pub digest: Digest,
    /// Its shingles.
    pub shingles: ShingleRef,
    /// Words behind its shingles, which the method took from its tokens; the last is a hash of the others.
    pub features: u32,
}

impl Entry {
    /// Number of its distinct shingles.
    pub fn shingle_count(&self) -> u32 {
        self.shingles.len
    }

    /// Where the method's words are, if there are any.
    pub(crate) fn features(&self) -> Option<ShingleRef> {
        let ShingleRef { arena, start, len, .. } = self.shingles;
        (self.features > 0).then_some(ShingleRef { arena, start: start + len, len: self.features, hash: 0 })
    }

    /// Where its own words are, and a hash of them, in runs that keep the words of all documents that have shingles.
    pub(crate) fn words(&self) -> ShingleRef {
        let ShingleRef { arena, start, len, .. } = self.shingles;
        ShingleRef { arena, start: start + len + self.features, len: self.tokens + 1, hash: 0 }
    }
}

/// Where a document's bytes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator {
    /// Index into [`Collection::files`].
    pub file: u32,
    /// Line, row or record of the file, from 1; 0 is the whole file.
    pub record: u64,
    /// First byte of the record: in the decompressed file, or in the stored one for web archives.
    pub offset: u64,
}

/// Where a document's shingle set lies in the arenas.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ShingleRef {
    /// Which of [`Collection::arenas`].
    pub arena: u32,
    /// First shingle.
    pub start: u32,
    /// Number of distinct shingles.
    pub len: u32,
    /// A hash of the set; equal sets have equal hashes.
    pub hash: u64,
}

impl ShingleRef {
    /// The set in its arena.
    pub(crate) fn of(self, arena: &[u64]) -> &[u64] {
        &arena[self.start as usize..(self.start + self.len) as usize]
    }
}

/// 256 bits of a token sequence: the identity of *exact*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// As people write it.
    pub fn to_hex(self) -> String {
        let digit = |half: u8| half + if half < 10 { b'0' } else { b'a' - 10 };
        let mut digits = [0; 64];
        digits.chunks_exact_mut(2).zip(self.0).for_each(|(two, byte)| two.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]));
        String::from_utf8_lossy(&digits).into_owned()
    }
}

/// Remarks on a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags(u8);

impl Flags {
    /// Only a part of the document was there to be read.
    pub const TRUNCATED: Flags = Flags(1);
    /// Bytes that could not be decoded were replaced.
    pub const LOSSY: Flags = Flags(2);
    /// Fewer tokens than a shingle has words.
    pub const TOO_SHORT: Flags = Flags(4);
    /// No token at all.
    pub const NO_TEXT: Flags = Flags(8);
    /// The id was taken; this document got another.
    pub const RENAMED: Flags = Flags(16);
    /// Never removed.
    pub const PROTECTED: Flags = Flags(32);
    /// Only there to be compared with: it has no row, and is never removed.
    pub const REFERENCE: Flags = Flags(64);

    const NAMES: [(Flags, &'static str); 7] = [
        (Flags::TRUNCATED, "truncated"),
        (Flags::LOSSY, "lossy"),
        (Flags::TOO_SHORT, "too_short"),
        (Flags::NO_TEXT, "no_text"),
        (Flags::RENAMED, "renamed"),
        (Flags::PROTECTED, "protected"),
        (Flags::REFERENCE, "reference"),
    ];

    /// Adds a remark.
    pub fn set(&mut self, other: Flags) {
        self.0 |= other.0;
    }

    /// Whether all of `other` is there.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Neither cut nor lossily read: such a document may stand for others.
    pub fn whole(self) -> bool {
        !self.has(Flags::TRUNCATED) && !self.has(Flags::LOSSY)
    }

    /// Whether it stays whatever is near it.
    pub fn forced(self) -> bool {
        self.has(Flags::PROTECTED) || self.has(Flags::REFERENCE)
    }

    /// The remarks by name, in a fixed order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Flags::NAMES.into_iter().filter(move |(flag, _)| self.has(*flag)).map(|(_, name)| name)
    }

    /// From names parted by commas, as tables have them; `None` where one is unknown.
    pub fn parse(names: &str) -> Option<Flags> {
        let mut flags = Flags::default();
        for name in names.split(',').filter(|name| !name.is_empty()) {
            flags.set(Flags::NAMES.iter().find(|(_, known)| *known == name)?.0);
        }
        Some(flags)
    }
}

/// A file that was read.
#[derive(Clone, Debug, Serialize)]
pub struct InputFile {
    /// As shown in ids and messages.
    pub name: String,
    /// The path to open; `None` for a stream or documents in memory.
    #[serde(skip)]
    pub path: Option<std::path::PathBuf>,
    /// Other names of the same file.
    pub aliases: Vec<String>,
    /// The input argument it belongs to.
    pub argument: String,
    /// Size on disk.
    pub bytes: u64,
    /// Whether its documents are only there to be compared with.
    pub reference: bool,
    /// What it takes to read it a second time; `None` for what can be read only once: streams, pipes, documents in memory.
    #[serde(skip)]
    pub(crate) again: Option<crate::read::Again>,
}

impl InputFile {
    /// About how much memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        let path = self.path.as_ref().map_or(0, |path| path.as_os_str().len());
        let aliases: usize = self.aliases.iter().map(|alias| size_of::<String>() + alias.len()).sum();
        // What the catalog knows of it beside, and what allocators add to five pieces of text.
        (2 * size_of::<Self>() + self.name.len() + path + aliases + self.argument.len() + 80) as u64
    }

    /// What is said where it would have to be read twice, and can't be.
    pub(crate) fn read_once(&self, action: &'static str) -> Error {
        let (input, kind) = match (self.name.as_str(), &self.path) {
            ("-", None) => ("-", "standard input"),
            ("", None) => ("documents in memory", "what is no file"),
            (name, None) => (name, "a stream"),
            (name, Some(_)) => (name, "a pipe"),
        };
        Error::ReadOnce { action, input: input.into(), kind }
    }
}

/// The words of a collection, where they were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordCounts {
    /// Documents that were counted, those of the reference among them.
    pub documents: u64,
    /// Different words.
    pub distinct: u64,
    /// Of these: left out because too many documents have them.
    pub left_out: u64,
}

impl WordCounts {
    pub(crate) fn of(common: &CommonWords) -> WordCounts {
        WordCounts { documents: common.documents(), distinct: common.distinct(), left_out: common.left_out() }
    }
}

/// How many different shingles look the same where hashes have few bits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollisionCounts {
    /// Bits of a hash.
    pub bits: u32,
    /// Different shingles of all documents, those of the reference among them.
    pub shingles: u64,
    /// Pairs of them that are expected to look the same: n²/2^(bits + 1).
    pub expected: f64,
    /// Pairs that do.
    pub measured: u64,
    /// Shingles and pairs were counted among one in so many hashes, and multiplied.
    pub one_in: u64,
}

/// What was counted while documents were read, where that was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Where words were left out because too many documents have them.
    pub words: Option<WordCounts>,
    /// Where hashes have few bits, and all was read in one run.
    pub collisions: Option<CollisionCounts>,
}

/// The collection after stages 1–4: everything but the text.
#[derive(Debug, Default)]
pub struct Collection {
    /// By id, bytewise; those of a reference after all others.
    pub documents: Vec<Entry>,
    /// Files in the order of their names.
    pub files: Vec<InputFile>,
    /// Names of sources, sorted.
    pub sources: Vec<String>,
    /// Shingle sets.
    pub arenas: Arenas,
    /// The text of each document, where they were kept.
    pub texts: Vec<String>,
    /// What was counted beside them.
    pub counted: Counted,
    /// Documents that were read as the reference, where there is one; not all of them need be among the documents.
    pub reference_documents: Option<u64>,
    /// Inputs that were not processed, and remarks on others.
    pub skipped: Vec<crate::error::Skipped>,
}

impl Collection {
    /// The documents with their texts, for other runs, where [`Exec::keep_texts`](crate::Exec::keep_texts) was set.
    pub fn into_documents(self) -> Vec<Document> {
        let Collection { documents, sources, texts, .. } = self;
        let document = |(entry, text): (Entry, String)| Document {
            id: Some(entry.id),
            text,
            source: sources.get(entry.source as usize).cloned(),
            url: entry.url.map(Into::into),
            time: entry.time,
            score: entry.score,
        };
        documents.into_iter().zip(texts).map(document).collect()
    }

    /// Gives documents with the same words the same set: where lines end makes another one, but they are exact copies.
    pub(crate) fn share_sets_of_equal_texts(&mut self) {
        let mut first: HashMap<Digest, (ShingleRef, u32)> = HashMap::new();
        for document in &mut self.documents {
            (document.shingles, document.features) =
                *first.entry(document.digest).or_insert((document.shingles, document.features));
        }
    }

    /// Number of documents that the run is about; those of the reference follow them.
    pub fn inputs(&self) -> usize {
        self.documents.partition_point(|document| !document.flags.has(Flags::REFERENCE))
    }

    /// The documents by id, those of the reference among the others.
    pub fn compare_ids(&self, a: DocIndex, b: DocIndex) -> std::cmp::Ordering {
        if self.reference_documents.is_none() {
            return a.cmp(&b);
        }
        let inputs = self.inputs() as DocIndex;
        // On one side of the boundary the numbers follow the ids.
        if (a < inputs) == (b < inputs) {
            return a.cmp(&b);
        }
        self.documents[a as usize].id.cmp(&self.documents[b as usize].id)
    }

    /// The place of each document in the order of ids, where it is not its number.
    pub(crate) fn id_order(&self) -> Option<Vec<u32>> {
        self.reference_documents?;
        let mut by_id: Vec<DocIndex> = (0..self.documents.len() as DocIndex).collect();
        by_id.sort_unstable_by(|&a, &b| self.compare_ids(a, b));
        let mut places = vec![0; by_id.len()];
        by_id.iter().zip(0..).for_each(|(&document, place)| places[document as usize] = place);
        Some(places)
    }

    /// The shingle set of a document; the buffer is for those that are not in memory.
    pub fn shingles<'a>(&'a self, set: ShingleRef, buffer: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        self.arenas.set(set, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_written_in_hexadecimal() {
        let digest = blake3::hash(b"a");
        assert_eq!(Digest(*digest.as_bytes()).to_hex(), digest.to_hex().as_str());
    }
}
