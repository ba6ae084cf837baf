//! `onefold completions` and `onefold man`: made from the command line itself, so they can't drift from it.

use std::fs;
use std::path::Path;

use anyhow::Result;
use clap::{Command, CommandFactory};

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::exit::Done;
use crate::output;

/// Prints the completions of a shell.
pub fn completions(args: &CompletionsArgs) -> Result<Done> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "onefold", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Done::Complete)
}

/// Writes a manual page for the program and one for each command.
pub fn man(args: &ManArgs) -> Result<Done> {
    let failed = |path: &Path, cause| onefold::Error::Output { action: "write", path: path.display().to_string(), cause };
    fs::create_dir_all(&args.out).map_err(|e| failed(&args.out, e))?;
    let program = Cli::command();
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let named = commands.map(|command| (format!("onefold-{}", command.get_name()), command));
    for (name, command) in std::iter::once(("onefold".to_string(), program.clone())).chain(named) {
        let path = args.out.join(format!("{name}.1"));
        page(&name, command).and_then(|page| fs::write(&path, page)).map_err(|e| failed(&path, e))?;
    }
    Ok(Done::Complete)
}

fn page(name: &str, command: Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.version(env!("CARGO_PKG_VERSION"))).title(name).render(&mut page)?;
    Ok(page)
}
