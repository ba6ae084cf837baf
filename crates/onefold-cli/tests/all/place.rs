//! A folder of its own for each test, the texts in it, and the results read back through the library.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use onefold::{Row, SavedResult};
use tempfile::TempDir;

use crate::program::{ONEFOLD, Program, Ran};

/// A temporary folder; commands run inside it, so that ids are short.
pub struct Place {
    folder: TempDir,
}

/// An entry of `skipped.jsonl`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    pub kind: String,
    pub input: String,
    pub reason: String,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Tests that give up root's rights must still be let in.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Place { folder }
    }

    /// With a folder `in` of three documents: `a.txt`, its copy `b.txt` in capitals, and `c.txt`, like nothing else.
    pub fn with_documents() -> Self {
        let place = Place::new();
        place.write("in/a.txt", text("a", 40));
        place.write("in/b.txt", text("a", 40).to_uppercase());
        place.write("in/c.txt", text("c", 40));
        place
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn at(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path().join(Path::new(name.as_ref()))
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        self.write_raw(name.as_bytes(), bytes)
    }

    /// A file whose name need not be text.
    pub fn write_raw(&self, name: &[u8], bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// `onefold` with these words, inside the folder.
    pub fn onefold<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Program {
        Program::new([ONEFOLD]).args(words).within(self.path())
    }

    /// `onefold scan … --out out`, run to its end; options follow after a space.
    pub fn scan(&self, words: &str) -> Ran {
        self.onefold(["scan", "--out", "out"]).args(words.split_whitespace()).run()
    }

    pub fn result(&self, name: &str) -> SavedResult {
        SavedResult::open(&self.at(name)).unwrap()
    }

    /// The rows of `out`'s documents, by id.
    pub fn documents(&self) -> BTreeMap<String, Row> {
        let rows = self.result("out").documents().unwrap();
        let count = rows.len();
        let by_id: BTreeMap<String, Row> = rows.into_iter().map(|row| (row.text("id").to_string(), row)).collect();
        assert_eq!(by_id.len(), count, "two documents have one id");
        by_id
    }

    pub fn ids(&self) -> BTreeSet<String> {
        self.documents().into_keys().collect()
    }

    /// The rows of `out`'s state, by id.
    pub fn state(&self) -> BTreeMap<String, Row> {
        self.result("out").state().unwrap().into_iter().map(|row| (row.text("id").to_string(), row)).collect()
    }

    pub fn removed(&self) -> BTreeSet<String> {
        self.documents().into_iter().filter(|(_, row)| !row.truth("keep")).map(|(id, _)| id).collect()
    }

    pub fn flags(&self, id: &str) -> String {
        self.documents()[id].text("flags").to_string()
    }

    pub fn remarks(&self) -> Vec<Remark> {
        let text = fs::read_to_string(self.at("out/skipped.jsonl")).unwrap();
        let remark = |line: &str| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let word = |name: &str| value[name].as_str().unwrap().to_string();
            assert!(!word("stage").is_empty());
            Remark { kind: word("kind"), input: word("input"), reason: word("reason") }
        };
        text.lines().map(remark).collect()
    }

    /// Input and reason of what was left out, sorted.
    pub fn skipped(&self) -> Vec<(String, String)> {
        let mut skipped: Vec<_> =
            self.remarks().into_iter().filter(|r| r.kind == "skipped").map(|r| (r.input, r.reason)).collect();
        skipped.sort();
        skipped
    }

    /// The files of a result that say what was found.
    pub fn found(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        let names = ["documents.parquet", "pairs.parquet", "state.parquet", "skipped.jsonl"];
        names.into_iter().map(|name| (name.to_string(), fs::read(self.at(format!("{out}/{name}"))).unwrap())).collect()
    }

    /// Every name below a folder, hidden ones too.
    pub fn listing(&self, name: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut folders = vec![self.at(name)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
                names.insert(entry.path().strip_prefix(self.at(name)).unwrap().to_string_lossy().into_owned());
            }
        }
        names
    }
}

/// So many words that occur in no text of another name.
pub fn text(name: &str, words: usize) -> String {
    (0..words).map(|n| format!("{name}{n}")).collect::<Vec<_>>().join(" ")
}

/// A row of JSONL.
pub fn row(id: &str, text: &str) -> String {
    serde_json::json!({ "id": id, "text": text }).to_string() + "\n"
}

/// With more rows in `a.jsonl` than 64 KiB of tables hold, and an empty folder `mount`.
pub fn large() -> Place {
    let place = Place::new();
    let rows: String = (0..3000).map(|n| row(&format!("document-{}-{n}", n * 7_919), &text(&format!("n{n}x"), 20))).collect();
    place.write("a.jsonl", rows);
    fs::create_dir(place.at("mount")).unwrap();
    place
}

/// The files of a finished result.
pub const RESULT: [&str; 6] = ["documents.parquet", "pairs.parquet", "report.html", "run.json", "skipped.jsonl", "state.parquet"];

pub fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

pub fn set<S: ToString>(of: impl IntoIterator<Item = S>) -> BTreeSet<String> {
    of.into_iter().map(|s| s.to_string()).collect()
}
