//! `run.json`: what was done, what came out, and the digest of every file beside it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::format::Format;
use super::kept::KeptFolder;
use crate::plan::Plan;
use crate::run::{Counts, Warning};

/// Raised when a later reader could misread an earlier result.
pub const RESULT_VERSION: u32 = 1;

/// The manifest of a result folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The program that wrote it.
    pub onefold: String,
    /// The layout of the folder.
    pub result_version: u32,
    /// Of tokens and hashes.
    pub fingerprint_version: u32,
    /// The command, word by word.
    pub command: Vec<String>,
    /// Everything that could change the answer.
    pub plan: Plan,
    /// Of the plan.
    pub plan_digest: String,
    /// The inputs as named.
    pub inputs: Vec<String>,
    /// The reference as named, where there was one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<String>,
    /// What came in and what came out.
    pub counts: Counts,
    /// What deserves a second look.
    pub warnings: Vec<Warning>,
    /// Seconds by stage.
    pub timings: BTreeMap<String, f64>,
    /// How the tables are written.
    pub format: Format,
    /// The kept documents, where they were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptFolder>,
    /// Every other file of the result.
    pub files: BTreeMap<String, FileDigest>,
}

/// What a file must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// Its size.
    pub bytes: u64,
    /// Its BLAKE3 digest.
    pub blake3: String,
}
