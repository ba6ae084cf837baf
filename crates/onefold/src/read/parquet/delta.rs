//! Whether pages in the encodings DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY can be decoded without harm.
//!
//! Among their values, often packed, lies how many there are, and the decoder makes room by that number. In the second encoding each
//! value also begins like the one before it, for as many bytes as it says, and each is held whole: few bytes can be many values.
//! (Numbers in DELTA_BINARY_PACKED pages have such a count too, but there the decoder makes no room by it.)

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;

use super::cursor::{Cursor, wrong};
use super::damaged;
use super::plausible::{has_room, is_bomb};

/// What the decoder holds for each length.
const LENGTH: u64 = 4;
/// Values that are decoded at a time, at most: readers of rows take 1,024, copies of columns 4,096.
const BATCH: u64 = 4096;
/// The bits of the longest difference.
const WIDEST: u8 = 32;

/// Whether a header that names this encoding means one of the two.
pub(super) fn is_meant(encoding: i64) -> bool {
    [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY].iter().any(|&delta| encoding == delta as i64)
}

/// Refuses a column chunk with a page that claims more values than it has, or values that memory can't hold. The sizes of its pages
/// have been looked at.
pub(super) fn pages(file: &File, column: &ColumnChunkMetaData) -> io::Result<()> {
    let about = column.column_descr();
    let mut pages = SerializedPageReader::new(Arc::new(file.try_clone()?), column, 0, None).map_err(damaged)?;
    let mut largest = 0;
    while let Some(page) = pages.get_next_page().map_err(damaged)? {
        if is_meant(page.encoding() as i64) && !page.is_dictionary_page() {
            let room = values(&page, about).map_err(|error| wrong(format!("the lengths of a page are damaged: {error}")))?;
            largest = largest.max(room);
        }
    }
    has_room(largest)
}

/// How many bytes it takes to hold the values of a page.
fn values(page: &Page, about: &ColumnDescriptor) -> io::Result<u64> {
    let mut cursor = Cursor::new(page.buffer());
    pass_levels(&mut cursor, page, about)?;
    let size = page.buffer().len() as u64;
    let mut room = size;
    if page.encoding() == Encoding::DELTA_BYTE_ARRAY {
        let prefixes = Lengths::read(&mut cursor, page.num_values(), size)?;
        room = room.saturating_add(prefixes.room()).saturating_add(largest_batch(&prefixes, &mut cursor)?);
    }
    let lengths = Lengths::read(&mut cursor, page.num_values(), size)?;
    Ok(room.saturating_add(lengths.room()))
}

/// Which values there are, and to which lists they belong, comes before them.
fn pass_levels(cursor: &mut Cursor<'_>, page: &Page, about: &ColumnDescriptor) -> io::Result<()> {
    match page {
        Page::DataPage { num_values, def_level_encoding, rep_level_encoding, .. } => {
            pass_level(cursor, about.max_rep_level(), *rep_level_encoding, *num_values)?;
            pass_level(cursor, about.max_def_level(), *def_level_encoding, *num_values)
        }
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            cursor.take(u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len)).map(|_| ())
        }
        Page::DictionaryPage { .. } => Ok(()),
    }
}

/// Levels of the first version of pages.
fn pass_level(cursor: &mut Cursor<'_>, highest: i16, encoding: Encoding, values: u32) -> io::Result<()> {
    if highest <= 0 {
        return Ok(());
    }
    #[expect(deprecated, reason = "the decoder still reads what old writers wrote")]
    let length = match encoding {
        Encoding::RLE => u64::from(u32::from_le_bytes([cursor.byte()?, cursor.byte()?, cursor.byte()?, cursor.byte()?])),
        Encoding::BIT_PACKED => (u64::from(values) * u64::from(i16::BITS - highest.leading_zeros())).div_ceil(8),
        _ => return Err(wrong(format!("levels in the encoding {encoding}"))),
    };
    cursor.take(length).map(|_| ())
}

/// The head of a list of lengths. They follow in blocks, as differences of so many bits.
#[derive(Debug)]
struct Lengths {
    /// Parts of a block that have a width of their own.
    parts: u64,
    /// Lengths in a part.
    each: u64,
    count: u64,
    first: i64,
}

impl Lengths {
    fn read(cursor: &mut Cursor<'_>, values: u32, size: u64) -> io::Result<Lengths> {
        let (block, parts, count, first) = (cursor.varint()?, cursor.varint()?, cursor.varint()?, cursor.number()?);
        if count > u64::from(values) {
            return Err(wrong(format!("{count} of them for {values} values")));
        }
        if is_bomb(count * LENGTH, size) {
            return Err(wrong(format!("a bomb: {count} of them in {size} bytes")));
        }
        let each = block.checked_div(parts).filter(|each| each * parts == block && each % 32 == 0);
        let each = each.ok_or_else(|| wrong(format!("blocks of {block} in {parts} parts")))?;
        Ok(Lengths { parts, each, count, first })
    }

