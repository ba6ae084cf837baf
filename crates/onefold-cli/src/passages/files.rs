//! The files of a result: what two documents share, what is repeated, and last the summary, without which there is no result.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use onefold::{Error, check_out_folder, replace_file, replace_file_with};
use serde::Serialize;

use super::Found;
use super::quotes::Quotes;
use super::summary::repeated;

const PASSAGES: &str = "passages.jsonl";
const REPEATED: &str = "repeated.jsonl";
const SUMMARY: &str = "summary.json";

/// Words of a shared passage that are shown.
const BEGINNING: usize = 12;

/// A line of `passages.jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    first_id: &'a str,
    second_id: &'a str,
    first_word: usize,
    second_word: usize,
    words: usize,
    text: String,
}

/// Whether the folder may be written to.
pub fn check(folder: &Path, overwrite: bool) -> Result<()> {
    let holds_result = || [PASSAGES, SUMMARY].iter().all(|name| folder.join(name).is_file());
    Ok(check_out_folder(folder, overwrite, |_| false, holds_result)?)
}

/// Writes them all, each whole or not at all.
pub fn write(folder: &Path, found: &Found, summary: &str) -> Result<()> {
    let failed = |action, path: &Path, cause| Error::Output { action, path: path.display().to_string(), cause };
    fs::create_dir_all(folder).map_err(|cause| failed("create", folder, cause))?;
    let former = folder.join(SUMMARY);
    match fs::remove_file(&former) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(failed("replace", &former, cause).into()),
        _ => (),
    }
    replace_file_with(&folder.join(PASSAGES), &|out| passages(found, out))?;
    replace_file_with(&folder.join(REPEATED), &|out| {
        repeated(found, usize::MAX).iter().try_for_each(|passage| line(out, passage))
    })?;
    replace_file(&former, summary.as_bytes())?;
    Ok(())
}

fn passages(found: &Found, out: &mut dyn Write) -> io::Result<()> {
    let mut quotes = Quotes::new(&found.documents);
    let id = |document: u32| found.documents[document as usize].id.as_deref().unwrap_or_default();
    for shared in &found.reuse.passages {
        let passage = shared.passage;
        let row = Line {
            first_id: id(shared.first),
            second_id: id(shared.second),
            first_word: passage.first,
            second_word: passage.second,
            words: passage.length,
            text: quotes.quote(shared.first, passage.first, passage.length.min(BEGINNING)),
        };
        line(out, &row)?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, row: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, row)?;
    out.write_all(b"\n")
}
