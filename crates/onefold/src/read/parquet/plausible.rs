//! Whether a file can be decoded without harm: its footer and the headers of the pages that will be read.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::cursor::wrong;
use super::delta;
use super::thrift::{Met, walk};

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
/// The types of whole numbers and structures, in Thrift.
const NUMBER: u8 = 5;
const STRUCTURE: u8 = 12;

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
    /// Whether its values are said to be in one of the encodings that `delta` is about.
    delta: bool,
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
            match met {
                Met::Field(kind) => return expected(path, kind),
                Met::Number(number) => page.take(path, number),
                Met::List(_) | Met::Item => (),
            }
            Ok(())
        })?;
        Ok(Page { header: header as u64, ..page })
    }

    fn take(&mut self, path: &[i64], number: i64) {
        match path {
            [2] => self.unpacked = number,
            [3] => self.packed = number,
            [5 | 8, 1] => self.values = number,
            [7, 1] => self.entries = number,
            [5, 2] | [8, 4] => self.delta |= delta::is_meant(number),
            _ => (),
        }
    }

    /// How many bytes it takes to hold the page, if it is what it says.
    fn plausible(&self, left: u64) -> io::Result<u64> {
        let number = |name: &str, number: i64| {
            let believed = u64::try_from(number).ok().filter(|&number| number <= i32::MAX as u64);
            believed.ok_or_else(|| wrong(format!("a page has {number} {name}")))
        };
        let (unpacked, packed) = (number("bytes", self.unpacked)?, number("packed bytes", self.packed)?);
        let entries = number("dictionary entries", self.entries)?;
        number("values", self.values)?;
        if packed > left.saturating_sub(self.header) {
            return Err(wrong(format!("a page of {packed} bytes where {left} are left")));
        }
        if is_bomb(unpacked, packed) {
            return Err(wrong(format!("a bomb: a page of {packed} bytes claims to hold {unpacked}")));
        }
        if entries > unpacked {
            return Err(wrong(format!("a dictionary of {entries} entries in {unpacked} bytes")));
        }
        Ok(unpacked + packed + entries * ENTRY)
    }
}

/// The decoder takes a field for what its id says, whatever its type: what it took otherwise than the walk did would be unchecked.
fn expected(path: &[i64], kind: u8) -> io::Result<()> {
    let expected = match path {
        [1..=4] | [5, 1..=4] | [7, 1..=2] | [8, 1..=6] => NUMBER,
        [5..=8] => STRUCTURE,
        _ => return Ok(()),
    };
    if kind == expected { Ok(()) } else { Err(wrong(format!("a field has the type {kind} instead of {expected}"))) }
}

/// Whether so many bytes can't be meant to hold what they claim.
pub(super) fn is_bomb(claimed: u64, bytes: u64) -> bool {
    claimed > HARMLESS && claimed / LARGEST_RATIO >= bytes.max(1)
}

/// Refuses a column chunk with a page that claims what can't be, or is more than memory can hold. Returns whether a page is in an
/// encoding that claims more inside its values.
///
/// All pages are looked at, as the decoder goes on to the end of the chunk however many values the footer names.
pub(super) fn pages(file: &File, chunk: Range<u64>) -> io::Result<bool> {
    let end = chunk.end.min(file.metadata()?.len());
    let (mut at, mut largest, mut delta) = (chunk.start, 0, false);
    while at < end {
        let page = Page::read(file, at, end)?;
        largest = largest.max(page.plausible(end - at)?);
        at += page.header + page.packed as u64;
        delta |= page.delta;
    }
    has_room(largest)?;
    Ok(delta)
}

/// Room that cannot be had ends the process where the decoder asks for it, so it is asked for here first.
pub(super) fn has_room(bytes: u64) -> io::Result<()> {
    let room = usize::try_from(bytes).ok().and_then(|bytes| Vec::<u8>::new().try_reserve_exact(bytes.checked_mul(2)?).ok());
    room.ok_or_else(|| io::Error::new(io::ErrorKind::OutOfMemory, format!("{bytes} bytes do not fit into memory")))
}
