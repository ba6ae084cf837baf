//! The truth that `onefold evaluate` scores a result against.
//!
//! In: a file, or the values of a gold column. Out: judged pairs, or a class for each document. The format is
//! recognised by content, never by the name of the file:
//!
//! | first line that is not blank | read as |
//! |---|---|
//! | `{…` | JSONL `{"hash": …, "ids": […]}`, one class per line |
//! | names `id_a` or `id_b` | pairs, CSV or TSV with a header, optionally with a `label` |
//! | has a tab | one class per line: the class, then its documents |
//! | two words | `class_id doc_id` |
//!
//! Invariant: a pair is held once, with `a < b` bytewise; a document is in one class. Nothing is dropped but repeated
//! statements of the same fact. Cost: O(n log n) in the statements, all in memory.

mod classes;
mod pairs;
mod problem;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub use problem::{GoldError, GoldProblem};

/// What is known to be true about a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gold {
    /// Single pairs of documents.
    Pairs {
        /// The pairs, sorted, each once.
        pairs: Vec<JudgedPair>,
        /// With labels only the listed pairs are known, and only they are scored. Without, every listed pair is
        /// positive and every other pair of documents is negative.
        labelled: bool,
    },
    /// The class of each document, by document id. Documents of one class are duplicates of one another; nothing is
    /// known about documents that are not listed.
    Classes(BTreeMap<String, String>),
}

/// A pair of documents and whether they are near-duplicates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JudgedPair {
    /// The bytewise smaller id.
    pub a: String,
    /// The bytewise larger id.
    pub b: String,
    /// Whether the two are near-duplicates.
    pub positive: bool,
}

impl Gold {
    /// Reads a gold file in any of the formats of this module.
    pub fn read(path: &Path) -> Result<Gold, GoldError> {
        let bytes = fs::read(path).map_err(|source| GoldError::Read { path: path.to_owned(), source })?;
        let content = |problem| GoldError::Content { path: path.to_owned(), problem };
        let text = str::from_utf8(&bytes).map_err(|error| {
            let valid = &bytes[..error.valid_up_to()];
            let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count();
            content(GoldProblem::Encoding { line })
        })?;
        Gold::parse(text).map_err(content)
    }

    /// Reads the text of a gold file.
    pub fn parse(text: &str) -> Result<Gold, GoldProblem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let first = text.lines().find(|line| !line.trim().is_empty());
        let first = first.ok_or(GoldProblem::Empty)?;
        if first.trim_start().starts_with('{') {
            classes::read_json_lines(text)
        } else if pairs::is_header(first) {
            pairs::read(text, first)
        } else if first.contains('\t') {
            classes::read_tabs(text)
        } else {
            classes::read_words(text)
        }
    }

    /// The gold of a column of the input: document ids with their classes.
    ///
    /// A document with an empty label is not judged and is left out; otherwise all documents without a value would
    /// make one large class.
    pub fn from_labels(labels: impl Iterator<Item = (String, String)>) -> Result<Gold, GoldProblem> {
        let mut classes = classes::Classes::default();
        for (document, class) in labels {
            if !class.trim().is_empty() {
                classes.add(None, document, class)?;
            }
        }
        classes.finish()
    }
}

