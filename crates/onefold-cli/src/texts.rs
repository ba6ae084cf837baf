//! Collections that are read once and stay in memory, texts and all, for commands that look at them several times.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use onefold::{Collection, Document, Error, Exec, Memory, Observer, Outcome, Plan, Sink, SkipKind, Skipped, printable};

use crate::exit::{Done, Usage};
use crate::{output, scan};

/// What was read.
pub struct Texts {
    /// With ids of their own.
    pub documents: Vec<Document>,
    /// Inputs that were left out.
    pub skipped: u64,
    /// Whether all was taken as it is.
    pub done: Done,
}

/// How such a command is carried out.
pub fn exec(threads: Option<usize>, observer: &dyn Observer) -> Result<Exec<'_>> {
    let cancel = scan::signals()?;
    Ok(Exec { threads: scan::threads(threads)?, observer, cancel, memory: Memory::UNLIMITED, spill: None, keep_texts: true })
}

/// The inputs as pages name them.
pub fn names(inputs: &[OsString]) -> Vec<String> {
    inputs.iter().map(|input| input.to_string_lossy().into_owned()).collect()
}

/// An error where one of the files may not be replaced, is an input, or can't be made, or where two are one.
pub fn check_outputs(files: &[&Path], inputs: &[OsString], overwrite: bool) -> Result<()> {
    if files.iter().enumerate().any(|(at, file)| files[..at].contains(file)) {
        return Err(Usage("two outputs have one name".into()).into());
    }
    files.iter().try_for_each(|file| check_output(file, inputs, overwrite))
}

fn check_output(file: &Path, inputs: &[OsString], overwrite: bool) -> Result<()> {
    let shown = printable(&file.display().to_string()).to_string();
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::metadata(folder.join(".")).map_err(|cause| Error::Output { action: "create", path: shown.clone(), cause })?;
    let Ok(place) = file.canonicalize() else { return Ok(()) };
    if inputs.iter().any(|input| Path::new(input).canonicalize().is_ok_and(|input| input == place)) {
        return Err(Usage(format!("'{shown}' is an input; name another file")).into());
    }
    if !place.is_file() {
        return Err(Usage(format!("'{shown}' is no ordinary file; name another")).into());
    }
    if !overwrite {
        return Err(Usage(format!("'{shown}' is there already; --overwrite replaces it")).into());
    }
    Ok(())
}

/// Keeps a former result from being read as an input.
pub struct Beside(pub Option<PathBuf>);

impl Sink for Beside {
    fn own_folders(&self) -> Vec<PathBuf> {
        self.0.iter().cloned().collect()
    }

    fn accept(&mut self, _outcome: &Outcome, _exec: &Exec<'_>) -> onefold::Result<()> {
        Ok(())
    }
}

/// Says what comes next, where somebody watches.
pub fn announce(step: &str, quiet: bool) {
    if output::is_watched() && !quiet {
        output::error(&format!("{step}\n"));
    }
}

/// Reads everything; an error where there is no document.
pub fn read(plan: &Plan, exec: &Exec<'_>, inputs: &[OsString], sink: &dyn Sink) -> Result<Texts> {
    let collection = onefold::ingest(plan, exec, scan::source(inputs, &[])?, sink)?;
    let done = check(&collection)?;
    Ok(Texts { skipped: skipped(&collection), documents: collection.into_documents(), done })
}

fn skipped(collection: &Collection) -> u64 {
    collection.skipped.iter().filter(|skipped| skipped.kind == SkipKind::Skipped).count() as u64
}

/// Whether all was taken as it is; an error where there is no document.
pub fn check(collection: &Collection) -> onefold::Result<Done> {
    if collection.documents.is_empty() {
        let first = collection.skipped.first().map(|s| format!(" (first: '{}', {}: {})", s.input, s.reason, s.detail));
        return Err(Error::NoInput { seen: skipped(collection), first: first.unwrap_or_default() });
    }
    Ok(if collection.skipped.iter().any(Skipped::is_loss) { Done::Partial } else { Done::Complete })
}
