//! Publishing a result: parts are written and made durable under a hidden name, then renamed; the manifest comes last.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::Sink;
use super::format::Format;
use super::kept::{self, KeptFolder, missing_folders};
use super::manifest::{FileDigest, Manifest, RESULT_VERSION};
use super::saved::SavedResult;
use super::tables::{Documents, Pairs, Reference, State};
use crate::document::InputFile;
use crate::error::{Error, Result};
use crate::exec::{Exec, Spill};
use crate::run::Outcome;
use crate::shingle::hash::FINGERPRINT_VERSION;

/// Makes a page of an outcome.
pub type MakePage = Box<dyn Fn(&Outcome) -> Result<String> + Send + Sync>;

/// A result folder to be.
pub struct ResultFolder {
    /// Where.
    pub path: PathBuf,
    /// How tables are written.
    pub format: Format,
    /// Whether a former result may be replaced.
    pub overwrite: bool,
    /// The command, for the manifest.
    pub command: Vec<String>,
    /// The inputs, for the manifest.
    pub inputs: Vec<String>,
    /// The reference, for the manifest.
    pub against: Vec<String>,
    /// A page for people, made from the outcome and published with the rest as `report.html`.
    pub page: Option<MakePage>,
    /// A file for the ids of removed documents, one a line.
    pub exclude_list: Option<PathBuf>,
    /// A folder for the kept documents, in files like those they came from.
    pub write_kept: Option<PathBuf>,
    /// What was written there.
    pub kept: Option<KeptFolder>,
    /// Before the claim, so that it is dropped first: it may lie inside the result folder.
    kept_claim: Option<kept::Claim>,
    claim: Option<Claim>,
}

/// The folder while a run works in it: locked, with a hidden place for the parts. Dropping it cleans up.
#[derive(Debug)]
struct Claim {
    staging: PathBuf,
    /// The lock; the system lets go of it if we die.
    held: Option<Lock>,
    /// Folders that were not there before, the deepest first.
    created: Vec<PathBuf>,
}

#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
}

const LOCK: &str = ".lock";
/// Begins the names of hidden folders that parts are written to.
const STAGING: &str = ".run-";
pub(super) const MANIFEST: &str = "run.json";
pub(super) const PAGE: &str = "report.html";

