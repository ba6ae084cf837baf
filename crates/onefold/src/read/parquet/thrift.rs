//! A walk through a structure in Thrift's compact protocol that believes no number in it.
//!
//! The decoder of the `parquet` crate makes room by numbers that the file claims, and room that cannot be had ends the process.
//! Walking over the bytes first costs a fraction of decoding them.

use std::io;

use super::cursor::{Cursor, wrong};

/// Structures inside structures; real files have five.
const DEEPEST: usize = 32;

/// What is met on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Met {
    /// A field of this type begins.
    Field(u8),
    /// A whole number.
    Number(i64),
    /// A list of so many items of this type; so many bytes are there.
    List(usize, u8),
    /// An item of a list begins.
    Item,
}

/// Walks over a structure and calls `meet` with the ids of the fields that lead to each thing. Returns the length of the structure.
pub(super) fn walk(bytes: &[u8], meet: &mut dyn FnMut(&[i64], Met) -> io::Result<()>) -> io::Result<usize> {
    let mut walker = Walker { cursor: Cursor::new(bytes), path: Vec::new(), meet };
    walker.structure(0)?;
    Ok(walker.cursor.at)
}

struct Walker<'a> {
    cursor: Cursor<'a>,
    path: Vec<i64>,
    meet: &'a mut dyn FnMut(&[i64], Met) -> io::Result<()>,
}

impl Walker<'_> {
    fn structure(&mut self, depth: usize) -> io::Result<()> {
        if depth > DEEPEST {
            return Err(wrong("structures are nested too deep"));
        }
        let mut id = 0_i64;
        loop {
            let head = self.cursor.byte()?;
            if head == 0 {
                return Ok(());
            }
            let step = i64::from(head >> 4);
            id = if step > 0 { id + step } else { self.cursor.number()? };
            // The decoder holds ids in so many bits: others would become fields that were not met here.
            if !(1..=i64::from(i16::MAX)).contains(&id) {
                return Err(wrong(format!("a field has the id {id}")));
            }
            self.path.push(id);
            (self.meet)(&self.path, Met::Field(head & 15))?;
            // The value of a truth is in its type.
            if !matches!(head & 15, 1 | 2) {
                self.value(head & 15, depth)?;
            }
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        match kind {
            1..=3 => self.pass(1),
            4..=6 => {
                let number = self.cursor.number()?;
                (self.meet)(&self.path, Met::Number(number))
            }
            7 => self.pass(8),
            8 => {
                let length = self.cursor.varint()?;
                self.pass(length)
            }
            9 | 10 => self.list(depth),
            11 => self.map(depth),
            12 => self.structure(depth + 1),
            13 => self.pass(16),
            _ => Err(wrong("a field has no known type")),
        }
    }

    fn list(&mut self, depth: usize) -> io::Result<()> {
        let head = self.cursor.byte()?;
        let size = if head >> 4 == 15 { self.cursor.varint()? } else { u64::from(head >> 4) };
        let size = self.believable(size)?;
        (self.meet)(&self.path, Met::List(size, head & 15))?;
        for _ in 0..size {
            (self.meet)(&self.path, Met::Item)?;
            self.value(head & 15, depth + 1)?;
        }
        Ok(())
    }

    fn map(&mut self, depth: usize) -> io::Result<()> {
        let size = self.cursor.varint()?;
        let size = self.believable(size)?;
        let kinds = if size > 0 { self.cursor.byte()? } else { 0 };
        for _ in 0..size {
            self.value(kinds >> 4, depth + 1)?;
            self.value(kinds & 15, depth + 1)?;
        }
        Ok(())
    }

    fn pass(&mut self, count: u64) -> io::Result<()> {
        self.cursor.take(count).map(|_| ())
    }

    /// Each item takes a byte at least.
    fn believable(&self, size: u64) -> io::Result<usize> {
        let left = self.cursor.left();
        usize::try_from(size).ok().filter(|&size| size <= left).ok_or_else(|| {
            io::Error::new(io::ErrorKind::UnexpectedEof, format!("a list of {size} items where {left} bytes are left"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(bytes: &[u8]) -> io::Result<Vec<(Vec<i64>, Met)>> {
        let mut all = Vec::new();
        walk(bytes, &mut |path, met| {
            if !matches!(met, Met::Field(_)) {
                all.push((path.to_vec(), met));
            }
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn fields_lists_and_structures_are_passed_in_order() {
        // 1: i32 -3; 2: list of two structures {1: i32 1}; 19: binary "ab"; 20: true
        let bytes = [0x15, 5, 0x19, 0x2c, 0x15, 2, 0, 0x15, 2, 0, 0x08, 38, 2, b'a', b'b', 0x11, 0];
        let one = (vec![2, 1], Met::Number(1));
        let expected = [
            (vec![1], Met::Number(-3)),
            (vec![2], Met::List(2, 12)),
            (vec![2], Met::Item),
            one.clone(),
            (vec![2], Met::Item),
            one,
        ];
        assert_eq!(met(&bytes).unwrap(), expected);
        for cut in 0..bytes.len() {
            assert_eq!(met(&bytes[..cut]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{cut}");
        }
    }

    #[test]
    fn lists_longer_than_the_file_and_bottomless_structures_are_refused() {
        assert!(met(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07]).is_err());
        assert!(met(&[0x1c; 1000]).is_err());
    }
}
