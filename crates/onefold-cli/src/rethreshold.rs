//! `onefold rethreshold`: the answer for another threshold, from a result.

use std::time::Instant;

use anyhow::Result;
use onefold::{Exec, Outcome, SavedResult, Sink, rethreshold};

use crate::args::RethresholdArgs;
use crate::exit::{Done, Usage};
use crate::scan::result_folder;
use crate::summary::Summary;

/// Prints the summary and, where asked, writes the result.
pub fn run(args: &RethresholdArgs) -> Result<Done> {
    if args.out.is_none() && (args.writing.overwrite || args.writing.exclude_list.is_some()) {
        return Err(Usage("--overwrite and --exclude-list need --out: without it nothing is written".into()).into());
    }
    let began = Instant::now();
    let threshold = args.threshold.parse()?;
    let saved = SavedResult::open(&args.result)?;
    let exec = Exec::default();
    let outcome = match &args.out {
        None => rethreshold(&saved, &exec, threshold)?,
        Some(out) => {
            let manifest = &saved.manifest;
            let mut folder = result_folder(out, &args.writing, manifest.inputs.clone(), manifest.against.clone());
            if args.writing.format.is_none() {
                folder.format = manifest.format;
            }
            folder.prepare()?;
            let outcome: Outcome = rethreshold(&saved, &exec, threshold)?;
            folder.accept(&outcome, &exec)?;
            outcome
        }
    };
    let seconds = began.elapsed().as_secs_f64();
    let summary = Summary { outcome: &outcome, folder: args.out.as_deref(), kept: None, seconds };
    summary.print(args.json, args.quiet)?;
    Ok(if outcome.is_partial() { Done::Partial } else { Done::Complete })
}
