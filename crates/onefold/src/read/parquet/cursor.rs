//! A place in bytes that are not trusted: nothing is read beyond their end.

use std::io;

/// Bytes, and how many of them have been read.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(super) fn byte(&mut self) -> io::Result<u8> {
        let byte = self.bytes.get(self.at).copied().ok_or(io::ErrorKind::UnexpectedEof)?;
        self.at += 1;
        Ok(byte)
    }

    /// The next so many bytes.
    pub(super) fn take(&mut self, count: u64) -> io::Result<&'a [u8]> {
        let count = usize::try_from(count).ok().filter(|&count| count <= self.left()).ok_or(io::ErrorKind::UnexpectedEof)?;
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    pub(super) fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(wrong("a number has no end"))
    }

    /// Negative numbers are folded between the others.
    pub(super) fn number(&mut self) -> io::Result<i64> {
        let folded = self.varint()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }
}

pub(super) fn wrong(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.into())
}
