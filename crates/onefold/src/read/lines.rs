//! A stream cut into blocks of whole lines, without ever holding a line that is too long.

use std::io::{self, BufRead, Read};
use std::ops::Deref;
use std::sync::{Arc, Mutex};

/// A block of whole lines.
#[derive(Debug, Default)]
pub struct LineBlock {
    /// The lines with their line ends.
    pub bytes: Bytes,
    /// Where the block begins in the stream.
    pub offset: u64,
    /// Where the next one does.
    pub end: u64,
    /// The last line is longer than allowed; only its beginning is here.
    pub overlong: bool,
    pool: Pool,
}

/// Bytes at the start of a buffer that is longer: room to read into is cleared once and not for every block.
#[derive(Debug, Default)]
pub struct Bytes {
    buffer: Vec<u8>,
    length: usize,
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl Bytes {
    fn make_room(&mut self, bytes: usize) {
        let wanted = self.length + bytes;
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
    }

    fn append(&mut self, more: &[u8]) {
        self.make_room(more.len());
        self.buffer[self.length..][..more.len()].copy_from_slice(more);
        self.length += more.len();
    }

    /// Reads into all the room there is; says how many bytes came.
    fn fill_from(&mut self, reader: &mut dyn BufRead) -> io::Result<usize> {
        let read = reader.read(&mut self.buffer[self.length..])?;
        self.length += read;
        Ok(read)
    }

    fn truncate(&mut self, length: usize) {
        self.length = length.min(self.length);
    }
}

/// Buffers of blocks that are done with: fresh memory costs more than the reading.
type Pool = Arc<Mutex<Vec<Bytes>>>;

impl Drop for LineBlock {
    fn drop(&mut self) {
        if let Ok(mut idle) = self.pool.lock() {
            idle.push(std::mem::take(&mut self.bytes));
        }
    }
}

/// Cuts a stream into [`LineBlock`]s of about `target` bytes.
pub struct Lines {
    reader: Box<dyn BufRead + Send>,
    target: usize,
    longest: u64,
    offset: u64,
    rest: Vec<u8>,
    ended: bool,
    /// What went wrong after the lines that were delivered. A decoder may not say it twice.
    fault: Option<io::Error>,
    pool: Pool,
}

/// Bytes that are read at once at least.
const PIECE: usize = super::open::BUFFER;
/// So much of an overlong line is kept.
const KEPT_OF_OVERLONG: usize = 64;

impl Lines {
    /// Lines longer than `longest` bytes are cut short and marked.
    pub fn new(reader: Box<dyn BufRead + Send>, target: usize, longest: u64) -> Self {
        Lines { reader, target, longest, offset: 0, rest: Vec::new(), ended: false, fault: None, pool: Pool::default() }
    }

    /// Of a stream that begins at `offset` of another, in a line that is passed over, or so much of it.
    pub fn from_within(
        mut reader: Box<dyn BufRead + Send>,
        target: usize,
        longest: u64,
        offset: u64,
        most: u64,
    ) -> io::Result<Self> {
        let passed = reader.by_ref().take(most).skip_until(b'\n')? as u64;
        Ok(Lines { offset: offset + passed, ..Lines::new(reader, target, longest) })
    }

    /// The next block, `None` at the end. After an error the lines read before it come first.
    pub fn next_block(&mut self) -> io::Result<Option<LineBlock>> {
        if self.rest.is_empty()
            && let Some(fault) = self.fault.take()
        {
            return Err(fault);
        }
        let mut bytes = self.idle_buffer();
        bytes.append(&self.rest);
        self.rest.clear();
        bytes.make_room(self.target);
        let mut searched = 0;
        while !self.ended {
            let full = bytes.len() >= self.target;
            if full {
                if let Some(end) = memchr::memrchr(b'\n', &bytes[searched..]) {
                    let end = searched + end + 1;
                    self.rest.extend_from_slice(&bytes[end..]);
                    bytes.truncate(end);
                    return Ok(Some(self.block(bytes, false)));
                }
                searched = bytes.len();
                if bytes.len() as u64 > self.longest {
                    return self.skip_line(bytes).map(Some);
                }
            }
            // At least what the reader's own buffer holds: then it is passed by.
            bytes.make_room(PIECE.min(self.target));
            match bytes.fill_from(&mut self.reader) {
                Ok(0) => self.ended = true,
                Ok(_) => (),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => (),
                Err(e) => {
                    self.ended = true;
                    if bytes.is_empty() {
                        return Err(e);
                    }
                    // What was read before the fault is delivered first.
                    self.fault = Some(e);
                }
            }
        }
        Ok(if bytes.is_empty() { None } else { Some(self.block(bytes, false)) })
    }

