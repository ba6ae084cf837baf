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
/// Types of Thrift: whole numbers, text, lists, structures.
const NUMBER: u8 = 5;
const TEXT: u8 = 8;
const LIST: u8 = 9;
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
    let children = children(&bytes).map_err(|error| wrong(format!("the footer is damaged: {error}")))?;
    schema(&children)
}

/// The number of children of each node of a footer's schema.
fn children(footer: &[u8]) -> io::Result<Vec<i64>> {
    let mut children = Vec::new();
    walk(footer, &mut |path, met| {
        match (path, met) {
            (_, Met::Field(kind)) => return has_type(kind, footer_type(path)),
            ([4], Met::List(groups, _)) if groups > MOST_GROUPS => return Err(wrong(format!("{groups} row groups"))),
            (_, Met::List(1.., kind)) => return has_type(kind, footer_item_type(path)),
            ([2], Met::Item) => children.push(0),
            ([2, 5], Met::Number(count)) => children.iter_mut().last().into_iter().for_each(|last| *last = count),
            _ => (),
        }
        Ok(())
    })?;
    Ok(children)
}

/// What the fields of a footer are: the file, its schema [2], row groups [4], column chunks [4, 1] and what is known of them [4, 1, 3].
fn footer_type(path: &[i64]) -> Option<u8> {
    match path {
        [2 | 4 | 5 | 7] | [4, 1 | 4] | [4, 1, 3, 2 | 3 | 8 | 13] => Some(LIST),
        [8] | [2, 10] | [4, 1, 3 | 8] | [4, 1, 3, 12 | 16 | 17] => Some(STRUCTURE),
        [6 | 9] | [2, 4] | [5, 1 | 2] | [4, 1, 1 | 9] | [4, 1, 3, 8, 1 | 2] => Some(TEXT),
        [1 | 3] | [2, 1..=9] | [4, 2..=7] | [4, 1, 2..=7] | [4, 1, 3, 1..=15] => Some(NUMBER),
        _ => None,
    }
}

/// What the lists of a footer hold.
fn footer_item_type(path: &[i64]) -> Option<u8> {
    match path {
        [2 | 4 | 5 | 7] | [4, 1 | 4] | [4, 1, 3, 8 | 13] => Some(STRUCTURE),
        [4, 1, 3, 2] => Some(NUMBER),
        [4, 1, 3, 3] => Some(TEXT),
        _ => None,
    }
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
                Met::Field(kind) => return has_type(kind, header_type(path)),
                Met::Number(number) => page.take(path, number),
                Met::List(..) | Met::Item => (),
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

/// What the fields of a page's header are.
fn header_type(path: &[i64]) -> Option<u8> {
    match path {
        [1..=4] | [5, 1..=4] | [7, 1..=2] | [8, 1..=6] => Some(NUMBER),
        [5..=8] => Some(STRUCTURE),
        _ => None,
    }
}

/// The decoder takes a field for what its id says, whatever its type: what it took otherwise than the walk did would be unchecked. Whole
/// numbers of all widths are written alike.
fn has_type(kind: u8, expected: Option<u8>) -> io::Result<()> {
    match expected {
        Some(NUMBER) if (4..=6).contains(&kind) => Ok(()),
        Some(expected) if kind != expected => Err(wrong(format!("a field has the type {kind} instead of {expected}"))),
        _ => Ok(()),
    }
}

/// Whether so many bytes can't be meant to hold what they claim.
pub(super) fn is_bomb(claimed: u64, bytes: u64) -> bool {
    claimed > HARMLESS && claimed / LARGEST_RATIO >= bytes.max(1)
}

/// Refuses a column chunk with a page that claims what can't be, or takes more than `longest` bytes, or than memory can hold. Returns whether a page is in an
/// encoding that claims more inside its values.
///
/// All pages are looked at, as the decoder goes on to the end of the chunk however many values the footer names.
pub(super) fn pages(file: &File, chunk: Range<u64>, longest: u64) -> io::Result<bool> {
    let end = chunk.end.min(file.metadata()?.len());
    let (mut at, mut largest, mut delta) = (chunk.start, 0, false);
    while at < end {
        let page = Page::read(file, at, end)?;
        largest = largest.max(page.plausible(end - at)?);
        at += page.header + page.packed as u64;
        delta |= page.delta;
    }
    if largest > longest {
        return Err(too_much(largest));
    }
    has_room(largest)?;
    Ok(delta)
}

/// Room that cannot be had ends the process where the decoder asks for it, so it is asked for here first.
pub(super) fn has_room(bytes: u64) -> io::Result<()> {
    let room = usize::try_from(bytes).ok().and_then(|bytes| Vec::<u8>::new().try_reserve_exact(bytes.checked_mul(2)?).ok());
    room.ok_or_else(|| too_much(bytes))
}

fn too_much(bytes: u64) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, format!("{bytes} bytes do not fit into memory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer of a version, a schema of one group without fields, no rows, and what follows.
    fn footer_with(rest: &[u8]) -> Vec<u8> {
        [&[0x15, 2, 0x19, 0x1c, 0x48, 1, b'r', 0x15, 0, 0, 0x16, 0], rest, &[0]].concat()
    }

    #[test]
    fn a_field_that_the_decoder_would_take_for_a_list_must_be_one() {
        assert_eq!(children(&footer_with(&[0x19, 0x0c])).unwrap(), [0]);
        // Row groups as a number whose bytes read as a list of 2³¹ items.
        let number = children(&footer_with(&[0x16, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07])).unwrap_err().to_string();
        assert!(number.contains("type 6 instead of 9"), "{number}");
        // A list of numbers where structures stand: the bytes of one would be read as fields.
        let items = children(&footer_with(&[0x19, 0x15, 2])).unwrap_err().to_string();
        assert!(items.contains("type 5 instead of 12"), "{items}");
    }
}
