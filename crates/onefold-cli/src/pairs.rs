//! `onefold pairs`: the pairs of a result as text, each group of equal documents written out where asked.

use std::io::{self, BufWriter, Write};

use anyhow::Result;
use onefold::{ExpandedPair, PairsTable, Row, SavedResult};
use serde_json::json;

use crate::args::PairsArgs;
use crate::exit::{Done, OutputFailed};

/// Prints the pairs, one a line.
pub fn run(args: &PairsArgs) -> Result<Done> {
    let result = SavedResult::open(&args.result)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if args.expand { write_all(&PairsTable::read(&result)?, &mut out) } else { write_table(&result, &mut out)? };
    match written.and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(OutputFailed(e).into()),
        _ => Ok(Done::Complete),
    }
}

fn write_all(table: &PairsTable, out: &mut dyn Write) -> io::Result<()> {
    table.for_each(|pair| line(out, &pair, std::iter::empty()))
}

fn write_table(result: &SavedResult, out: &mut dyn Write) -> Result<io::Result<()>> {
    let beside = |row: &Row| ["estimate", "edit_distance"].map(|name| row.number(name).map(|value| (name, value)));
    Ok(result.pairs()?.iter().try_for_each(|row| line(out, &ExpandedPair::of_row(row), beside(row).into_iter().flatten())))
}

/// Writes a pair, and what else is known of it.
fn line(out: &mut dyn Write, pair: &ExpandedPair<'_>, beside: impl Iterator<Item = (&'static str, f64)>) -> io::Result<()> {
    let mut row = json!({
        "first_id": pair.first,
        "second_id": pair.second,
        "resemblance": pair.resemblance,
        "containment_first": pair.containment_first,
        "containment_second": pair.containment_second,
        "accepted": pair.accepted,
    });
    beside.for_each(|(name, value)| row[name] = value.into());
    writeln!(out, "{row}")
}
