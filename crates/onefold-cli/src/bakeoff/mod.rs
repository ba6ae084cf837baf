//! `onefold bakeoff`: methods beside each other, as a table and as a page.

mod page;

use std::fmt::Write;

use anyhow::Result;
use onefold::{Exec, Method, PRESETS, Plan, Preset, Verify, printable};
use onefold_study::bakeoff::{Bakeoff, Entrant, Standing, bakeoff};
use onefold_study::gold::Gold;
use onefold_study::judge::Verdict;

use crate::args::{BakeoffArgs, PlanArgs};
use crate::exit::{Done, Usage};
use crate::numbers::{duration, grouped, size};
use crate::progress::Progress;
use crate::texts::{self, Texts};
use crate::{output, settings};

/// Measures that the terminal shows; the page has all.
const SHOWN_MEASURES: usize = 6;

/// Runs all of them, prints the table and writes the page.
pub fn run(args: &BakeoffArgs) -> Result<Done> {
    let base = base(args)?;
    texts::check_outputs(&[&args.out], &args.inputs, args.overwrite)?;
    let gold = args.gold.as_deref().map(Gold::read).transpose().map_err(|error| Usage(error.to_string()))?;
    let progress = Progress::new(output::is_watched() && !args.quiet);
    let exec = texts::exec(args.threads, &progress)?;
    let Texts { documents, done, .. } = texts::read(&base, &exec, &args.inputs, &onefold::Discard)?;
    let exec = Exec { keep_texts: false, ..exec };
    let entrants = entrants(args, &base);
    let watch = |name: &str| texts::announce(name, args.quiet);
    let result = bakeoff(&base, &entrants, &documents, gold.as_ref(), &exec, watch)?;
    let page = page::page(&result, &entrants, &texts::names(&args.inputs));
    onefold::replace_file(&args.out, page.as_bytes())?;
    output::print_as(args.json, args.quiet, || Ok(serde_json::to_string_pretty(&result)? + "\n"), || text(&result, args))?;
    Ok(done)
}

/// By what pairs are true.
fn base(args: &BakeoffArgs) -> Result<Plan> {
    let plan = PlanArgs { threshold: args.threshold.clone(), ngram_size: args.ngram_size, ..PlanArgs::default() };
    let mut plan = settings::resolve(&plan)?;
    settings::reading(&mut plan, &args.reading);
    plan.validate()?;
    Ok(plan)
}

/// The methods that were asked for, each with its own settings at the common threshold.
fn entrants(args: &BakeoffArgs, base: &Plan) -> Vec<Entrant> {
    let wanted = |preset: &&Preset| args.methods.is_empty() || args.methods.iter().any(|name| name == preset.name);
    let verify = args.verify.map_or(Verify::None, settings::verify);
    let entrant = |preset: &Preset| {
        let mut plan = base.clone();
        preset.apply(&mut plan);
        plan.threshold = base.threshold;
        if plan.method != Method::Exact {
            plan.verify = verify;
        }
        Entrant { name: preset.name, plan }
    };
    PRESETS.iter().filter(wanted).map(entrant).collect()
}

/// A share to three places; what is not all never reads 1.
fn share(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{:.3}", if value < 1.0 { value.min(0.999) } else { 1.0 }))
}

fn text(result: &Bakeoff, args: &BakeoffArgs) -> String {
    let mut text = format!(
        "  {} documents, {} pairs with a resemblance from {} on\n\n",
        grouped(result.documents as u64),
        grouped(result.truth),
        result.threshold
    );
    let gold = result.standings.iter().any(|standing| standing.gold.is_some());
    let heading = format!(
        "  {:<14}{:>9}{:>9}{:>11}{:>11}{:>11}{:>11}{:>8}",
        "method", "time", "memory", "found", "missed", "invented", "precision", "recall"
    );
    let _ = writeln!(text, "{heading}{}", if gold { format!("{:>9}", "gold F1") } else { String::new() });
    result.standings.iter().for_each(|standing| _ = writeln!(text, "{}", row(standing)));
    if !result.measures.is_empty() {
        let _ =
            writeln!(text, "\n  {:<62}{:>10}{:>9}{:>17}", "measure, by the labels", "threshold", "best F1", "cross-validated");
    }
    for Verdict { measure, threshold, best_f1, cross_validated_f1 } in result.measures.iter().take(SHOWN_MEASURES) {
        let _ = writeln!(text, "  {measure:<62}{threshold:>10.3}{best_f1:>9.3}{cross_validated_f1:>17.3}");
    }
    let _ = writeln!(text, "\n  page  {}", printable(&args.out.display().to_string()));
    text
}

fn row(standing: &Standing) -> String {
    let Standing { name, seconds, exact, .. } = standing;
    let memory = standing.peak_bytes.map_or("–".into(), size);
    if standing.problem.is_some() {
        return format!("  {name:<14}{:>9}{memory:>9}  too many pairs to compare", duration(*seconds));
    }
    let [found, missed, invented] =
        [exact.true_positives, exact.false_negatives, exact.false_positives].map(|count| format!("{:>11}", grouped(count)));
    let (precision, recall) = (share(exact.precision), share(exact.recall));
    let gold = standing.gold.map_or(String::new(), |gold| format!("{:>9}", share(gold.f1)));
    format!("  {name:<14}{:>9}{memory:>9}{found}{missed}{invented}{precision:>11}{recall:>8}{gold}", duration(*seconds))
}
