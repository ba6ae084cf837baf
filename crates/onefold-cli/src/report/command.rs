//! `onefold report`: the page of a result.

use anyhow::Result;
use onefold::SavedResult;

use super::from_saved;
use crate::args::ReportArgs;
use crate::exit::Done;
use crate::output;

/// Writes the page and says where it is.
pub fn run(args: &ReportArgs) -> Result<Done> {
    let mut result = SavedResult::open(&args.result)?;
    let page = from_saved(&result)?.page();
    let target = match &args.out {
        None => result.publish_page(&page)?,
        Some(target) => {
            onefold::replace_file(target, page.as_bytes())?;
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
