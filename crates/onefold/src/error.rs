//! What can go wrong, in families: *usage* (your plan), *input* (your data), *output*, *bug* (ours).
//!
//! A bad document never becomes an [`Error`]: it becomes a [`Skipped`] and the run goes on.

use std::io;

use serde::{Deserialize, Serialize};

use crate::exec::Memory;
use crate::run::Stage;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting of the plan is outside what it may be.
    #[error("{name} must be {allowed}, not '{}'", printable(.found))]
    Setting {
        /// The setting's name as people type it.
        name: &'static str,
        /// What it may be, in words.
        allowed: String,
        /// What was typed.
        found: String,
    },
    /// An input that was named cannot be opened.
    #[error("cannot open input '{}': {cause}", printable(.path))]
    Input {
        /// The input as typed.
        path: String,
        /// What the system said.
        cause: io::Error,
    },
    /// No document was found in the inputs.
    #[error("no document in the inputs: {seen} seen, none taken{}", printable(.first))]
    NoInput {
        /// How many inputs or records were looked at.
        seen: u64,
        /// The first of them with the reason why not, as a clause; may be empty.
        first: String,
    },
    /// The result folder exists already, or holds something else.
    #[error("output folder '{}' {problem}", printable(.path))]
    OutputExists {
        /// The folder.
        path: String,
        /// What is in the way.
        problem: &'static str,
    },
    /// The folder for kept documents is in the way of itself.
    #[error("folder for kept documents '{}' {problem}", printable(.path))]
    KeptExists {
        /// The folder.
        path: String,
        /// What is in the way.
        problem: &'static str,
    },
    /// An input would have to be read twice, and is gone once it was read.
    #[error("cannot {action} '{}': {kind} can be read only once", printable(.input))]
    ReadOnce {
        /// What was asked for, as a verb.
        action: &'static str,
        /// The input as shown.
        input: String,
        /// What it is.
        kind: &'static str,
    },
    /// Kept documents of two inputs would be written to one place.
    #[error("'{}' and '{}' would both be written to '{}'", printable(.first), printable(.second), printable(.path))]
    SamePlace {
        /// An input.
        first: String,
        /// The other.
        second: String,
        /// Where both would be.
        path: String,
    },
    /// An input is not what it was when it was read, or can't be read any more.
    #[error("input '{}' changed during the run: {problem}", printable(.path))]
    Changed {
        /// The input.
        path: String,
        /// What is different.
        problem: String,
    },
    /// Documents were read from the input, but it can't be copied: columns that nobody had to read are damaged or packed in a strange way.
    #[error("cannot copy the kept documents of '{}': {problem}", printable(.path))]
    Unreadable {
        /// The input.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Writing failed.
    #[error("cannot {action} '{}': {cause}", printable(.path))]
    Output {
        /// What was attempted, as a verb: `write`, `create`, `rename`.
        action: &'static str,
        /// Where.
        path: String,
        /// What the system said.
        cause: io::Error,
    },
    /// A result folder does not hold what its manifest says.
    #[error("result '{}' failed verification: {problem}", printable(.path))]
    Corrupt {
        /// The file that is wrong.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file for what does not fit in memory can't be written or read.
    #[error("cannot {action} spill file '{}': {cause}", printable(.path))]
    Spill {
        /// What was attempted.
        action: &'static str,
        /// Where.
        path: String,
        /// What the system said.
        cause: io::Error,
    },
    /// A file for what does not fit in memory holds something else than was written.
    #[error("spill file '{}' failed verification: frame at byte {offset}: {problem}", printable(.path))]
    Damaged {
        /// The file.
        path: String,
        /// Where in it.
        offset: u64,
        /// What is wrong.
        problem: String,
    },
    /// The documents of a collection need more memory than the run may take.
    #[error("{what} needs more memory than the {limit} MiB it may take")]
    OutOfMemory {
        /// What needs it.
        what: String,
        /// What there is, in MiB.
        limit: u64,
    },
    /// An interrupted run left its work, and nobody said what to do with it.
    #[error("an interrupted run left its work in '{}'", printable(.path))]
    Unfinished {
        /// The folder.
        path: String,
    },
    /// What an interrupted run left is of another run.
    #[error("cannot resume from '{}': {problem}", printable(.path))]
    CannotResume {
        /// The folder.
        path: String,
        /// What is different.
        problem: String,
    },
    /// Another run works in the same output folder.
    #[error("output folder '{}' is in use by another run ({holder})", printable(.path))]
    Locked {
        /// The folder.
        path: String,
        /// Who holds it.
        holder: String,
    },
    /// There are more true pairs than anyone wants listed.
    #[error("more than {limit} pairs are near-duplicates")]
    TooManyPairs {
        /// The limit that was passed.
        limit: u64,
    },
    /// The collection is larger than this version can work on.
    #[error("the collection is too large: more than {limit} {what}")]
    TooLarge {
        /// Of what there is too much.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The run was cancelled from outside.
    #[error("interrupted")]
    Interrupted,
    /// A fault of ours.
    #[error("internal fault: {0}")]
    Bug(String),
}

/// The families of errors; they map to exit codes, Python exceptions and HTTP statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The plan or the command line is wrong.
    Usage,
    /// There is nothing to work on.
    Input,
    /// Output or temporary files cannot be written.
    Output,
    /// Stored data failed verification.
    Corrupt,
    /// Somebody else holds the folder.
    Locked,
    /// Refused for safety.
    Refused,
    /// Cancelled.
    Interrupted,
    /// A fault of ours.
    Bug,
}

impl Error {
    pub(crate) fn setting(name: &'static str, allowed: impl Into<String>, found: impl Into<String>) -> Self {
        Error::Setting { name, allowed: allowed.into(), found: found.into() }
    }

    pub(crate) fn output(action: &'static str, path: &std::path::Path, cause: io::Error) -> Self {
        Error::Output { action, path: path.display().to_string(), cause }
    }

    pub(crate) fn spill(action: &'static str, path: &std::path::Path, cause: io::Error) -> Self {
        Error::Spill { action, path: path.display().to_string(), cause }
    }

    pub(crate) fn out_of_memory(what: impl Into<String>, memory: Memory) -> Self {
        Error::OutOfMemory { what: what.into(), limit: memory.limit().unwrap_or(0) >> 20 }
    }

    /// The family.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Setting { .. } | Error::Input { .. } | Error::OutputExists { .. } => ErrorKind::Usage,
            Error::KeptExists { .. } | Error::ReadOnce { .. } | Error::SamePlace { .. } => ErrorKind::Usage,
            Error::Unfinished { .. } | Error::CannotResume { .. } => ErrorKind::Usage,
            Error::NoInput { .. } => ErrorKind::Input,
            Error::Output { .. } | Error::Changed { .. } | Error::Unreadable { .. } | Error::Spill { .. } => ErrorKind::Output,
            Error::Corrupt { .. } | Error::Damaged { .. } => ErrorKind::Corrupt,
            Error::Locked { .. } => ErrorKind::Locked,
            Error::TooManyPairs { .. } | Error::TooLarge { .. } | Error::OutOfMemory { .. } => ErrorKind::Refused,
            Error::Interrupted => ErrorKind::Interrupted,
            Error::Bug(_) => ErrorKind::Bug,
        }
    }

    /// A stable code; its second and third digits are the exit code.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Bug(_) => "E0101",
            Error::Setting { .. } => "E0201",
            Error::Input { .. } => "E0202",
            Error::OutputExists { .. } => "E0203",
            Error::KeptExists { .. } => "E0206",
            Error::ReadOnce { .. } => "E0207",
            Error::SamePlace { .. } => "E0208",
            Error::Unfinished { .. } => "E0209",
            Error::CannotResume { .. } => "E0210",
            Error::NoInput { .. } => "E0401",
            Error::Output { .. } => "E0501",
            Error::Changed { .. } => "E0503",
            Error::Unreadable { .. } => "E0504",
            Error::Spill { .. } => "E0512",
            Error::Corrupt { .. } => "E0601",
            Error::Damaged { .. } => "E0602",
            Error::Locked { .. } => "E0701",
            Error::TooManyPairs { .. } => "E0801",
            Error::TooLarge { .. } => "E0802",
            Error::OutOfMemory { .. } => "E0803",
            Error::Interrupted => "E1301",
        }
    }

    /// What to do about it, where there is something to say.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::OutputExists { .. } => Some("name another folder with --out, or replace a former result with --overwrite"),
            Error::NoInput { .. } => Some(
                "text, Markdown, source code, HTML, JSONL, CSV, TSV and Parquet are read; --text-column names the field with the text",
            ),
            Error::KeptExists { .. } => {
                Some("name a folder with --write-kept that does not exist yet, or is empty; none is ever replaced")
            }
            Error::ReadOnce { .. } => Some("write it to a file first, and scan that"),
            Error::SamePlace { .. } => Some("scan a folder above both, or scan them in two runs"),
            Error::Changed { .. } => Some("nothing was published; scan again when nobody writes to it"),
            Error::Unreadable { .. } => Some("nothing was published; leave the input out, or scan without --write-kept"),
            Error::Output { .. } => Some("nothing was published"),
            Error::Corrupt { .. } => Some("the folder was changed after the run; scan again"),
            Error::TooManyPairs { .. } => Some(
                "--pairs star lists only each document with its representative and gives the same clusters; --max-pairs raises the limit",
            ),
            Error::Spill { cause, .. } if cause.kind() == io::ErrorKind::PermissionDenied => {
                Some("name a folder with --temp-dir that can be written to; nothing was published")
            }
            Error::Spill { .. } => Some(
                "free space there or name another folder with --temp-dir ('--estimate' says how much is needed); nothing was published",
            ),
            Error::Damaged { .. } => Some(
                "nothing was published; the disk below --temp-dir is not to be trusted, or somebody wrote there. '--resume' goes on with what is sound",
            ),
            Error::OutOfMemory { .. } => {
                Some("raise --memory, or lower --max-document-bytes if one document is the reason; nothing was published")
            }
            Error::Unfinished { .. } => Some("go on with --resume, or start anew with --overwrite"),
            Error::CannotResume { .. } => {
                Some("resume with the command that was interrupted, or start anew with --overwrite instead of --resume")
            }
            Error::Interrupted => Some("nothing was published"),
            Error::Bug(_) => Some("please report this with the command that led to it"),
            _ => None,
        }
    }
}

