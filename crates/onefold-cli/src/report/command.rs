//! `onefold report`: the page of a result.

use std::fs;
use std::path::Path;

use anyhow::Result;
use onefold::SavedResult;

use super::from_saved;
use crate::args::ReportArgs;
use crate::exit::{Done, Usage};
use crate::output;

/// Writes the page and says where it is.
pub fn run(args: &ReportArgs) -> Result<Done> {
    let mut result = SavedResult::open(&args.result)?;
    let page = from_saved(&result, &args.result)?.page();
    let target = match &args.out {
        None => result.publish_page(&page)?,
        Some(target) => {
            let failed = |cause| onefold::Error::Output { action: "write", path: target.display().to_string(), cause };
            write(target, &page).map_err(failed)?;
            target.clone()
        }
    };
    let shown = target.display().to_string();
    let text = if args.json {
        format!("{:#}\n", serde_json::json!({"report": shown, "bytes": page.len()}))
    } else {
        format!("  report  {}\n", onefold::printable(&shown))
    };
    output::print(&text)?;
    Ok(Done::Complete)
}

/// The whole page or none: a reader never sees half of it.
fn write(target: &Path, page: &str) -> std::io::Result<()> {
    let name = target.file_name().ok_or_else(|| std::io::Error::other(Usage("a file name is needed".into())))?;
    let partial = target.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let written = fs::write(&partial, page).and_then(|()| fs::rename(&partial, target));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}
