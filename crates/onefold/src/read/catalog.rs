//! From arguments to files: walking folders, naming documents, finding out which names are one file.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead};
use std::path::{Component, Path, PathBuf};

use super::delimited::DelimitedRows;
use super::open;
use super::reopen::{Again, Seen};
use crate::document::InputFile;
use crate::error::{Error, Result, SkipKind, Skipped};
use crate::exec::Spill;
use crate::plan::Plan;
use crate::run::Stage;

/// A table in a folder with a longer header is a document like any other.
const LONGEST_HEADER: u64 = 1 << 20;

/// A file to be read, and how.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) file: InputFile,
    pub(super) kind: FileKind,
    /// Whether its path may be a symbolic link.
    pub(super) follow: bool,
    /// What is read of it, where that is not all.
    pub(super) portion: Option<Portion>,
}

/// A part of a file of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Portion {
    /// Rows that begin from here on; anything but 0 is for lines that are not packed.
    pub(super) start: u64,
    /// Rows that begin before so many bytes more, unpacked; a few others may come with them.
    pub(super) most: u64,
}

impl Portion {
    /// Where it ends.
    pub(super) fn end(self) -> u64 {
        self.start.saturating_add(self.most)
    }
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// One document.
    Document,
    /// A document a row.
    Rows(RowFormat),
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowFormat {
    /// A JSON object a line.
    Jsonl,
    /// Fields parted by this byte, quoted where needed, with a header.
    Delimited(u8),
    /// Columns.
    Parquet,
    /// Records of a web archive.
    Warc,
}

/// Device and inode: the identity of a file.
pub(super) type FileId = (u64, u64);

/// Files found so far.
pub(super) struct Catalog {
    /// Where our own results will be: no inputs.
    own_folders: Vec<FileId>,
    follow: bool,
    text_column: String,
    /// Whether what is added now is only there to be compared with.
    reference: bool,
    found: Vec<(Listed, Option<FileId>)>,
    entered: HashSet<FileId>,
    pub(super) skipped: Vec<Skipped>,
}

impl Catalog {
    pub(super) fn new(plan: &Plan, own_folders: &[PathBuf]) -> Self {
        Catalog {
            own_folders: own_folders.iter().filter_map(|folder| fs::metadata(folder).ok()).map(|m| file_id(&m)).collect(),
            follow: plan.follow,
            text_column: plan.columns.text.clone(),
            reference: false,
            found: Vec::new(),
            entered: HashSet::new(),
            skipped: Vec::new(),
        }
    }

    /// Adds what an argument names. An argument that is not there is an error; what can't be read is skipped.
    pub(super) fn add(&mut self, path: &Path, reference: bool) -> Result<()> {
        self.reference = reference;
        let argument = escape(path.as_os_str());
        let metadata = fs::metadata(path).map_err(|cause| Error::Input { path: argument.clone(), cause })?;
        if metadata.is_dir() {
            self.walk(path, &argument);
        } else if metadata.is_file() {
            match kind_of_argument(path) {
                Ok(kind) => self.push(path, &argument, kind, &metadata, true),
                Err(cause) => self.skip(path, "unreadable", cause.to_string()),
            }
        } else if is_pipe(&metadata) {
            self.push(path, &argument, FileKind::Rows(RowFormat::Jsonl), &metadata, true);
        } else {
            self.skip(path, "not_a_regular_file", String::new());
        }
        Ok(())
    }

    /// Walks a folder without recursion: depth is no danger.
    fn walk(&mut self, root: &Path, argument: &str) {
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            if self.follow && fs::metadata(&folder).is_ok_and(|m| !self.entered.insert(file_id(&m))) {
                continue;
            }
            match sorted_entries(&folder) {
                Ok(entries) => entries.into_iter().for_each(|path| self.visit(path, argument, &mut folders)),
                Err(cause) => self.skip(&folder, "unreadable", cause.to_string()),
            }
        }
    }

