//! What can be wrong with a gold file.

use std::io;
use std::path::PathBuf;

/// A gold file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldError {
    /// The file could not be opened or read.
    #[error("{}: the gold file cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file was read and does not hold gold.
    #[error("{}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with its content.
        problem: GoldProblem,
    },
}

/// What is wrong with the content of a gold file; lines count from 1.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GoldProblem {
    /// No pair and no class.
    #[error("the gold is empty")]
    Empty,
    /// Ids are UTF-8.
    #[error("line {line}: not valid utf-8")]
    Encoding {
        /// The first line that is not.
        line: usize,
    },
    /// The first line fits none of the formats.
    #[error(
        "line {line}: expected a header naming id_a and id_b, a class and its documents, or a json object, \
         found \"{found}\""
    )]
    Unrecognised {
        /// The line.
        line: usize,
        /// Its beginning.
        found: String,
    },
    /// A header names one document column and not the other.
    #[error("line {line}: the header has no column {missing} (columns are separated by commas or tabs)")]
    Header {
        /// The line of the header.
        line: usize,
        /// The column that is missing.
        missing: &'static str,
    },
    /// A row with too few or too many fields.
    #[error("line {line}: expected {expected} fields, found {found}")]
    Ragged {
        /// The line.
        line: usize,
        /// How many fields it should have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A class or document without a name.
    #[error("line {line}: the {what} is empty")]
    Nameless {
        /// The line.
        line: usize,
        /// What has no name: a class or a document.
        what: &'static str,
    },
    /// A label that is not a number.
    #[error("line {line}: the label \"{found}\" is not a number")]
    Label {
        /// The line.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// A row that the CSV reader refuses.
    #[error("line {line}: not a row of a table: {reason}")]
    Table {
        /// The line.
        line: usize,
        /// What the reader said.
        reason: String,
    },
    /// A line that is not `{"hash": …, "ids": […]}`.
    #[error("line {line}: not an object with \"hash\" and \"ids\": {reason}")]
    Json {
        /// The line.
        line: usize,
        /// What the reader said.
        reason: String,
    },
    /// A pair of a document with itself.
    #[error("line {line}: document \"{document}\" is paired with itself")]
    SelfPair {
        /// The line.
        line: usize,
        /// The document.
        document: String,
    },
    /// A pair that is positive on one line and negative on another.
    #[error("line {line}: the pair \"{a}\" and \"{b}\" contradicts its label on line {earlier}")]
    Contradiction {
        /// The later line.
        line: usize,
        /// The line that it contradicts.
        earlier: usize,
        /// The smaller id.
        a: String,
        /// The larger id.
        b: String,
    },
    /// A document in two classes.
    #[error("{}document \"{document}\" is in two classes, \"{first}\" and \"{second}\"", at(*line))]
    TwoClasses {
        /// The line that names the second class; none for a gold column.
        line: Option<usize>,
        /// The document.
        document: String,
        /// The class that it was in.
        first: String,
        /// The class that it is also in.
        second: String,
    },
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!("line {line}: ")).unwrap_or_default()
}

/// The beginning of a line, short enough for a message.
pub(super) fn beginning(line: &str) -> String {
    const LONGEST: usize = 60;
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