    fn room(&self) -> u64 {
        self.count * LENGTH
    }

    /// Walks over all blocks, as far as the decoder does, and calls `meet` with each length.
    fn walk(&self, cursor: &mut Cursor<'_>, meet: &mut dyn FnMut(i32) -> io::Result<()>) -> io::Result<()> {
        let mut left = self.count;
        let mut last = small(self.first)?;
        if left > 0 {
            meet(last)?;
            left -= 1;
        }
        while left > 0 {
            let least = small(cursor.number()?)?;
            for &width in cursor.take(self.parts)? {
                let here = left.min(self.each);
                let packed = cursor.take(self.part_size(if here > 0 { width } else { 0 })?)?;
                for at in 0..here as usize {
                    last = last.wrapping_add(least).wrapping_add(unpack(packed, at, width));
                    meet(last)?;
                }
                left -= here;
            }
        }
        Ok(())
    }

    /// The bytes of a part whose differences have so many bits.
    fn part_size(&self, width: u8) -> io::Result<u64> {
        let bits = self.each.checked_mul(u64::from(width)).filter(|_| width <= WIDEST && self.each > 0);
        bits.map(|bits| bits / 8).ok_or_else(|| wrong(format!("{} differences of {width} bits", self.each)))
    }
}

fn small(number: i64) -> io::Result<i32> {
    i32::try_from(number).map_err(|_| wrong(format!("{number} is too long")))
}

/// The number at a place among numbers of so many bits, lowest bit first.
fn unpack(packed: &[u8], at: usize, width: u8) -> i32 {
    let bit = at * usize::from(width);
    let bytes = packed.get(bit / 8..).unwrap_or_default();
    let mut word = [0; 8];
    let held = bytes.len().min(word.len());
    word[..held].copy_from_slice(&bytes[..held]);
    (u64::from_le_bytes(word) >> (bit % 8) & ((1 << width) - 1)) as u32 as i32
}

/// The most bytes that values decoded together repeat of those before them.
fn largest_batch(prefixes: &Lengths, cursor: &mut Cursor<'_>) -> io::Result<u64> {
    let (mut met, mut batch, mut largest) = (0_u64, 0_u64, 0);
    prefixes.walk(cursor, &mut |prefix| {
        let prefix = u64::try_from(prefix).map_err(|_| wrong(format!("a value repeats {prefix} bytes")))?;
        batch = if met.is_multiple_of(BATCH) { prefix } else { batch + prefix };
        largest = largest.max(batch);
        met += 1;
        Ok(())
    })?;
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 128 in 4 parts; 35 lengths from 3 on, differences of 1 + (0 or 1), then two of 1 without bits.
    fn list() -> Vec<u8> {
        [&[0x80, 1, 4, 35, 6, 2, 1, 0, 77, 77][..], &[0b1010_1010; 4]].concat()
    }

    #[test]
    fn lengths_are_walked_to_their_end() {
        let bytes = [list(), vec![9]].concat();
        let mut cursor = Cursor::new(&bytes);
        let lengths = Lengths::read(&mut cursor, 35, 100).unwrap();
        let mut met = Vec::new();
        let walked = lengths.walk(&mut cursor, &mut |length| {
            met.push(length);
            Ok(())
        });
        walked.unwrap();
        assert_eq!((met.len(), &met[..4], met[34]), (35, &[3, 4, 6, 7][..], 3 + 34 + 16));
        assert_eq!(cursor.byte().unwrap(), 9);
        for cut in 0..list().len() {
            let mut cursor = Cursor::new(&bytes[..cut]);
            let walked = Lengths::read(&mut cursor, 35, 100).and_then(|lengths| lengths.walk(&mut cursor, &mut |_| Ok(())));
            assert!(walked.is_err(), "{cut}");
        }
    }

    #[test]
    fn counts_beyond_the_values_or_the_bytes_are_refused() {
        let read = |bytes: &[u8], values| Lengths::read(&mut Cursor::new(bytes), values, 1000);
        assert!(read(&list(), 34).is_err());
        let many = [0x80, 1, 4, 0xff, 0xff, 0xff, 0xff, 7, 0];
        assert!(read(&many, u32::MAX).unwrap_err().to_string().starts_with("a bomb"));
        for blocks in [[0x20, 0, 1, 0], [0x20, 3, 1, 0], [0x30, 1, 1, 0]] {
            assert!(read(&blocks, 1).is_err(), "{blocks:?}");
        }
    }

    #[test]
    fn numbers_of_any_width_are_unpacked() {
        assert_eq!(unpack(&[0b1010_0110, 0b11], 1, 5), 0b11101);
        assert_eq!(unpack(&[0xff; 4], 0, 32), -1);
        assert_eq!(unpack(&[], 7, 0), 0);
    }
}
