//! Reading a result folder: nothing is believed that the manifest does not vouch for.

use std::fs;
use std::path::{Path, PathBuf};

use super::format::{Format, Row};
use super::manifest::{Manifest, RESULT_VERSION};
use crate::error::{Error, Result};

/// A published result.
#[derive(Debug)]
pub struct SavedResult {
    folder: PathBuf,
    /// What was done and what came out.
    pub manifest: Manifest,
}

impl SavedResult {
    /// Reads the manifest.
    pub fn open(folder: &Path) -> Result<SavedResult> {
        let path = folder.join("run.json");
        let text = fs::read_to_string(&path).map_err(|cause| Error::Input { path: path.display().to_string(), cause })?;
        let corrupt = |problem: String| Error::Corrupt { path: path.display().to_string(), problem };
        let manifest: Manifest = serde_json::from_str(&text).map_err(|e| corrupt(e.to_string()))?;
        if manifest.result_version != RESULT_VERSION {
            return Err(corrupt(format!(
                "it has version {}, this program reads version {RESULT_VERSION}",
                manifest.result_version
            )));
        }
        Ok(SavedResult { folder: folder.to_path_buf(), manifest })
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
        let format = if self.manifest.files.contains_key("state.parquet") { Format::Parquet } else { Format::Jsonl };
        self.table("state", format)
    }

    fn table(&self, name: &str, format: Format) -> Result<Vec<Row>> {
        let name = format!("{name}.{}", format.extension());
        let path = self.folder.join(&name);
        let corrupt = |problem: String| Error::Corrupt { path: path.display().to_string(), problem };
        let expected = self.manifest.files.get(&name).ok_or_else(|| corrupt("the manifest does not name it".into()))?;
        let mut hasher = blake3::Hasher::new();
        fs::File::open(&path).and_then(|file| hasher.update_reader(file).map(|_| ())).map_err(|e| corrupt(e.to_string()))?;
        if hasher.finalize().to_hex().as_str() != expected.blake3 {
            return Err(corrupt("its digest is not the one in run.json".into()));
        }
        format.read(&path).map_err(|e| corrupt(e.to_string()))
    }
}