impl ResultFolder {
    /// A folder with default settings.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        ResultFolder {
            path: path.into(),
            format: Format::default(),
            overwrite: false,
            command: Vec::new(),
            inputs: Vec::new(),
            against: Vec::new(),
            exclude_list: None,
            page: None,
            write_kept: None,
            kept: None,
            claim: None,
            kept_claim: None,
        }
    }

    fn check_target(&self) -> Result<()> {
        let half_published = self.staging_folders().any(|staging| staging.join(MANIFEST).exists());
        let is_ours = |name: &OsStr| half_published && is_part(name);
        check_out_folder(&self.path, self.overwrite, is_ours, || self.former_files().is_some())
    }

    /// Where runs wrote parts that they never finished putting in place.
    fn staging_folders(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(STAGING.as_bytes())).map(|entry| entry.path())
    }

    /// The files that a former result in the folder names; nothing else there is ours.
    fn former_files(&self) -> Option<Vec<String>> {
        let manifest: serde_json::Value = serde_json::from_slice(&fs::read(self.path.join(MANIFEST)).ok()?).ok()?;
        manifest.get("onefold")?.as_str()?;
        let files = manifest.get("files")?.as_object()?;
        Some(files.keys().filter(|name| !name.contains('/')).cloned().collect())
    }

    fn claim(&self) -> Result<Claim> {
        let created = missing_folders(&self.path);
        let mut claim = Claim { staging: self.path.join(format!("{STAGING}{}", std::process::id())), held: None, created };
        fs::create_dir_all(&self.path).map_err(|e| Error::output("create", &self.path, e))?;
        claim.held = Some(take_lock(&self.path)?);
        // Only now is it certain that nobody published here in the meantime.
        self.check_target()?;
        self.drop_parts_of_dead_runs();
        fs::create_dir(&claim.staging).map_err(|e| Error::output("create", &claim.staging, e))?;
        Ok(claim)
    }

    /// The result, if it was published by the run that left `spill` and died before it dropped that; all that the run left goes now.
    pub fn published_by(&self, spill: &Spill) -> Result<Option<SavedResult>> {
        let Ok(manifest) = fs::read(self.path.join(MANIFEST)) else { return Ok(None) };
        if !spill.is_published(&blake3::hash(&manifest).to_hex()) {
            return Ok(None);
        }
        let saved = SavedResult::open(&self.path)?;
        let lock = take_lock(&self.path)?;
        self.drop_parts_of_dead_runs();
        fs::remove_file(&lock.path).map_err(|e| Error::output("remove", &lock.path, e))?;
        // Last: it is what brings the next run here if this one dies as well.
        spill.remove();
        Ok(Some(saved))
    }

    /// Parts without a manifest are worth nothing, and nobody else is at work here: we hold the lock.
    fn drop_parts_of_dead_runs(&self) {
        for staging in self.staging_folders() {
            // With a manifest there it died while it put parts in place; without one here they are nobody's.
            if staging.join(MANIFEST).exists() && !self.path.join(MANIFEST).exists() {
                let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
                entries.filter(|entry| is_part(&entry.file_name())).for_each(|part| _ = fs::remove_file(part.path()));
            }
            let _ = fs::remove_dir_all(staging);
        }
    }

    /// Writes the parts, as many at a time as there are threads.
    fn write_parts(&self, outcome: &Outcome, staging: &Path) -> Result<BTreeMap<String, FileDigest>> {
        type WritePart<'a> = Box<dyn Fn(&Path) -> Result<FileDigest> + Send + Sync + 'a>;
        let (format, extension) = (self.format, self.format.extension());
        let state = if cfg!(feature = "parquet") { Format::Parquet } else { Format::Jsonl };
        let mut parts: Vec<(String, WritePart<'_>)> = Vec::new();
        // Threads begin at both ends and in the middle: there the long ones stand.
        if let Some(make) = &self.page {
            let write = |path: &Path| {
                let page = make(outcome)?;
                write_part(path, &|out| out.write_all(page.as_bytes()))
            };
            parts.push((PAGE.into(), Box::new(write)));
        }
        let write = move |path: &Path| write_part(path, &|out| state.write(&State(outcome), out));
        parts.push((format!("state.{}", state.extension()), Box::new(write)));
        let write = move |path: &Path| write_part(path, &|out| format.write(&Pairs::new(outcome), out));
        parts.push((format!("pairs.{extension}"), Box::new(write)));
        let write = move |path: &Path| write_part(path, &|out| format.write(&Documents(outcome), out));
        parts.push((format!("documents.{extension}"), Box::new(write)));
        if outcome.collection.reference_documents.is_some() {
            let write = move |path: &Path| {
                let reference = Reference::new(outcome)?;
                write_part(path, &|out| state.write(&reference, out))
            };
            parts.push((format!("reference.{}", state.extension()), Box::new(write)));
        }
        parts.push(("skipped.jsonl".into(), Box::new(|path| write_part(path, &|out| write_skipped(outcome, out)))));
        let write = |(name, write): (String, WritePart<'_>)| write(&staging.join(&name)).map(|digest| (name, digest));
        parts.into_par_iter().with_max_len(1).map(write).collect()
    }

    fn manifest(&self, outcome: &Outcome, exec: &Exec<'_>, files: BTreeMap<String, FileDigest>) -> Result<Manifest> {
        Ok(Manifest {
            onefold: env!("CARGO_PKG_VERSION").into(),
            result_version: RESULT_VERSION,
            fingerprint_version: FINGERPRINT_VERSION,
            command: self.command.clone(),
            plan_digest: outcome.plan.digest()?,
            plan: outcome.plan.clone(),
            inputs: self.inputs.clone(),
            against: self.against.clone(),
            counts: outcome.counts.clone(),
            warnings: outcome.warnings.clone(),
            timings: exec.observer.timings().into_iter().map(|(stage, seconds)| (stage.name().to_string(), seconds)).collect(),
            format: self.format,
            kept: self.kept.clone(),
            files,
        })
    }

    /// Puts the parts in place. A former manifest goes first: from here on there is no result until the new one is complete.
    fn publish(&self, staging: &Path, names: impl Iterator<Item = String>) -> Result<()> {
        if let Some(former) = self.former_files() {
            // The page may have been made of the former result later, by a command of its own.
            for name in [MANIFEST.to_string(), PAGE.to_string()].into_iter().chain(former) {
                let old = self.path.join(name);
                match fs::remove_file(&old) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(Error::output("replace", &old, e)),
                    _ => (),
                }
            }
            sync_folder(&self.path)?;
        }
        for name in names.chain([MANIFEST.to_string()]) {
            let target = self.path.join(&name);
            if name == MANIFEST {
                sync_folder(&self.path)?;
            }
            fs::rename(staging.join(&name), &target).map_err(|e| Error::output("rename", &target, e))?;
        }
        sync_folder(&self.path)
    }
}

