//! Files that are one document: copied byte for byte.

use super::Job;
use super::output::Output;
use crate::error::Result;
use crate::read::Reopened;

/// Bytes copied at a time.
const STEP: usize = 256 << 10;

/// Copies a file.
pub(super) fn copy(job: &Job<'_>, reopened: &Reopened, mut output: Output) -> Result<Output> {
    copy_range(job, reopened, 0..job.input.bytes, &mut output)?;
    Ok(output)
}

/// Copies stored bytes as they are; all of them must be there.
pub(super) fn copy_range(job: &Job<'_>, from: &Reopened, range: std::ops::Range<u64>, output: &mut Output) -> Result<()> {
    let mut at = range.start;
    let mut buffer = vec![0; STEP.min((range.end - range.start) as usize)];
    while at < range.end {
        job.exec.check()?;
        let room = buffer.len().min((range.end - at) as usize);
        match from.read_at(&mut buffer[..room], at) {
            Ok(0) => return Err(job.changed(format_args!("it ends at byte {at}"))),
            Ok(count) => {
                output.write(&buffer[..count])?;
                at += count as u64;
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => (),
            Err(e) => return Err(job.changed(e)),
        }
    }
    Ok(())
}
