//! The only place that writes to the terminal.

use std::io::{self, IsTerminal, Write};

use crate::exit::OutputFailed;

/// Writes results to standard output; a failure is an error, not a shrug.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A reader that had enough is no fault, and hides none.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|e| OutputFailed(e).into()),
    }
}

/// Writes what programs read, what people read, or nothing, as asked.
pub fn print_as(
    json: bool,
    quiet: bool,
    for_programs: impl FnOnce() -> anyhow::Result<String>,
    for_people: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    print(&match (json, quiet) {
        (true, _) => for_programs()?,
        (false, true) => String::new(),
        (false, false) => for_people(),
    })
}

/// Writes talk to standard error. If that is gone there is nobody to tell.
pub fn error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Whether a person watches standard error.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}