/// An input that was not processed, or one that was but with a flag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// Left out, or taken with a remark.
    pub kind: SkipKind,
    /// The file, `file:line`, or document id.
    pub input: String,
    /// Where it happened.
    pub stage: Stage,
    /// A stable word.
    pub reason: String,
    /// For people; may be empty.
    pub detail: String,
}

impl Skipped {
    /// Flags that say that not all of an input could be taken as it is.
    pub(crate) const LOSSES: [&'static str; 3] = ["lossy", "truncated", "renamed"];

    /// Whether the input was left out, cut, lossily read or renamed.
    pub fn is_loss(&self) -> bool {
        self.kind == SkipKind::Skipped || Self::LOSSES.contains(&self.reason.as_str())
    }
}

/// Whether a [`Skipped`] input has a row among the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipKind {
    /// It has a row, with this flag.
    Flagged,
    /// It has none.
    Skipped,
}

/// Makes control and bidirectional characters of names visible, so that a file name cannot steer a terminal.
pub fn printable(text: &str) -> String {
    let harmless = |c: char| {
        !c.is_control() && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{061c}')
    };
    text.chars()
        .flat_map(|c| if harmless(c) { c.to_string() } else { c.escape_default().to_string() }.chars().collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_steer_a_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{202e}d"), "a\\u{1b}[31mb\\nc\\u{202e}d");
        assert_eq!(printable("naïve 文書"), "naïve 文書");
    }

    #[test]
    fn the_code_carries_the_exit_code() {
        assert_eq!(Error::TooManyPairs { limit: 1 }.code(), "E0801");
        assert_eq!(Error::setting("threshold", "x", "y").kind(), ErrorKind::Usage);
    }
}
