//! A sliding window over a stream: bytes are added at the end and dropped at the front.
//!
//! Cost: each byte is moved at most once on average. The window never shrinks what is still needed and never keeps the size of one
//! giant record for the rest of a file.

/// Larger empty buffers are given back.
const KEPT_WHEN_EMPTY: usize = 4 << 20;

/// The bytes that have been read and not yet dropped.
#[derive(Default)]
pub(super) struct Window {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    position: u64,
}

impl Window {
    /// What is in the window.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Where in the stream the window begins.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Drops bytes at the front.
    pub(super) fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.position += count as u64;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > KEPT_WHEN_EMPTY {
                self.buffer = Vec::new();
            }
        }
    }

    /// Free space after the bytes, at least so much; say with [`Window::filled`] how much was used.
    pub(super) fn room(&mut self, least: usize) -> &mut [u8] {
        if self.buffer.len() - self.end < least {
            self.make_room(least);
        }
        &mut self.buffer[self.end..]
    }

    /// So many bytes of [`Window::room`] were written.
    pub(super) fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.buffer.len());
    }

    fn make_room(&mut self, least: usize) {
        let held = self.end - self.start;
        // Moving less than was dropped keeps the cost linear.
        if held <= self.start {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, held);
        }
        if self.buffer.len() - self.end < least {
            let larger = (self.end + least).max(self.buffer.len() * 2);
            self.buffer.resize(larger, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let (mut window, mut expected, mut seen) = (Window::default(), Vec::new(), Vec::new());
        for round in 0..2000_usize {
            let count = round * 7 % 61;
            let bytes: Vec<u8> = (0..count).map(|i| (i + round) as u8).collect();
            window.room(count)[..count].copy_from_slice(&bytes);
            window.filled(count);
            expected.extend_from_slice(&bytes);
            let taken = (round * 13 % 67).min(window.bytes().len());
            seen.extend_from_slice(&window.bytes()[..taken]);
            window.consume(taken);
            assert_eq!(window.position(), seen.len() as u64);
        }
        seen.extend_from_slice(window.bytes());
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_giant_buffer_is_given_back() {
        let mut window = Window::default();
        window.room(16 << 20);
        window.filled(16 << 20);
        window.consume(16 << 20);
        assert_eq!(window.buffer.len(), 0);
    }
}
