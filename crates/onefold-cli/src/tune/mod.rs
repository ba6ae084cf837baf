//! `onefold tune`: a promise typed → the cheapest plan that keeps it.

mod label;
mod page;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use onefold::{AdaptiveSettings, Exec, Method, Plan, Relate, Verify, printable};
use onefold_study::sampling::{Advice, ClassAdvice, Classes, Forecast, Goal, Outlook, Shelf, Wish, tune};

use crate::args::{PlanArgs, TuneArgs};
use crate::exit::{Done, Usage};
use crate::numbers::grouped;
use crate::progress::Progress;
use crate::{output, scan, settings, texts};

/// More classes take the planner too long.
const MOST_CLASSES: usize = 40;

/// Makes the plan, writes it and says what it is worth.
pub fn run(args: &TuneArgs) -> Result<Done> {
    if let Some(labels) = &args.label {
        return label::run(args, labels);
    }
    let mut plan = plan(args)?;
    let wish = wish(args, &plan)?;
    if args.classes.len() > MOST_CLASSES {
        return Err(Usage(format!("--classes takes up to {MOST_CLASSES} sizes, not {}", args.classes.len())).into());
    }
    let files: Vec<&Path> = [Some(&args.out), args.report.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    texts::check_outputs(&files, &args.inputs, args.overwrite)?;
    let progress = Progress::new(output::is_watched() && !args.quiet);
    let exec = Exec { keep_texts: false, ..texts::exec(args.threads, &progress)? };
    let collection = onefold::ingest(&plan, &exec, scan::source(&args.inputs, &[])?, &onefold::Discard)?;
    let done = texts::check(&collection)?;
    let shelf = Shelf::new(&collection, false)?;
    drop(collection);
    let classes = if args.classes.is_empty() { Classes::doubling() } else { Classes::new(args.classes.iter().copied()) };
    let advice = tune(&shelf, classes, wish, &exec, |step| texts::announce(step, args.quiet))?;
    if let Method::Adaptive(settings) = &plan.method {
        plan.method = Method::Adaptive(AdaptiveSettings { classes: advice.shares(), ..settings.clone() });
    }
    plan.validate()?;
    let heading = heading(&advice, &plan);
    if let Some(report) = &args.report {
        onefold::replace_file(report, page::page(&advice, &plan).as_bytes())?;
    }
    onefold::replace_file(&args.out, format!("{heading}{}", toml::to_string(&plan)?).as_bytes())?;
    output::print_as(args.json, args.quiet, || Ok(serde_json::to_string_pretty(&advice)? + "\n"), || text(&advice, &plan, args))?;
    Ok(done)
}

/// How documents are compared, by the one method that this is about.
fn plan(args: &TuneArgs) -> Result<Plan> {
    if args.plan.verify.is_some_and(|verify| settings::verify(verify) == Verify::None) && args.precision.is_none() {
        return Err(Usage("--verify none needs a --precision to keep".into()).into());
    }
    // The method that this is about, unless another is named: then it says so.
    let named = args.plan.method.is_none() && args.plan.config.is_none();
    let mut plan = settings::resolve(&PlanArgs {
        method: named.then(|| "adaptive".into()).or(args.plan.method.clone()),
        ..args.plan.clone()
    })?;
    match (&plan.method, &args.plan.method) {
        (Method::Adaptive(_), _) => (),
        (Method::Exact, None) => onefold::preset("adaptive")?.apply(&mut plan),
        (method, _) => {
            return Err(Usage(format!("tune makes plans for the method 'adaptive', not for '{}'", method.name())).into());
        }
    }
    if args.plan.verify.is_none() && args.precision.is_some() {
        plan.verify = Verify::None;
    }
    let refused = [
        (plan.common_shingles.is_some(), "a limit to common shingles"),
        (plan.relation != Relate::Resemblance, "containment"),
        (!matches!(plan.verify, Verify::Exact | Verify::None), "verification by edit distance"),
    ];
    if let Some((_, what)) = refused.iter().find(|(given, _)| *given) {
        return Err(Usage(format!("tune can't foresee what {what} does; leave it away")).into());
    }
    plan.validate()?;
    Ok(plan)
}

fn wish(args: &TuneArgs, plan: &Plan) -> Result<Wish> {
    let verified = plan.verify == Verify::Exact;
    let share = |name: &str, value: f64| match value {
        value if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err(Usage(format!("--{name} needs a share above 0 and up to 1, not {value}"))),
    };
    let goal = Goal {
        precision: share("precision", args.precision.unwrap_or(1.0))?,
        recall: share("recall", args.recall.unwrap_or(if verified { 0.95 } else { 0.8 }))?,
    };
    let margin = match &plan.method {
        Method::Adaptive(settings) if verified => Some(settings.margin),
        _ => None,
    };
    if let Some(wrong) = args.confidence.filter(|share| !(0.5..1.0).contains(share)) {
        return Err(Usage(format!("--confidence needs a share from 0.5 to below 1, not {wrong}")).into());
    }
    Ok(Wish { threshold: plan.threshold, goal, confidence: args.confidence, margin })
}

/// What the plan promises, for those who open the file.
fn heading(advice: &Advice, plan: &Plan) -> String {
    let overall = &advice.overall.expected;
    format!(
        "# onefold {}: a share of shingles for each size of document, by 'onefold tune'\n\
         # threshold {}: expected precision {}, recall {}, with {} of the shingles{}\n",
        env!("CARGO_PKG_VERSION"),
        plan.threshold,
        if advice.verified { "1 (verified)".into() } else { share(overall.precision()) },
        share(overall.recall()),
        percent(advice.cost),
        advice
            .confidence
            .map_or(String::new(), |share| format!("; {} of the runs shall keep the promise for each size", percent(share))),
    )
}

/// A share to three places.
fn share(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{value:.3}"))
}

/// A part of the shingles.
fn percent(value: f64) -> String {
    if value >= 1.0 { "all".into() } else { format!("{:.2} %", 100.0 * value) }
}

fn interval(interval: Option<(f64, f64)>) -> String {
    interval.map_or(String::new(), |(low, high)| format!("{low:.2}–{high:.2}"))
}

/// The shingles of a class of documents, in words.
fn sizes(class: &ClassAdvice) -> String {
    match class.to {
        Some(to) => format!("{}–{}", class.from, to - 1),
        None => format!("{} and more", class.from),
    }
}

fn text(advice: &Advice, plan: &Plan, args: &TuneArgs) -> String {
    let documents: u64 = advice.classes.iter().map(|class| class.documents).sum();
    let mut text = format!(
        "  {} documents with shingles, exact copies left out; {} pairs with a resemblance from {} on\n\n",
        grouped(documents),
        grouped(advice.true_pairs.round() as u64),
        plan.threshold
    );
    let _ = writeln!(
        text,
        "  {:<15}{:>10}{:>9}{:>10}   {:<19}{:<19}trials",
        "shingles", "documents", "pairs", "keep", "precision", "recall"
    );
    for class in advice.classes.iter().filter(|class| class.documents > 0) {
        let _ = writeln!(text, "{}", row(&sizes(class), class.documents, class.share, &class.pairs, advice.verified));
    }
    let _ = writeln!(text, "{}", row("all", documents, advice.cost, &advice.overall, advice.verified));
    text.push('\n');
    text.push_str(&remarks(advice));
    if advice.looked_at < 1.0 && documents > 0 {
        let share = percent(advice.looked_at);
        let _ = writeln!(text, "  pairs far below the threshold were estimated from {share} of the documents");
    }
    let plan = args.out.as_path();
    let _ =
        writeln!(text, "  plan  {}\n  next  onefold scan {} --config {} --out result", shown(plan), inputs(args), quoted(plan));
    text
}

/// What is to be known of a plan beside its figures.
fn remarks(advice: &Advice) -> String {
    if advice.true_pairs < 1.0 {
        return "  warning: no two documents resemble each other so much; nothing speaks for this plan or against it\n".into();
    }
    let saved = "one share for all documents that keeps the promise:";
    let mut text = format!("  {saved} {} of the shingles, against {}\n", percent(advice.uniform), percent(advice.cost));
    let mut warn = |of: &str, pairs: &Forecast| {
        let trials = pairs.pooled();
        let (precision, recall) = (share(trials.precision()), share(trials.recall()));
        let _ = writeln!(text, "  warning: trials of {of} gave precision {precision}, recall {recall}");
    };
    for class in advice.classes.iter().filter(|class| advice.falls_short(&class.pairs)) {
        warn(&format!("documents with {} shingles", sizes(class)), &class.pairs);
    }
    if advice.misses(&advice.overall) {
        warn("all documents", &advice.overall);
    }
    let few = advice.classes.iter().filter(|class| class.documents > 0 && class.pairs.is_left_to_expectations()).count();
    if few > 0 {
        let _ = writeln!(text, "  sizes with fewer than {} pairs have no trials that say much: {few} of them", Forecast::FEW);
    }
    text
}

fn row(name: &str, documents: u64, kept: f64, pairs: &Forecast, verified: bool) -> String {
    let both = |value: Option<f64>, range: Option<(f64, f64)>| format!("{} {:<13}", share(value), interval(range));
    let true_pairs = grouped(pairs.expected.truth.round() as u64);
    if pairs.expected.truth < 1.0 {
        // Without true pairs there is nothing to be precise about.
        return format!("  {name:<15}{:>10}{true_pairs:>9}{:>10}   –", grouped(documents), percent(kept));
    }
    let precision = match verified {
        true => format!("{:<19}", "1 (verified)"),
        false => both(pairs.expected.precision(), pairs.precision_interval()),
    };
    let recall = both(pairs.expected.recall(), pairs.recall_interval());
    let trials: Outlook = pairs.pooled();
    let trials = format!("{} {}", if verified { "1".into() } else { share(trials.precision()) }, share(trials.recall()));
    format!("  {name:<15}{:>10}{true_pairs:>9}{:>10}   {precision}{recall}{trials}", grouped(documents), percent(kept))
}

/// A path as people read it.
fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).to_string()
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let shown = shown(path);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,~=".contains(c);
    if shown.chars().all(plain) { shown } else { format!("'{}'", shown.replace('\'', "'\\''")) }
}

fn inputs(args: &TuneArgs) -> String {
    args.inputs.iter().map(|input| quoted(Path::new(input))).collect::<Vec<_>>().join(" ")
}
