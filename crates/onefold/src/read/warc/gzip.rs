//! One member of a gzip file at a time, so that every record keeps its place in the file.
//!
//! `flate2`'s readers hide where a member begins and cannot go on after a damaged one; here the header is read by hand and the
//! caller decides what to do after each member.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::member::{Fault, Step};
use super::stored::Stored;

/// The longest header accepted: the extra field alone may have 64 KiB.
const LONGEST_HEADER: usize = 256 << 10;
const FIXED_HEADER: usize = 10;
const TRAILER: usize = 8;

/// Decodes one member after another.
pub(super) struct Inflater {
    state: Decompress,
    checksum: Crc,
    given: u64,
    /// The compressed data has ended, the trailer is yet to come.
    ended: bool,
}

/// Whether a member may begin here: magic, method 8, no reserved flag.
pub(super) fn begins(bytes: &[u8]) -> bool {
    matches!(bytes, [0x1f, 0x8b, 8, flags, ..] if flags & 0xe0 == 0)
}

impl Inflater {
    pub(super) fn new() -> Self {
        Inflater { state: Decompress::new(false), checksum: Crc::new(), given: 0, ended: false }
    }

    /// Reads the header of a member.
    pub(super) fn begin(&mut self, stored: &mut Stored) -> Result<(), Fault> {
        let mut least = FIXED_HEADER;
        let length = loop {
            let bytes = stored.peek(least);
            if let Some(length) = header_length(bytes) {
                break length;
            }
            if bytes.len() < least {
                return Err(Fault::Cut);
            }
            least = bytes.len() + 1;
            if least > LONGEST_HEADER {
                return Err(Fault::Damaged("gzip header without end".into()));
            }
        };
        stored.consume(length);
        self.state.reset(false);
        self.checksum.reset();
        (self.given, self.ended) = (0, false);
        Ok(())
    }

    /// Decodes some bytes of the member.
    pub(super) fn step(&mut self, stored: &mut Stored, room: &mut [u8]) -> Step {
        if self.ended {
            return (0, self.finish(stored));
        }
        let input = stored.peek(1);
        if input.is_empty() {
            return (0, Err(Fault::Cut));
        }
        let (taken_before, given_before) = (self.state.total_in(), self.state.total_out());
        let status = self.state.decompress(input, room, FlushDecompress::None);
        let taken = (self.state.total_in() - taken_before) as usize;
        let given = (self.state.total_out() - given_before) as usize;
        stored.consume(taken);
        self.given += given as u64;
        self.checksum.update(&room[..given]);
        let outcome = match status {
            Ok(Status::StreamEnd) => {
                self.ended = true;
                Ok(false)
            }
            Ok(_) if taken == 0 && given == 0 => Err(Fault::Damaged("gzip data makes no progress".into())),
            Ok(_) => Ok(false),
            Err(error) => Err(Fault::Damaged(format!("gzip data: {error}"))),
        };
        (given, outcome)
    }

    fn finish(&mut self, stored: &mut Stored) -> Result<bool, Fault> {
        let Some(&[a, b, c, d, e, f, g, h]) = stored.peek(TRAILER).first_chunk::<TRAILER>() else { return Err(Fault::Cut) };
        let fits =
            u32::from_le_bytes([a, b, c, d]) == self.checksum.sum() && u32::from_le_bytes([e, f, g, h]) == self.given as u32;
        stored.consume(TRAILER);
        if fits { Ok(true) } else { Err(Fault::Checksum) }
    }
}

/// The length of the header, once all of it is there.
fn header_length(bytes: &[u8]) -> Option<usize> {
    let flags = *bytes.get(3)?;
    let mut at = FIXED_HEADER;
    if flags & 4 != 0 {
        let [low, high] = *bytes.get(at..at + 2)?.first_chunk()?;
        at += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for name_or_comment in [8, 16] {
        if flags & name_or_comment != 0 {
            at += memchr::memchr(0, bytes.get(at..)?)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    (bytes.len() >= at).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_with_every_field() {
        let plain = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        assert_eq!(header_length(&plain), Some(10));
        let mut full = vec![0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 3, 0, b'x', b'y', b'z'];
        full.extend_from_slice(b"name\0comment\0cc");
        for cut in 0..full.len() {
            assert_eq!(header_length(&full[..cut]), None, "{cut}");
        }
        full.push(9);
        assert_eq!(header_length(&full), Some(full.len() - 1));
    }

    #[test]
    fn only_deflate_without_reserved_flags_begins_a_member() {
        assert!(begins(&[0x1f, 0x8b, 8, 8]));
        assert!(!begins(&[0x1f, 0x8b, 8, 0x20]));
        assert!(!begins(&[0x1f, 0x8b, 7, 0]));
        assert!(!begins(&[0x1f, 0x8b, 8]));
    }
}