impl Sink for ResultFolder {
    fn replaces(&self) -> bool {
        self.overwrite
    }

    fn own_folders(&self) -> Vec<PathBuf> {
        let kept = self.kept_claim.iter().map(|claim| claim.staging().to_path_buf());
        [self.path.clone()].into_iter().chain(self.write_kept.clone()).chain(kept).collect()
    }

    fn prepare(&mut self) -> Result<()> {
        self.check_target()?;
        self.write_kept.as_deref().map_or(Ok(()), kept::check_target)?;
        self.claim = Some(self.claim()?);
        // Only now is it seen that one folder is the other, or inside it.
        self.kept_claim = self.write_kept.as_deref().map(kept::Claim::take).transpose()?;
        Ok(())
    }

    fn review(&self, inputs: &[InputFile]) -> Result<()> {
        self.write_kept.as_deref().map_or(Ok(()), |folder| kept::review(inputs, folder))
    }

    fn bytes_to_write(&self, documents: u64, id_bytes: u64) -> u64 {
        // The page shows a selection, however large the collection is; the state is Parquet whatever the tables are.
        let page = if self.page.is_some() { 256 << 10 } else { 0 };
        page + self.format.bytes_of_documents(documents, id_bytes) + State::bytes(documents, id_bytes)
    }

    fn bytes_to_read(&self, outcome: &Outcome) -> Option<u64> {
        self.write_kept.is_some().then(|| kept::bytes_to_read(outcome))
    }

    fn accept(&mut self, outcome: &Outcome, exec: &Exec<'_>) -> Result<()> {
        let mut claim = self.claim.take().ok_or_else(|| Error::Bug("the output folder was not prepared".into()))?;
        let mut kept_claim = self.kept_claim.take();
        let files = self.write_parts(outcome, &claim.staging)?;
        self.kept = match (&kept_claim, &self.write_kept) {
            (Some(claim), Some(folder)) => Some(kept::write(outcome, claim, folder, exec)?),
            _ => None,
        };
        let names: Vec<String> = files.keys().cloned().collect();
        let manifest = self.manifest(outcome, exec, files)?;
        let manifest = write_part(&claim.staging.join(MANIFEST), &|out| {
            serde_json::to_writer_pretty(&mut *out, &manifest)?;
            out.write_all(b"\n")
        })?;
        sync_folder(&claim.staging)?;
        exec.check()?;
        if let Some(list) = &self.exclude_list {
            write_exclude_list(list, outcome)?;
        }
        exec.spill.as_ref().map_or(Ok(()), |spill| spill.note_published(&manifest.blake3))?;
        kept_claim.as_mut().map_or(Ok(()), kept::Claim::publish)?;
        self.publish(&claim.staging, names.into_iter())?;
        claim.created.clear();
        kept_claim.into_iter().for_each(kept::Claim::release);
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.staging);
        if let Some(lock) = self.held.take() {
            let _ = fs::remove_file(&lock.path);
        }
        for folder in &self.created {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Whether a file is called like one of a result.
fn is_part(name: &OsStr) -> bool {
    let stem = Path::new(name).file_stem().and_then(OsStr::to_str).unwrap_or_default();
    ["documents", "pairs", "state", "reference", "skipped", "report"].contains(&stem)
}

/// Whether a result may be written to a folder: one that does not exist, is empty but for what a dead run left, or has a former result that
/// may be replaced.
pub fn check_out_folder(
    path: &Path,
    overwrite: bool,
    is_left_over: impl Fn(&OsStr) -> bool,
    holds_result: impl FnOnce() -> bool,
) -> Result<()> {
    let refuse = |problem| Err(Error::OutputExists { path: path.display().to_string(), problem });
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(_) if !path.is_dir() => return refuse("is not a folder"),
        Err(e) => return Err(Error::output("open", path, e)),
        Ok(_) => (),
    }
    let names = fs::read_dir(path).and_then(|entries| entries.map(|e| e.map(|e| e.file_name())).collect::<io::Result<Vec<_>>>());
    let names = names.map_err(|e| Error::output("read", path, e))?;
    if names.iter().all(|name| name.as_encoded_bytes().starts_with(b".") || is_left_over(name)) {
        return Ok(());
    }
    match (holds_result(), overwrite) {
        (true, true) => Ok(()),
        (true, false) => refuse("already holds a result"),
        (false, _) => refuse("exists and is not a result folder"),
    }
}

fn take_lock(folder: &Path) -> Result<Lock> {
    let path = folder.join(LOCK);
    let failed = |e| Error::output("create", &path, e);
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
    if file.try_lock().is_err() {
        let holder = fs::read_to_string(&path).unwrap_or_default();
        let holder = if holder.trim().is_empty() { "process unknown".into() } else { holder.trim().to_string() };
        return Err(Error::Locked { path: folder.display().to_string(), holder });
    }
    let lock = Lock { path: path.clone(), _file: file.try_clone().map_err(failed)? };
    let written = file.set_len(0).and_then(|()| writeln!(file, "process {} on {}", std::process::id(), host_name()));
    if let Err(e) = written {
        let _ = fs::remove_file(&path);
        return Err(failed(e));
    }
    Ok(lock)
}

fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "this machine".into() } else { name.trim().into() }
}

