//! `onefold tune --label`: pairs near the threshold are shown one by one, and the answers become settings.

use std::io::{self, BufRead};
use std::path::Path;

use anyhow::Result;
use onefold::{Comparison, Document, Exec, Method, Plan, Verify, printable};
use onefold_study::labelling::{Labelling, Question, Recommendation};

use crate::args::TuneArgs;
use crate::exit::{Done, Usage};
use crate::progress::Progress;
use crate::texts::{self, Texts};
use crate::words::{Color, Painter};
use crate::{output, settings};

/// Questions that are asked without --questions.
const QUESTIONS: usize = 20;
/// Lines of a difference that are shown.
const SHOWN_LINES: usize = 14;

/// Asks, writes the answers and the plan that they speak for.
pub fn run(args: &TuneArgs, labels: &Path) -> Result<Done> {
    let plan = settings::resolve(&args.plan)?;
    if plan.method != Method::Exact || plan.verify != Verify::Exact {
        return Err(Usage("--label finds pairs by the exact method; --method and --verify do not go with it".into()).into());
    }
    if args.inputs.iter().any(|input| input == "-") {
        return Err(Usage("standard input is for the answers; name files as inputs".into()).into());
    }
    texts::check_outputs(&[labels, &args.out], &args.inputs, args.overwrite)?;
    let progress = Progress::new(output::is_watched() && !args.quiet);
    let exec = texts::exec(args.threads, &progress)?;
    let Texts { documents, done, .. } = texts::read(&plan, &exec, &args.inputs, &onefold::Discard)?;
    let exec = Exec { keep_texts: false, ..exec };
    let mut labelling = Labelling::new(&plan, &documents, &exec)?;
    ask(&mut labelling, &documents, &plan, args.questions.unwrap_or(QUESTIONS), labels)?;
    let Some(advice) = labelling.recommend() else {
        output::print("\n  answers of both kinds are needed to recommend anything; those given are kept\n")?;
        return Ok(done);
    };
    let best = recommended(&plan, &advice)?;
    onefold::replace_file(&args.out, toml::to_string(&best)?.as_bytes())?;
    output::print(&text(&advice, &best, labelling.answers(), args, labels))?;
    Ok(done)
}

/// Shows pairs until there are enough answers, no more pairs or no more patience. Answers are on disk as soon as they are given.
fn ask(labelling: &mut Labelling<'_>, documents: &[Document], plan: &Plan, most: usize, labels: &Path) -> Result<()> {
    let mut answers = io::stdin().lock();
    while labelling.answers() < most
        && let Some(question) = labelling.next()
    {
        output::print(&shown(&question, documents, plan, labelling.answers() + 1, most))?;
        let answer = loop {
            output::print("  the same document? y(es), n(o), s(kip), q(uit): ")?;
            let mut line = Vec::new();
            if answers.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            match String::from_utf8_lossy(&line).trim().to_lowercase().as_str() {
                "y" | "yes" => break Some(true),
                "n" | "no" => break Some(false),
                "s" | "skip" => break None,
                "q" | "quit" => return Ok(()),
                _ => (),
            }
        };
        labelling.answer(question, answer);
        onefold::replace_file(labels, labelling.gold().as_bytes())?;
    }
    Ok(())
}

fn shown(question: &Question, documents: &[Document], plan: &Plan, number: usize, most: usize) -> String {
    let [first, second] = [question.first, question.second].map(|document| &documents[document]);
    let name = |document: &Document| printable(document.id.as_deref().unwrap_or_default()).to_string();
    let found = Comparison::new(&first.text, &second.text, plan.recipe());
    let painted = Painter::new(Color::Auto).paint(&found);
    let mut lines: Vec<&str> = painted.lines().collect();
    let more = lines.len().saturating_sub(SHOWN_LINES);
    lines.truncate(SHOWN_LINES);
    let rest = if more > 0 { format!("\n    … {more} more lines …") } else { String::new() };
    format!(
        "\n  {number} of {most}   resemblance {:.4}\n  {}\n  {}\n\n{}{rest}\n\n",
        question.resemblance,
        name(first),
        name(second),
        lines.join("\n")
    )
}

/// The plan with the settings that agree best.
fn recommended(plan: &Plan, advice: &Recommendation) -> Result<Plan> {
    let threshold = format!("{:.3}", advice.threshold.clamp(0.001, 1.0)).parse()?;
    let plan = Plan { threshold, ngram_size: advice.ngram_size, ..plan.clone() };
    plan.validate()?;
    Ok(plan)
}

fn text(advice: &Recommendation, best: &Plan, answers: usize, args: &TuneArgs, labels: &Path) -> String {
    let mut text =
        format!("\n  {:<34}{:>10}{:>9}{:>17}\n", format!("{answers} answers"), "threshold", "best F1", "cross-validated");
    for verdict in &advice.verdicts {
        let figures = format!("{:>10.3}{:>9.3}{:>17.3}", verdict.threshold, verdict.best_f1, verdict.cross_validated_f1);
        text.push_str(&format!("  {:<34}{figures}\n", verdict.measure));
    }
    let (plan, labels) = (super::quoted(&args.out), super::shown(labels));
    text.push_str(&format!(
        "\n  shingles of {} words and a threshold of {} agree best with you\n  answers  {labels}\n  plan     {plan}\n  next     \
         onefold scan {} --config {plan} --out result\n",
        best.ngram_size,
        best.threshold,
        super::inputs(args)
    ));
    text
}
