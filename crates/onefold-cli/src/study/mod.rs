//! `onefold study`: the published parameter studies on any collection, as a page and tables.

mod page;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use onefold::{Error, Exec, Hash, Plan, TextRules, Threshold, printable};
use onefold_study::sampling::{Classes, Design};
use onefold_study::study::{Options, Study, study};
use serde_json::json;

use crate::args::{PlanArgs, StudyArgs};
use crate::exit::{Done, Usage};
use crate::numbers::{duration, grouped};
use crate::progress::Progress;
use crate::texts::Beside;
use crate::{output, scan, settings, texts};

const REPORT: &str = "report.html";
/// More than anybody reads.
const MOST_THRESHOLDS: usize = 50;
const FINDINGS: &str = "findings.json";

/// Does all of it, writes the files and prints the findings.
pub fn run(args: &StudyArgs) -> Result<Done> {
    let (plan, options) = (plan(args)?, options(args)?);
    let holds_study = || [REPORT, FINDINGS].iter().all(|name| args.out.join(name).is_file());
    onefold::check_out_folder(&args.out, args.overwrite, |_| false, holds_study)?;
    let progress = Progress::new(output::is_watched() && !args.quiet);
    let exec = Exec { keep_texts: false, ..texts::exec(args.threads, &progress)? };
    let mut done = Done::Complete;
    let check = |collection: &onefold::Collection| {
        done = texts::check(collection)?;
        Ok(())
    };
    let source = scan::source(&args.inputs, &[])?;
    let beside = Beside(Some(args.out.clone()));
    let study = study(&plan, options, source, &beside, &exec, check, |step| texts::announce(step, args.quiet))?;
    write(&args.out, &study, &texts::names(&args.inputs))?;
    output::print_as(args.json, args.quiet, || json(&study), || text(&study, args))?;
    Ok(done)
}

/// How text becomes shingles: as in Ye, Wen, Ma, but for the hash.
fn plan(args: &StudyArgs) -> Result<Plan> {
    let flags = PlanArgs { ngram_size: Some(args.ngram_size.unwrap_or(10)), text: args.text, ..PlanArgs::default() };
    let mut plan = settings::resolve(&flags)?;
    if args.text.is_none() {
        plan.text = TextRules::Plain;
    }
    settings::reading(&mut plan, &args.reading);
    plan.validate()?;
    Ok(plan)
}

fn options(args: &StudyArgs) -> Result<Options> {
    let or = |given: &[u32], default: &[u32]| if given.is_empty() { default.to_vec() } else { given.to_vec() };
    let typed: Vec<&str> = args.thresholds.iter().map(String::as_str).collect();
    let typed = if typed.is_empty() { vec!["0.5", "0.6", "0.7", "0.8", "0.85", "0.9", "0.95", "0.99"] } else { typed };
    let mut thresholds = typed.into_iter().map(str::parse).collect::<onefold::Result<Vec<Threshold>>>()?;
    thresholds.sort_unstable();
    thresholds.dedup();
    if thresholds.len() > MOST_THRESHOLDS {
        return Err(Usage(format!("--thresholds takes up to {MOST_THRESHOLDS}, not {}", thresholds.len())).into());
    }
    let mut moduli = or(&args.ratios, &[2, 4, 8, 16, 25, 32]);
    moduli.sort_unstable();
    moduli.dedup();
    let classes = if args.groups.is_empty() { Classes::of_ye() } else { Classes::new(args.groups.iter().copied()) };
    let lengths = or(&args.lengths, &[3, 5, 8, 15, 20]);
    if let Some(length) = lengths.iter().find(|length| !(1..=1000).contains(*length)) {
        return Err(Usage(format!("--lengths needs numbers from 1 to 1000, not {length}")).into());
    }
    let model = "0.85".parse()?;
    Ok(Options {
        design: Design { moduli, thresholds, classes },
        lengths,
        hashes: vec![Hash::Rabin32, Hash::Rabin40, Hash::Md5],
        pieces: vec![2, 4, 8],
        model_threshold: model,
    })
}

/// Writes all files, the findings last: without them there is no study.
fn write(out: &Path, study: &Study, inputs: &[String]) -> Result<()> {
    let failed = |cause| Error::Output { action: "create", path: out.display().to_string(), cause };
    fs::create_dir_all(out).map_err(failed)?;
    for (name, table) in study.tables() {
        onefold::replace_file(&out.join(name), table.as_bytes())?;
    }
    onefold::replace_file(&out.join(REPORT), page::page(study, inputs).as_bytes())?;
    onefold::replace_file(&out.join(FINDINGS), json(study)?.as_bytes())?;
    Ok(())
}

fn json(study: &Study) -> Result<String> {
    let whole = json!({
        "summary": study.summary,
        "trials": study.trials.count(),
        "true_pairs_by_threshold": study.trials.design.thresholds.iter().zip(&study.trials.truth.smaller)
            .map(|(threshold, pairs)| (threshold.to_string(), pairs.iter().sum::<u64>())).collect::<Vec<_>>(),
        "findings": study.findings,
        "largest_difference_of_model": study.largest_difference(),
        "nikkhoo": {
            "documents": study.commonality.documents,
            "looked_at": study.commonality.looked_at,
            "complete": study.commonality.complete,
            "samples": study.commonality.samples,
            "limits": study.commonality.limits,
        },
        "seconds": study.seconds,
    });
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

fn text(study: &Study, args: &StudyArgs) -> String {
    let summary = &study.summary;
    let mut text = format!(
        "  {} documents, {} exact copies; {} words and {} shingles in the rest\n",
        grouped(summary.documents),
        grouped(summary.copies),
        grouped(study.sizes.iter().map(|&words| u64::from(words)).sum()),
        grouped(summary.shingles)
    );
    let (count, seconds) = (grouped(study.trials.count()), duration(study.total_seconds()));
    let _ = writeln!(text, "  {count} trials, everything in {seconds}\n");
    for finding in &study.findings {
        let holds = finding.holds.map_or("not to tell", |holds| if holds { "holds" } else { "does not hold" });
        let _ = writeln!(text, "  {:<5}{:<15}{}\n  {:<20}{}", finding.id, holds, finding.claim, "", finding.here);
    }
    let report: PathBuf = args.out.join(REPORT);
    let _ = writeln!(text, "\n  page  {}", printable(&report.display().to_string()));
    text
}
