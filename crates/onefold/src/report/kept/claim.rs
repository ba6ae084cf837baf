//! The place of the kept documents: checked before the work, filled under a hidden name, and put in place at the end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The folder while it is being filled. Unless it is released, dropping it removes everything that came from us.
#[derive(Debug)]
pub(in crate::report) struct Claim {
    target: PathBuf,
    /// Beside the target, or inside it where that is there already: it may be a mount, or somebody's only writable folder.
    staging: PathBuf,
    /// Folders that were not there before, the deepest first.
    created: Vec<PathBuf>,
    /// What stands under its final name.
    published: Vec<PathBuf>,
}

/// Refuses a target that holds anything.
pub(in crate::report) fn check_target(target: &Path) -> Result<()> {
    let refuse = |problem| Err(Error::KeptExists { path: target.display().to_string(), problem });
    match fs::symlink_metadata(target) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Error::output("open", target, e)),
        Ok(_) if !target.is_dir() => return refuse("is not a folder"),
        Ok(_) => (),
    }
    let mut entries = fs::read_dir(target).map_err(|e| Error::output("read", target, e))?;
    if entries.next().is_some() { refuse("is not empty") } else { Ok(()) }
}

impl Claim {
    /// Checks the target and makes the hidden folder.
    pub(in crate::report) fn take(target: &Path) -> Result<Claim> {
        check_target(target)?;
        let name = target
            .file_name()
            .ok_or_else(|| Error::KeptExists { path: target.display().to_string(), problem: "must have a name of its own" })?;
        let hidden = format!(".{}.partial-{}", name.to_string_lossy(), std::process::id());
        let parent = if target.is_dir() { target.to_path_buf() } else { parent_of(target) };
        let staging = parent.join(hidden);
        let mut claim = Claim { target: target.into(), staging, created: missing_folders(&parent), published: Vec::new() };
        fs::create_dir_all(&parent).map_err(|e| Error::output("create", &parent, e))?;
        // A dead run may have had our number.
        let _ = fs::remove_dir_all(&claim.staging);
        if let Err(e) = fs::create_dir(&claim.staging) {
            let failed = Error::output("create", &claim.staging, e);
            claim.staging = PathBuf::new();
            return Err(failed);
        }
        Ok(claim)
    }

    /// Where to write.
    pub(in crate::report) fn staging(&self) -> &Path {
        &self.staging
    }

    /// Puts the folder in place: in one step where it was not there before, else file by file and folder by folder.
    pub(in crate::report) fn publish(&mut self) -> Result<()> {
        if !self.staging.starts_with(&self.target) {
            check_target(&self.target)?;
            return self.rename(&self.staging.clone(), &self.target.clone());
        }
        let failed = |e| Error::output("read", &self.staging, e);
        let entries: Vec<PathBuf> =
            fs::read_dir(&self.staging).and_then(|e| e.map(|e| e.map(|e| e.path())).collect()).map_err(failed)?;
        for entry in entries {
            let target = self.target.join(entry.file_name().unwrap_or_default());
            // Renaming would replace a file; somebody may have put one here in the meantime.
            if target.symlink_metadata().is_ok() {
                return Err(Error::KeptExists { path: target.display().to_string(), problem: "is there already" });
            }
            self.rename(&entry, &target)?;
        }
        fs::remove_dir(&self.staging).map_err(|e| Error::output("remove", &self.staging, e))
    }

    fn rename(&mut self, from: &Path, to: &Path) -> Result<()> {
        fs::rename(from, to).map_err(|e| Error::output("create", to, e))?;
        self.published.push(to.into());
        Ok(())
    }

    /// The run has come to its end: what was published stays.
    pub(in crate::report) fn release(mut self) {
        self.published.clear();
        self.created.clear();
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.staging.as_os_str().is_empty() {
            let _ = fs::remove_dir_all(&self.staging);
        }
        for path in &self.published {
            let _ = fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
        }
        for folder in &self.created {
            let _ = fs::remove_dir(folder);
        }
    }
}

fn parent_of(path: &Path) -> PathBuf {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf()
}

/// The folders on the way to `path` that are not there, the deepest first.
pub(in crate::report) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let named = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
    named.take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect()
}
