//! `onefold passages`: which parts documents share, as files and as a summary.

mod files;
mod quotes;
mod summary;

use std::time::Instant;

use anyhow::Result;
use onefold::{Document, Plan, Reuse, ReuseSettings, Sequences};

use crate::args::{PassagesArgs, PlanArgs};
use crate::exit::Done;
use crate::progress::Progress;
use crate::texts::{self, Beside, Texts};
use crate::{output, settings};
use summary::Summary;

/// What was found, and in what.
struct Found {
    settings: ReuseSettings,
    documents: Vec<Document>,
    reuse: Reuse,
    skipped: u64,
}

/// Finds them, writes the files where asked, and prints the summary.
pub fn run(args: &PassagesArgs) -> Result<Done> {
    let plan = plan(args)?;
    let settings = reuse_settings(args);
    settings.validate()?;
    args.out.as_deref().map_or(Ok(()), |out| files::check(out, args.overwrite))?;
    let began = Instant::now();
    let progress = Progress::new(output::is_watched() && !args.quiet);
    let exec = texts::exec(args.threads, &progress)?;
    let Texts { documents, skipped, done } = texts::read(&plan, &exec, &args.inputs, &Beside(args.out.clone()))?;
    let reuse = onefold::reuse(&Sequences::of_documents(&documents, &exec)?, &settings, &exec)?;
    let found = Found { settings, documents, reuse, skipped };
    let summary = Summary::new(&found, args.out.as_deref(), began.elapsed().as_secs_f64());
    if let Some(out) = &args.out {
        files::write(out, &found, &summary.json()?)?;
    }
    output::print_as(args.json, args.quiet, || summary.json(), || summary.text())?;
    Ok(done)
}

fn reuse_settings(args: &PassagesArgs) -> ReuseSettings {
    let default = ReuseSettings::default();
    ReuseSettings {
        words: args.words.unwrap_or(default.words),
        max_places: args.max_places.unwrap_or(default.max_places),
        top: args.top.unwrap_or(default.top),
    }
}

/// How inputs are read.
fn plan(args: &PassagesArgs) -> Result<Plan> {
    let mut plan = settings::resolve(&PlanArgs::default())?;
    settings::reading(&mut plan, &args.reading);
    plan.validate()?;
    Ok(plan)
}