    fn visit(&mut self, path: PathBuf, argument: &str, folders: &mut Vec<PathBuf>) {
        let metadata = match fs::symlink_metadata(&path) {
            Ok(link) if link.is_symlink() && !self.follow => return self.skip(&path, "symlink", String::new()),
            Ok(link) if link.is_symlink() => fs::metadata(&path),
            other => other,
        };
        match metadata {
            Ok(metadata) if metadata.is_dir() && self.own_folders.contains(&file_id(&metadata)) => (),
            Ok(metadata) if metadata.is_dir() && Spill::in_folder(&path).holds_batches() => {
                self.skip(&path, "work_of_a_run", "an interrupted run left it, or one is at work".into());
            }
            Ok(metadata) if metadata.is_dir() => folders.push(path),
            Ok(metadata) if metadata.is_file() => {
                let kind = self.kind_in_folder(&path);
                self.push(&path, argument, kind, &metadata, self.follow);
            }
            Ok(_) => self.skip(&path, "not_a_regular_file", String::new()),
            Err(cause) => self.skip(&path, "unreadable", cause.to_string()),
        }
    }

    /// In a folder the name tells rows from documents; a table without a text column is a document like any other.
    fn kind_in_folder(&self, path: &Path) -> FileKind {
        let has_text = |delimiter| {
            open::open_regular(path, self.follow)
                .and_then(|file| open::decompress(Box::new(file)))
                .and_then(|reader| DelimitedRows::new(reader, delimiter, &[&self.text_column], LONGEST_HEADER))
                .is_ok()
        };
        match format_by_name(path) {
            Some(RowFormat::Delimited(delimiter)) if !has_text(delimiter) => FileKind::Document,
            Some(format) => FileKind::Rows(format),
            None => FileKind::Document,
        }
    }

    fn push(&mut self, path: &Path, argument: &str, kind: FileKind, metadata: &fs::Metadata, follow: bool) {
        let file = InputFile {
            name: name_of(path),
            path: Some(path.to_path_buf()),
            aliases: Vec::new(),
            argument: argument.to_string(),
            bytes: metadata.len(),
            reference: self.reference,
            again: metadata.is_file().then(|| Again { kind, follow, seen: Seen::of(metadata) }),
        };
        let id = metadata.is_file().then(|| file_id(metadata));
        self.found.push((Listed { file, kind, follow, portion: None }, id));
    }

    fn skip(&mut self, path: &Path, reason: &str, detail: String) {
        self.skipped.push(Skipped {
            kind: SkipKind::Skipped,
            input: name_of(path),
            stage: Stage::Read,
            reason: reason.into(),
            detail,
        });
    }

    /// The files in the order of their names, each once: other names of one file become its aliases. A file that is named on both sides
    /// belongs to the reference alone, or its documents would be removed for their own sake.
    pub(super) fn finish(mut self) -> (Vec<Listed>, Vec<Skipped>) {
        let reference: HashSet<FileId> =
            self.found.iter().filter(|(listed, _)| listed.file.reference).filter_map(|(_, id)| *id).collect();
        self.found.retain(|(listed, id)| listed.file.reference || id.is_none_or(|id| !reference.contains(&id)));
        self.found.sort_by(|(a, _), (b, _)| (&a.file.name, &a.file.argument).cmp(&(&b.file.name, &b.file.argument)));
        let mut listed: Vec<Listed> = Vec::with_capacity(self.found.len());
        let mut places: HashMap<FileId, usize> = HashMap::new();
        for (file, id) in self.found {
            let place = id.map_or(listed.len(), |id| *places.entry(id).or_insert(listed.len()));
            match listed.get_mut(place) {
                None => listed.push(file),
                Some(first) if first.file.name == file.file.name || first.file.aliases.contains(&file.file.name) => (),
                Some(first) => first.file.aliases.push(file.file.name),
            }
        }
        self.skipped.sort();
        self.skipped.dedup();
        (listed, self.skipped)
    }
}

