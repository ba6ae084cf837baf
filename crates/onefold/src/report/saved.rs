//! Reading a result folder: nothing is believed that the manifest does not vouch for.

use std::fs;
use std::path::{Path, PathBuf};

use super::folder::{MANIFEST, PAGE, replace_file};
use super::format::{Format, Row};
use super::manifest::{FileDigest, Manifest, RESULT_VERSION};
use crate::error::{Error, Result, Skipped};

/// A published result.
#[derive(Debug)]
pub struct SavedResult {
    folder: PathBuf,
    /// What was done and what came out.
    pub manifest: Manifest,
}

impl SavedResult {
    /// Reads the manifest and checks every file that it names.
    pub fn open(folder: &Path) -> Result<SavedResult> {
        let path = folder.join(MANIFEST);
        let text = fs::read(&path).map_err(|cause| Error::Input { path: path.display().to_string(), cause })?;
        let corrupt = |problem: String| Error::Corrupt { path: path.display().to_string(), problem };
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|e| corrupt(e.to_string()))?;
        if manifest.result_version != RESULT_VERSION {
            return Err(corrupt(format!(
                "it has version {}, this program reads version {RESULT_VERSION}",
                manifest.result_version
            )));
        }
        if manifest.plan.digest()? != manifest.plan_digest {
            return Err(corrupt("the digest of its plan is another".into()));
        }
        let result = SavedResult { folder: folder.to_path_buf(), manifest };
        result.manifest.files.iter().try_for_each(|(name, expected)| result.verify(name, expected))?;
        Ok(result)
    }

    /// Puts a page in the place of the one that the result has. At every moment the manifest vouches for what is there: it lets go of the old page
    /// before the new one comes.
    pub fn publish_page(&mut self, page: &str) -> Result<PathBuf> {
        let path = self.folder.join(PAGE);
        self.manifest.files.remove(PAGE);
        self.write_manifest()?;
        let digest = replace_file(&path, page.as_bytes())?;
        self.manifest.files.insert(PAGE.into(), digest);
        self.write_manifest()?;
        Ok(path)
    }

    fn write_manifest(&self) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(&self.manifest).map_err(|e| Error::Bug(e.to_string()))?;
        text.push(b'\n');
        replace_file(&self.folder.join(MANIFEST), &text).map(|_| ())
    }

    /// Checks a file against its digest.
    fn verify(&self, name: &str, expected: &FileDigest) -> Result<()> {
        let path = self.folder.join(name);
        let corrupt = |problem: String| Error::Corrupt { path: path.display().to_string(), problem };
        let mut hasher = blake3::Hasher::new();
        fs::File::open(&path).and_then(|file| hasher.update_reader(file).map(|_| ())).map_err(|e| corrupt(e.to_string()))?;
        let same = hasher.finalize().to_hex().as_str() == expected.blake3;
        if same { Ok(()) } else { Err(corrupt("its digest is not the one in run.json".into())) }
    }

    /// The documents table.
    pub fn documents(&self) -> Result<Vec<Row>> {
        self.table("documents", self.manifest.format)
    }

    /// The pairs table.
    pub fn pairs(&self) -> Result<Vec<Row>> {
        self.table("pairs", self.manifest.format)
    }

    /// The state table.
    pub fn state(&self) -> Result<Vec<Row>> {
        self.table("state", self.state_format())
    }

    /// The documents table and the state table, row by row of the same documents.
    pub fn documents_with_state(&self) -> Result<(Vec<Row>, Vec<Row>)> {
        let (documents, state) = (self.documents()?, self.state()?);
        let in_step = documents.len() == state.len() && documents.iter().zip(&state).all(|(a, b)| a.text("id") == b.text("id"));
        if !in_step {
            return Err(self.corrupt("state", "its rows are not those of the documents table"));
        }
        Ok((documents, state))
    }

    /// What is only for programs is written as Parquet, where that is built in.
    fn state_format(&self) -> Format {
        if self.manifest.files.contains_key("state.parquet") { Format::Parquet } else { Format::Jsonl }
    }

    /// The documents of the reference that the pairs name; none where there was no reference.
    pub fn reference(&self) -> Result<Vec<Row>> {
        let format = self.state_format();
        let there = self.manifest.files.contains_key(&format!("reference.{}", format.extension()));
        if there { self.table("reference", format) } else { Ok(Vec::new()) }
    }

    /// What was skipped, and what was remarked on.
    pub fn skipped(&self) -> Result<Vec<Skipped>> {
        let text = fs::read_to_string(self.folder.join("skipped.jsonl")).map_err(|e| self.corrupt("skipped.jsonl", e))?;
        text.lines().map(|line| serde_json::from_str(line).map_err(|e| self.corrupt("skipped.jsonl", e))).collect()
    }

    /// A file of the result is not what it should be.
    pub(crate) fn corrupt(&self, name: &str, problem: impl ToString) -> Error {
        Error::Corrupt { path: self.folder.join(name).display().to_string(), problem: problem.to_string() }
    }

    fn table(&self, name: &str, format: Format) -> Result<Vec<Row>> {
        let name = format!("{name}.{}", format.extension());
        let path = self.folder.join(&name);
        let corrupt = |problem: String| Error::Corrupt { path: path.display().to_string(), problem };
        if !self.manifest.files.contains_key(&name) {
            return Err(corrupt("the manifest does not name it".into()));
        }
        format.read(&path).map_err(|e| corrupt(e.to_string()))
    }
}