    /// An empty buffer; one that a long line has blown up is not kept.
    fn idle_buffer(&self) -> Bytes {
        let idle = self.pool.lock().ok().and_then(|mut idle| idle.pop());
        let mut bytes = idle.filter(|bytes| bytes.buffer.len() <= 4 * self.target).unwrap_or_default();
        bytes.truncate(0);
        bytes
    }

    /// Passes over a line whose beginning fills the block.
    fn skip_line(&mut self, mut bytes: Bytes) -> io::Result<LineBlock> {
        let mut passed = bytes.len() as u64;
        bytes.truncate(KEPT_OF_OVERLONG);
        loop {
            let (taken, found) = match self.reader.fill_buf() {
                Ok([]) => (0, true),
                Ok(more) => memchr::memchr(b'\n', more).map_or((more.len(), false), |end| (end + 1, true)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => {
                    (self.fault, self.ended) = (Some(e), true);
                    (0, true)
                }
            };
            self.reader.consume(taken);
            passed += taken as u64;
            if found {
                break;
            }
        }
        let mut block = self.block(bytes, true);
        self.offset = block.offset + passed;
        block.end = self.offset;
        block.overlong = true;
        Ok(block)
    }

    fn block(&mut self, bytes: Bytes, overlong: bool) -> LineBlock {
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        LineBlock { bytes, offset, end: self.offset, overlong, pool: Arc::clone(&self.pool) }
    }

    /// Where the next block begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next block, which ends at `stop`, where a line begins, if it does not end before.
    pub fn next_block_until(&mut self, stop: u64) -> io::Result<Option<LineBlock>> {
        let mut block = self.next_block()?;
        if let Some(block) = block.as_mut().filter(|block| block.end > stop && !block.overlong) {
            let kept = (stop - block.offset) as usize;
            self.rest.splice(..0, block.bytes[kept..].iter().copied());
            block.bytes.truncate(kept);
            (block.end, self.offset) = (stop, stop);
        }
        Ok(block)
    }

    /// Passes over everything before `offset`.
    pub fn skip_to(&mut self, offset: u64) -> io::Result<()> {
        let held = self.rest.len().min((offset - self.offset) as usize);
        self.rest.drain(..held);
        self.offset += held as u64;
        while self.offset < offset {
            let passed = match self.reader.fill_buf() {
                Ok([]) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(more) => more.len().min((offset - self.offset) as usize),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            self.reader.consume(passed);
            self.offset += passed as u64;
        }
        Ok(())
    }
}

/// The lines of a stream as they stand in it, none of them ever held whole.
pub(crate) struct RawLines {
    reader: Box<dyn BufRead + Send>,
    /// The number of the line at hand, from 1.
    number: u64,
    /// Where the next byte lies in the stream.
    offset: u64,
}

impl RawLines {
    pub(crate) fn new(reader: Box<dyn BufRead + Send>) -> Self {
        RawLines { reader, number: 1, offset: 0 }
    }

    /// Passes over whole lines up to the one of this number, and says where it begins; `None` if there is no such line.
    pub(crate) fn seek(&mut self, number: u64) -> io::Result<Option<u64>> {
        while self.number < number {
            if self.piece(|_| ())?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(self.offset))
    }

    /// Appends some bytes of the line at hand. Says whether the line ends with them; `None` at the end of the stream.
    pub(crate) fn read(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<bool>> {
        self.piece(|piece| bytes.extend_from_slice(piece))
    }

    fn piece(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<Option<bool>> {
        let more = loop {
            match self.reader.fill_buf() {
                Ok([]) => return Ok(None),
                Ok(more) => break more.len(),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => (),
                Err(e) => return Err(e),
            }
        };
        let buffer = self.reader.fill_buf()?;
        let end = memchr::memchr(b'\n', buffer).map(|end| end + 1);
        let taken = end.unwrap_or(more);
        take(&buffer[..taken]);
        self.reader.consume(taken);
        self.offset += taken as u64;
        self.number += u64::from(end.is_some());
        Ok(Some(end.is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn blocks(text: &str, target: usize, longest: u64, buffer: usize) -> Vec<LineBlock> {
        let reader = BufReader::with_capacity(buffer, io::Cursor::new(text.as_bytes().to_vec()));
        let mut lines = Lines::new(Box::new(reader), target, longest);
        std::iter::from_fn(|| lines.next_block().unwrap()).collect()
    }

    #[test]
    fn blocks_are_whole_lines_and_lose_nothing() {
        let text = "one\ntwo\n\nthree three three\nlast without end";
        for target in 1..60 {
            for buffer in [1, 2, 7, 64] {
                let found = blocks(text, target, 1000, buffer);
                let all: Vec<u8> = found.iter().flat_map(|b| b.bytes.to_vec()).collect();
                assert_eq!(all, text.as_bytes());
                let mut offset = 0;
                for block in &found {
                    assert_eq!(block.offset, offset);
                    offset += block.bytes.len() as u64;
                    assert!(block.bytes.ends_with(b"\n") || offset == text.len() as u64);
                }
            }
        }
    }

    #[test]
    fn a_line_that_began_before_is_passed_over() {
        let from = |offset: u64| {
            let reader = io::Cursor::new(b"one\ntwo\nthree\n"[offset as usize..].to_vec());
            let block = Lines::from_within(Box::new(reader), 100, 100, offset, 100).unwrap().next_block().unwrap().unwrap();
            (block.offset, String::from_utf8(block.bytes.to_vec()).unwrap())
        };
        assert_eq!(from(1), (4, "two\nthree\n".into()));
        assert_eq!(from(3), (4, "two\nthree\n".into()));
        assert_eq!(from(4), (8, "three\n".into()));
    }

    #[test]
    fn raw_lines_are_found_by_number() {
        let text = "one\r\n\n\u{c3}three\nlast";
        for buffer in [1, 2, 64] {
            let reader = BufReader::with_capacity(buffer, io::Cursor::new(text.as_bytes().to_vec()));
            let mut lines = RawLines::new(Box::new(reader));
            let line = |lines: &mut RawLines| {
                let mut bytes = Vec::new();
                while lines.read(&mut bytes).unwrap() == Some(false) {}
                String::from_utf8(bytes).unwrap()
            };
            assert_eq!((lines.seek(1).unwrap(), line(&mut lines).as_str()), (Some(0), "one\r\n"));
            assert_eq!((lines.seek(3).unwrap(), line(&mut lines).as_str()), (Some(6), "\u{c3}three\n"));
            assert_eq!((lines.seek(4).unwrap(), line(&mut lines).as_str()), (Some(14), "last"));
            assert_eq!(lines.seek(5).unwrap(), None);
        }
    }

    #[test]
    fn an_overlong_line_is_passed_over_and_marked() {
        let text = format!("first\n{}\nlast\n", "x".repeat(10_000));
        let found = blocks(&text, 16, 100, 32);
        let marked: Vec<_> = found.iter().filter(|b| b.overlong).collect();
        assert_eq!(marked.len(), 1);
        let last = found.last().unwrap();
        assert_eq!(*last.bytes, *b"last\n");
        assert_eq!(last.offset, 6 + 10_001);
    }
}