/// Lines that are not blank, numbered from 1.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().zip(1..).map(|(line, number)| (number, line));
    lines.filter(|(_, line)| !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    /// Where the shared collections are; `ONEFOLD_SHARED_DATA` overrides it.
    const SHARED_DATA: &str = "../../../shared/data";

    /// The path of a shared file, or nothing (said aloud) where the collections are missing.
    fn shared(name: &str) -> Option<PathBuf> {
        let root = std::env::var("ONEFOLD_SHARED_DATA").unwrap_or_else(|_| SHARED_DATA.into());
        let path = Path::new(&root).join(name);
        if !path.exists() {
            eprintln!("SKIPPED: {} is missing", path.display());
            return None;
        }
        Some(path)
    }

    /// Documents and classes of a shared file.
    fn sizes(name: &str) -> Option<(usize, usize)> {
        let path = shared(name)?;
        match Gold::read(&path).unwrap() {
            Gold::Classes(classes) => {
                let names: BTreeSet<_> = classes.values().collect();
                Some((classes.len(), names.len()))
            }
            Gold::Pairs { .. } => panic!("{name} holds classes"),
        }
    }

    #[test]
    fn real_class_files() {
        let lineage = sizes("debdocs_slice/lineage_clusters.tsv");
        assert!(lineage.is_none_or(|found| found == (1919, 482)));
        let clueweb09 = sizes("trec/ecir20/trec-fingerprint-groups-clueweb09-judged.jsonl");
        assert!(clueweb09.is_none_or(|found| found == (17816, 5516)));
        let clueweb12 = sizes("trec/ecir20/trec-fingerprint-groups-clueweb12-judged.jsonl");
        assert!(clueweb12.is_none_or(|found| found == (7508, 2523)));
    }

    #[test]
    fn real_judged_pairs() {
        let Some(path) = shared("webis_s3_terabyte/gold_pairs.tsv") else {
            return;
        };
        let Gold::Pairs { pairs, labelled } = Gold::read(&path).unwrap() else { panic!("the file holds pairs") };
        assert!(labelled);
        assert_eq!(pairs.len(), 115);
        assert_eq!(pairs.iter().filter(|pair| pair.positive).count(), 70);
    }

    #[test]
    fn files_that_are_no_gold_are_refused() {
        for name in [
            "trec/ecir20/qrels.web.51-100.txt",
            "trec/ecir20/published-judgment-inconsistencies.jsonl",
            "trec/ecir20/LICENSE",
            "parkr_ndd/sample_output.txt",
        ] {
            let Some(path) = shared(name) else { continue };
            let message = Gold::read(&path).unwrap_err().to_string();
            assert!(message.contains(": line "), "{message}");
        }
    }

    #[test]
    fn another_programs_pairs_after_a_line_of_sed() {
        let Some(path) = shared("parkr_ndd/sample_output.txt") else {
            return;
        };
        let mut table = String::from("id_a,id_b\n");
        for line in fs::read_to_string(path).unwrap().lines() {
            let names = line.split_once(" are near-duplicates").and_then(|(names, _)| names.split_once(" and "));
            names.iter().for_each(|(a, b)| table.push_str(&format!("{a},{b}\n")));
        }
        let Gold::Pairs { pairs, labelled } = Gold::parse(&table).unwrap() else { panic!("the table holds pairs") };
        assert!(!labelled);
        assert_eq!(pairs.len(), 10);
        assert!(pairs.iter().all(|pair| pair.positive && pair.a < pair.b));
    }

    #[test]
    fn missing_empty_and_undecodable_files() {
        let folder = std::env::temp_dir().join(format!("onefold-gold-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let missing = Gold::read(&folder.join("missing")).unwrap_err();
        assert!(matches!(missing, GoldError::Read { .. }));
        let latin = folder.join("latin1.tsv");
        fs::write(&latin, b"c1\td1\nc2\tf\xfcnf\n").unwrap();
        let message = Gold::read(&latin).unwrap_err().to_string();
        assert!(message.ends_with("latin1.tsv: line 2: not valid utf-8"), "{message}");
        fs::remove_dir_all(&folder).unwrap();
        for text in ["", "\u{feff}", "\n \n", "id_a,id_b\n", "{\"hash\":\"1\",\"ids\":[]}\n"] {
            assert_eq!(Gold::parse(text).unwrap_err(), GoldProblem::Empty, "{text}");
        }
    }

    #[test]
    fn labels_of_a_column() {
        let labels = |rows: &[(&str, &str)]| {
            let rows: Vec<_> = rows.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
            Gold::from_labels(rows.into_iter())
        };
        let Gold::Classes(classes) = labels(&[("a", "x"), ("b", "x"), ("c", " "), ("a", "x")]).unwrap() else {
            panic!("a column holds classes")
        };
        assert_eq!(classes.len(), 2);
        let message = labels(&[("a", "x"), ("a", "y")]).unwrap_err().to_string();
        assert_eq!(message, "document \"a\" is in two classes, \"x\" and \"y\"");
        assert_eq!(labels(&[("a", "")]).unwrap_err(), GoldProblem::Empty);
    }
}
