//! The file as it is stored: look-ahead, offsets, and a way back to the start of a damaged member.

use std::io::{self, BufRead};

use super::window::Window;

/// Bytes asked of the reader at a time.
const STEP: usize = 64 << 10;
/// So much of a member can be read again after it turned out to be damaged.
const HELD: usize = 1 << 20;

/// The stored bytes.
pub(super) struct Stored {
    reader: Box<dyn BufRead + Send>,
    window: Window,
    /// How far into the window reading has come; what lies before it is held for [`Stored::rewind`].
    ahead: usize,
    /// The first byte of the window is the marked one.
    marked: bool,
    rewound: u64,
    ended: bool,
    fault: Option<io::Error>,
}

impl Stored {
    pub(super) fn new(reader: Box<dyn BufRead + Send>) -> Self {
        Stored { reader, window: Window::default(), ahead: 0, marked: false, rewound: 0, ended: false, fault: None }
    }

    /// At least so many bytes of what follows; fewer only at the end.
    pub(super) fn peek(&mut self, least: usize) -> &[u8] {
        while self.window.bytes().len() - self.ahead < least && !self.ended {
            let room = self.window.room(STEP);
            match self.reader.read(room) {
                Ok(0) => self.ended = true,
                Ok(count) => self.window.filled(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => {
                    // What was read before the fault is worth having; the fault is reported last.
                    self.fault = Some(error);
                    self.ended = true;
                }
            }
        }
        &self.window.bytes()[self.ahead..]
    }

    /// Where the next byte lies in the file.
    pub(super) fn offset(&self) -> u64 {
        self.window.position() + self.ahead as u64
    }

    /// How far the file was looked at; once it has ended, its length.
    pub(super) fn seen(&self) -> u64 {
        self.window.position() + self.window.bytes().len() as u64
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.ahead = (self.ahead + count).min(self.window.bytes().len());
        if !self.marked || self.ahead > HELD {
            self.window.consume(self.ahead);
            self.ahead = 0;
            self.marked = false;
        }
    }

    /// Holds what follows, so that [`Stored::rewind`] can come back here.
    pub(super) fn mark(&mut self) {
        self.window.consume(self.ahead);
        self.ahead = 0;
        self.marked = true;
    }

    /// Goes back to just after the mark, if it is still held: a decoder that met garbage may have run over the next member.
    /// The bytes read twice stay below the bytes read once, whatever the file holds.
    pub(super) fn rewind(&mut self) {
        let again = self.ahead as u64;
        if self.marked && self.ahead > 0 && self.rewound + again <= self.offset() + HELD as u64 {
            self.rewound += again;
            self.ahead = 0;
        }
        self.marked = false;
        self.consume(1);
    }

    /// The fault that ended the reading.
    pub(super) fn take_fault(&mut self) -> Option<io::Error> {
        self.fault.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(bytes: &[u8]) -> Stored {
        Stored::new(Box::new(io::Cursor::new(bytes.to_vec())))
    }

    #[test]
    fn looks_ahead_and_counts() {
        let mut stored = stored(b"abcdef");
        assert_eq!(&stored.peek(3)[..3], b"abc");
        stored.consume(4);
        assert_eq!((stored.offset(), stored.peek(9)), (4, &b"ef"[..]));
    }

    #[test]
    fn rewinds_to_just_after_the_mark() {
        let mut stored = stored(b"abcdef");
        stored.peek(6);
        stored.consume(2);
        stored.mark();
        stored.consume(3);
        stored.rewind();
        assert_eq!((stored.offset(), stored.peek(9)), (3, &b"def"[..]));
    }

    #[test]
    fn rewinding_stays_linear() {
        let mut stored = stored(&vec![0; 4 << 20]);
        let mut read = 0_u64;
        while !stored.peek(1).is_empty() {
            stored.mark();
            let count = stored.peek(HELD).len().min(HELD);
            read += count as u64;
            stored.consume(count);
            stored.rewind();
        }
        assert!(read < 4 * (4 << 20), "{read}");
    }
}
