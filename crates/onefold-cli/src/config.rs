//! `onefold config`: the plan that a scan would follow.

use anyhow::Result;

use crate::args::ConfigArgs;
use crate::exit::Done;
use crate::{output, settings};

/// Prints the resolved plan; the output is a valid file for `--config`.
pub fn run(args: &ConfigArgs) -> Result<Done> {
    let plan = settings::resolve(&args.plan)?;
    if args.json {
        output::print(&(serde_json::to_string_pretty(&plan)? + "\n"))?;
    } else {
        let text = toml::to_string(&plan)?;
        output::print(&format!("# onefold {}, plan {}\n{text}", env!("CARGO_PKG_VERSION"), &plan.digest()?[..16]))?;
    }
    Ok(Done::Complete)
}
