//! CSV and TSV: the header and the kept records, as they are written.

use super::Job;
use super::output::Output;
use crate::error::Result;
use crate::read::{RawRecords, Reopened};

/// Copies the header and the kept records.
pub(super) fn copy(job: &Job<'_>, reopened: &mut Reopened, delimiter: u8, output: Output) -> Result<Output> {
    let packing = reopened.packing().map_err(|e| job.changed(e))?;
    let mut output = output.packed(packing)?;
    let mut records = RawRecords::new(reopened.plain().map_err(|e| job.changed(e))?, delimiter);
    let next = |records: &mut RawRecords| {
        job.exec.check()?;
        records.advance().map_err(|e| job.changed(e))
    };
    next(&mut records)?;
    output.write(records.bytes())?;
    let mut number = 0;
    for place in job.kept {
        let mut offset = None;
        while number < place.record {
            offset = next(&mut records)?;
            number += 1;
        }
        if offset != Some(place.offset) {
            return Err(job.moved(place.record));
        }
        output.write(records.bytes())?;
    }
    Ok(output)
}