fn sorted_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

#[cfg(unix)]
pub(super) fn file_id(metadata: &fs::Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(unix)]
fn is_pipe(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_fifo()
}

/// A file that was named is looked into: JSONL is told by its first line, Parquet by its magic.
pub(super) fn kind_of_argument(path: &Path) -> io::Result<FileKind> {
    if let Some(format) = format_by_name(path) {
        return Ok(FileKind::Rows(format));
    }
    let mut reader = open::open(path)?;
    let start = reader.fill_buf().unwrap_or_default();
    Ok(match start {
        _ if start.starts_with(PARQUET) => FileKind::Rows(RowFormat::Parquet),
        _ if start.starts_with(b"WARC/") || start.starts_with(b"filedesc:") => FileKind::Rows(RowFormat::Warc),
        _ if starts_with_row(start) => FileKind::Rows(RowFormat::Jsonl),
        _ => FileKind::Document,
    })
}

const PARQUET: &[u8] = b"PAR1";

/// Whether the first line that is not blank is a whole JSON object, or one too long to see its end.
fn starts_with_row(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let line = start.split(|&b| b == b'\n').next().unwrap_or_default();
    let complete = line.len() < start.len();
    let object = line.starts_with(b"{\"") || line.starts_with(b"{ \"");
    object && (!complete || serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok())
}

/// Formats of rows by the endings of names; `.gz` and `.zst` may follow.
const ENDINGS: [(&str, RowFormat); 8] = [
    (".jsonl", RowFormat::Jsonl),
    (".ndjson", RowFormat::Jsonl),
    (".jsonlines", RowFormat::Jsonl),
    (".csv", RowFormat::Delimited(b',')),
    (".tsv", RowFormat::Delimited(b'\t')),
    (".parquet", RowFormat::Parquet),
    (".warc", RowFormat::Warc),
    (".arc", RowFormat::Warc),
];

fn format_by_name(path: &Path) -> Option<RowFormat> {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default().to_lowercase();
    // An archive packed with lz4 is known by its name, to be refused by name.
    let packings = [".gz", ".zst", ".lz4"];
    let name = packings.iter().find_map(|packing| name.strip_suffix(packing)).unwrap_or(&name);
    ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| *format)
}

/// A path cleaned lexically, as UTF-8; other bytes are written `%XX`.
fn name_of(path: &Path) -> String {
    let clean = cleaned(path);
    if clean.as_os_str().is_empty() { ".".into() } else { escape(clean.as_os_str()) }
}

/// A path cleaned lexically: no `.`, and `..` only where it leads out of what was typed.
pub(crate) fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => (),
            Component::ParentDir if matches!(clean.components().next_back(), Some(Component::Normal(_))) => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

fn escape(name: &OsStr) -> String {
    let mut escaped = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        escaped.push_str(chunk.valid());
        escaped.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02X}")));
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cleaned_lexically() {
        for (path, name) in [("./a//b/", "a/b"), ("a/../b", "b"), ("../a", "../a"), ("/a/./b", "/a/b"), (".", "."), ("a/..", ".")]
        {
            assert_eq!(name_of(Path::new(path)), name, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_not_text_are_escaped() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(name_of(Path::new(OsStr::from_bytes(b"a\xff\xfeb"))), "a%FF%FEb");
    }

    #[test]
    fn rows_are_told_by_content() {
        assert!(starts_with_row(b"{\"text\":\"a\"}\n{\"text\":\"b\"}\n"));
        assert!(starts_with_row(b"\xef\xbb\xbf\n{\"text\":\"a\"}\n"));
        assert!(!starts_with_row(b"{\n  \"name\": \"package\"\n}\n"));
        assert!(!starts_with_row(b"plain text\n{\"a\":1}\n"));
        assert!(!starts_with_row(b""));
    }
}
