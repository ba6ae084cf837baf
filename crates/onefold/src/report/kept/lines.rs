//! JSONL: the kept lines, with their line ends.

use super::Job;
use super::output::Output;
use crate::error::Result;
use crate::read::{RawLines, Reopened};

/// Copies the kept lines.
pub(super) fn copy(job: &Job<'_>, reopened: &mut Reopened, output: Output) -> Result<Output> {
    let packing = reopened.packing().map_err(|e| job.changed(e))?;
    let mut output = output.packed(packing)?;
    let mut lines = RawLines::new(reopened.plain().map_err(|e| job.changed(e))?);
    for (place, following) in job.kept.iter().zip(1..) {
        if lines.seek(place.record).map_err(|e| job.changed(e))? != Some(place.offset) {
            return Err(job.moved(place.record));
        }
        copy_line(job, &mut lines, following == job.kept.len(), &mut output)?;
    }
    Ok(output)
}

/// Copies the line at hand. The last one may end where a damaged file does: so it was read the first time.
fn copy_line(job: &Job<'_>, lines: &mut RawLines, last: bool, output: &mut Output) -> Result<()> {
    let (mut piece, mut copied) = (Vec::new(), false);
    loop {
        job.exec.check()?;
        piece.clear();
        let ended = match lines.read(&mut piece) {
            Ok(ended) => ended,
            Err(_) if last && copied => None,
            Err(e) => return Err(job.changed(e)),
        };
        output.write(&piece)?;
        copied = true;
        if ended != Some(false) {
            return Ok(());
        }
    }
}