/// Writes a file that must not exist yet, makes it durable, and returns its digest.
fn write_part(path: &Path, write: &dyn Fn(&mut (dyn Write + Send)) -> io::Result<()>) -> Result<FileDigest> {
    let attempt = || {
        let file = File::options().write(true).create_new(true).open(path)?;
        // Digested in large pieces: bit by bit it costs more than the writing.
        let mut out = BufWriter::with_capacity(1 << 18, Hashed { inner: file, hasher: blake3::Hasher::new(), bytes: 0 });
        write(&mut out)?;
        let Hashed { inner, hasher, bytes } = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        inner.sync_all()?;
        Ok(FileDigest { bytes, blake3: hasher.finalize().to_hex().to_string() })
    };
    attempt().map_err(|e| Error::output("write", path, e))
}

/// An id as a line: itself, or a JSON string where it has line ends in it or begins like one.
fn as_line(id: &str) -> String {
    if id.contains(['\n', '\r']) || id.starts_with('"') { serde_json::Value::from(id).to_string() } else { id.to_string() }
}

/// Writes the ids of removed documents, one a line.
fn write_exclude_list(path: &Path, outcome: &Outcome) -> Result<()> {
    replace_file_with(path, &|out| {
        for (document, _) in outcome.documents().filter(|(_, verdict)| !verdict.kept) {
            writeln!(out, "{}", as_line(&document.id))?;
        }
        Ok(())
    })
    .map(|_| ())
}

/// Writes a file whole or not at all: a reader never sees half of it.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<FileDigest> {
    replace_file_with(path, &|out| out.write_all(bytes))
}

/// The same for a file that need not be in memory as a whole.
pub fn replace_file_with(path: &Path, write: &dyn Fn(&mut (dyn Write + Send)) -> io::Result<()>) -> Result<FileDigest> {
    // Where a link leads is replaced, not the link; a device or a pipe never is.
    let linked = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()).then(|| fs::canonicalize(path).ok()).flatten();
    let path = linked.as_deref().unwrap_or(path);
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Error::output("replace", path, io::Error::other("it is no ordinary file")));
    }
    let name = path.file_name().ok_or_else(|| Error::output("write", path, io::Error::other("a file name is needed")))?;
    let partial = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let _ = fs::remove_file(&partial);
    let written = write_part(&partial, write);
    let renamed =
        written.and_then(|digest| fs::rename(&partial, path).map(|()| digest).map_err(|e| Error::output("write", path, e)));
    if renamed.is_err() {
        let _ = fs::remove_file(&partial);
    }
    renamed
}

fn sync_folder(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|e| Error::output("write", path, e))
}

fn write_skipped(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    for skipped in &outcome.collection.skipped {
        serde_json::to_writer(&mut *out, skipped)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Digests what passes.
struct Hashed<W> {
    inner: W,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.hasher.update(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
