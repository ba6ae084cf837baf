//! Whether a file can be decoded without harm: its footer and the headers of the pages that will be read.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::thrift::{Met, walk, wrong};

/// The number of a row group is a short integer.
const MOST_GROUPS: usize = i16::MAX as usize;
/// Groups inside groups, in a schema.
const DEEPEST_SCHEMA: usize = 100;
/// Headers of pages are looked for in so many bytes first, and in no more than the second number.
const FIRST_LOOK: usize = 1 << 10;
const LONGEST_HEADER: usize = 16 << 20;
/// Smaller pages are no bombs.
const HARMLESS: u64 = 64 << 20;
const LARGEST_RATIO: u64 = 1000;
/// What the decoder holds for each entry of a dictionary.
const ENTRY: u64 = 40;

/// Refuses a footer that claims what can't be.
pub(super) fn footer(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut tail = [0; 8];
    let start = length.checked_sub(12).ok_or_else(|| wrong("too short for a Parquet file"))?;
    file.read_exact_at(&mut tail, start + 4)?;
    let [a, b, c, d, magic @ ..] = tail;
    if &magic != b"PAR1" {
        return Err(wrong("does not end like a Parquet file; it may be cut"));
    }
    let claimed = u64::from(u32::from_le_bytes([a, b, c, d]));
    let Some(start) = start.checked_sub(claimed).map(|start| start + 4) else {
        return Err(wrong(format!("a footer of {claimed} bytes in a file of {length}")));
    };
    has_room(claimed)?;
    let mut bytes = vec![0; claimed as usize];
    file.read_exact_at(&mut bytes, start)?;
    let mut children = Vec::new();
    let walked = walk(&bytes, &mut |path, met| {
        match (path, met) {
            ([2], Met::Item) => children.push(0),
            ([2, 5], Met::Number(count)) => children.iter_mut().last().into_iter().for_each(|last| *last = count),
            ([4], Met::List(groups)) if groups > MOST_GROUPS => return Err(wrong(format!("{groups} row groups"))),
            _ => (),
        }
        Ok(())
    });
    walked.map_err(|error| wrong(format!("the footer is damaged: {error}")))?;
    schema(&children)
}

/// A schema is a tree written in depth-first order, each node with the number of its children.
fn schema(children: &[i64]) -> io::Result<()> {
    let mut open: Vec<i64> = Vec::new();
    for &count in children {
        if count < 0 || count as usize >= children.len() {
            return Err(wrong(format!("a group of {count} fields in a schema of {}", children.len())));
        }
        open.iter_mut().last().into_iter().for_each(|left| *left -= 1);
        open.push(count);
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > DEEPEST_SCHEMA {
            return Err(wrong("groups are nested too deep in the schema"));
        }
    }
    Ok(())
}

/// What the header of a page says.
#[derive(Debug, Default)]
struct Page {
    header: u64,
    unpacked: i64,
    packed: i64,
    values: i64,
    entries: i64,
}

impl Page {
    fn read(file: &File, at: u64, end: u64) -> io::Result<Page> {
        let mut look = FIRST_LOOK;
        loop {
            let room = look.min((end - at) as usize);
            let mut bytes = vec![0; room];
            file.read_exact_at(&mut bytes, at)?;
            match Page::parse(&bytes) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && room == look && look < LONGEST_HEADER => look *= 8,
                Err(error) => return Err(wrong(format!("the header of a page is damaged: {error}"))),
                Ok(page) => return Ok(page),
            }
        }
    }

    fn parse(bytes: &[u8]) -> io::Result<Page> {
        let mut page = Page::default();
        let header = walk(bytes, &mut |path, met| {
            let slot = match path {
                [2] => &mut page.unpacked,
                [3] => &mut page.packed,
                [5 | 8, 1] => &mut page.values,
                [7, 1] => &mut page.entries,
                _ => return Ok(()),
            };
            if let Met::Number(number) = met {
                *slot = number;
            }
            Ok(())
        })?;
        Ok(Page { header: header as u64, ..page })
    }

    /// How many bytes it takes to hold the page, if it is what it says.
    fn plausible(&self, left: u64) -> io::Result<u64> {
        let number = |name: &str, number: i64| u64::try_from(number).map_err(|_| wrong(format!("a page has {number} {name}")));
        let (unpacked, packed) = (number("bytes", self.unpacked)?, number("packed bytes", self.packed)?);
        let entries = number("dictionary entries", self.entries)?;
        number("values", self.values)?;
        if packed > left.saturating_sub(self.header) {
            return Err(wrong(format!("a page of {packed} bytes where {left} are left")));
        }
        if unpacked > HARMLESS && unpacked / LARGEST_RATIO >= packed.max(1) {
            return Err(wrong(format!("a bomb: a page of {packed} bytes claims to hold {unpacked}")));
        }
        if entries > unpacked {
            return Err(wrong(format!("a dictionary of {entries} entries in {unpacked} bytes")));
        }
        Ok(unpacked + packed + entries * ENTRY)
    }
}

/// Refuses a column chunk with a page that claims what can't be, or is more than memory can hold.
pub(super) fn pages(file: &File, chunk: Range<u64>, values: i64) -> io::Result<()> {
    let end = chunk.end.min(file.metadata()?.len());
    let (mut at, mut seen, mut largest) = (chunk.start, 0_i64, 0);
    while at < end && seen < values {
        let page = Page::read(file, at, end)?;
        largest = largest.max(page.plausible(end - at)?);
        at += page.header + page.packed as u64;
        seen = seen.saturating_add(page.values);
    }
    has_room(largest)
}

/// Room that cannot be had ends the process where the decoder asks for it, so it is asked for here first.
fn has_room(bytes: u64) -> io::Result<()> {
    let room = usize::try_from(bytes).ok().and_then(|bytes| Vec::<u8>::new().try_reserve_exact(bytes.checked_mul(2)?).ok());
    room.ok_or_else(|| io::Error::new(io::ErrorKind::OutOfMemory, format!("{bytes} bytes do not fit into memory")))
}
