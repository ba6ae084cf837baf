//! Exit codes and the form of messages: one line, a stable code, a hint.

use std::io;
use std::process::ExitCode;

use onefold::{Counts, Error, ErrorKind};

use crate::output;

/// A wrong command line or configuration.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Standard output could not be written.
#[derive(Debug)]
pub struct OutputFailed(pub io::Error);

impl std::fmt::Display for OutputFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot write to standard output: {}", self.0)
    }
}

impl std::error::Error for OutputFailed {}

/// How a command ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Every input was processed.
    Complete,
    /// The result stands, but some inputs were skipped or cut.
    Partial,
}

impl Done {
    /// By what was counted.
    pub fn of(counts: &Counts) -> Done {
        if counts.is_partial() { Done::Partial } else { Done::Complete }
    }
}

/// What a program that reads our exit code learns.
#[derive(Clone, Copy)]
enum Code {
    Complete = 0,
    Bug = 1,
    Usage = 2,
    Partial = 3,
    NoInput = 4,
    Output = 5,
    Corrupt = 6,
    Locked = 7,
    Refused = 8,
    Interrupted = 130,
    Terminated = 143,
}

/// What clap has to say: help and version are no errors.
pub fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        let text = error.render().to_string();
        let (first, rest) = text.strip_prefix("error: ").unwrap_or(&text).split_once('\n').unwrap_or((&text, ""));
        message("E0205", first.trim_end(), None);
        // What follows is clap's advice, in several lines.
        let advice: Vec<String> = rest.lines().map(onefold::printable).collect();
        output::error(&(advice.join("\n") + "\n"));
        return exit_code(Code::Usage);
    }
    match output::print(&error.render().to_string()) {
        Ok(()) => exit_code(Code::Complete),
        Err(e) => finish(Err(e)),
    }
}

/// Turns a command's result into an exit code, and says what went wrong.
pub fn finish(result: anyhow::Result<Done>) -> ExitCode {
    let error = match result {
        Ok(Done::Complete) => return exit_code(Code::Complete),
        Ok(Done::Partial) => return exit_code(Code::Partial),
        Err(error) => error,
    };
    if error.is::<OutputFailed>() {
        message("E0502", &error.to_string(), None);
        return exit_code(Code::Output);
    }
    match error.downcast_ref::<Error>() {
        Some(known) => {
            let resumable = crate::scan::resumable().then_some("nothing was published; go on with the same command and --resume");
            message(known.code(), &known.to_string(), resumable.or(known.hint()));
            exit_code(code_of(known))
        }
        None if error.is::<Usage>() => {
            message("E0204", &error.root_cause().to_string(), None);
            exit_code(Code::Usage)
        }
        None => {
            message("E0102", &format!("{error:#}"), None);
            exit_code(Code::Bug)
        }
    }
}

fn message(code: &str, text: &str, hint: Option<&str>) {
    output::error(&format!("error[{code}]: {}\n", onefold::printable(text)));
    if let Some(hint) = hint {
        output::error(&format!("hint: {hint}\n"));
    }
}

fn code_of(error: &Error) -> Code {
    match error.kind() {
        ErrorKind::Usage => Code::Usage,
        ErrorKind::Input => Code::NoInput,
        ErrorKind::Output => Code::Output,
        ErrorKind::Corrupt => Code::Corrupt,
        ErrorKind::Locked => Code::Locked,
        ErrorKind::Refused => Code::Refused,
        ErrorKind::Interrupted if crate::scan::terminated() => Code::Terminated,
        ErrorKind::Interrupted => Code::Interrupted,
        _ => Code::Bug,
    }
}

fn exit_code(code: Code) -> ExitCode {
    ExitCode::from(code as u8)
}
