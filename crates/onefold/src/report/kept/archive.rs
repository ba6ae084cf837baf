//! WARC and ARC: stored records as they are, members and frames and all.
//!
//! What is no document stays: the crawler's notes, requests, and word of pages that were found unchanged. A record that shares a
//! member with others becomes a member of its own, as the standards ask.

use std::io::BufReader;

use super::output::{Output, member};
use super::{Job, whole};
use crate::error::Result;
use crate::read::Reopened;
use crate::read::warc::{Copied, CopiedBytes, Copies, Limits};

/// Bytes asked of the file at a time.
const BUFFER: usize = 1 << 20;

/// Copies every record that is not a removed or skipped document.
pub(super) fn copy(job: &Job<'_>, reopened: &Reopened, mut output: Output) -> Result<Output> {
    let stored = reopened.stored().map_err(|e| job.changed(e))?;
    // The limits of the first reading: records must get the same numbers.
    let limits = Limits { record_bytes: job.plan.max_document_bytes, body_bytes: job.plan.max_document_bytes };
    let mut copies = Copies::new(Box::new(BufReader::with_capacity(BUFFER, stored)), limits);
    let mut kept = job.kept.iter().peekable();
    while let Some(copied) = copies.next() {
        job.exec.check()?;
        let copied = match copied {
            Ok(copied) => copied,
            // The first reading met it, too, and all that was found before it is here.
            Err(_) if kept.peek().is_none() => break,
            Err(e) => return Err(job.changed(e)),
        };
        if copied.content && kept.next_if(|place| (place.record, place.offset) == (copied.number, copied.offset)).is_none() {
            continue;
        }
        write(job, reopened, &copies, &copied, &mut output)?;
    }
    match kept.next() {
        Some(place) => Err(job.moved(place.record)),
        None => Ok(output),
    }
}

fn write(job: &Job<'_>, reopened: &Reopened, copies: &Copies, copied: &Copied, output: &mut Output) -> Result<()> {
    match &copied.bytes {
        CopiedBytes::Stored(range) => whole::copy_range(job, reopened, range.clone(), output),
        CopiedBytes::Unpacked(bytes) => {
            let packed = member(bytes, copies.packing()).map_err(|e| output.failed(e))?;
            output.write(&packed)
        }
    }
}
