//! The command `onefold`: words typed → a plan, a run, an answer that people can read.

mod args;
mod bakeoff;
mod compare;
mod config;
mod evaluate;
mod exit;
mod explain;
mod forecast;
mod html;
mod methods;
mod numbers;
mod output;
mod pairs;
mod passages;
mod progress;
mod report;
mod rethreshold;
mod scan;
mod settings;
mod shell;
mod study;
mod summary;
mod texts;
mod tune;
mod words;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    hide_caught_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return exit::usage(&usage),
    };
    let result = match &cli.command {
        Command::Scan(args) => scan::run(args),
        Command::Rethreshold(args) => rethreshold::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Report(args) => report::command::run(args),
        Command::Pairs(args) => pairs::run(args),
        Command::Passages(args) => passages::run(args),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::man(args),
        Command::Bakeoff(args) => bakeoff::run(args),
        Command::Study(args) => study::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Methods(args) => methods::run(args),
        Command::Config(args) => config::run(args),
    };
    exit::finish(result)
}

/// A decoder's panic over a damaged file becomes a line in `skipped.jsonl`; nobody needs to see where it happened.
fn hide_caught_panics() {
    let show = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !onefold::panic_is_caught() {
            show(panic);
        }
    }));
}
