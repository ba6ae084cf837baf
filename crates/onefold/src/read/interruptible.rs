//! A stream that can be interrupted: a read that waits for a slow or silent pipe must not outlive a cancelled run.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Reads on a thread of its own, which is left behind when the run is cancelled.
pub(super) struct Interruptible {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: io::Cursor<Vec<u8>>,
    cancel: Arc<AtomicBool>,
}

const BLOCK: usize = 1 << 18;

impl Interruptible {
    /// `open` may wait, too: a pipe without a writer does.
    pub(super) fn new(open: impl FnOnce() -> io::Result<Box<dyn Read + Send>> + Send + 'static, cancel: Arc<AtomicBool>) -> Self {
        let (send, blocks) = sync_channel(4);
        std::thread::spawn(move || {
            let mut reader = match open() {
                Ok(reader) => reader,
                Err(error) => {
                    let _ = send.send(Err(error));
                    return;
                }
            };
            while let Some(block) = next_block(&mut reader) {
                let failed = block.is_err();
                if send.send(block).is_err() || failed {
                    return;
                }
            }
        });
        Interruptible { blocks, block: io::Cursor::default(), cancel }
    }
}

fn next_block(reader: &mut dyn Read) -> Option<io::Result<Vec<u8>>> {
    let mut block = vec![0; BLOCK];
    loop {
        match reader.read(&mut block) {
            Ok(0) => return None,
            Ok(length) => {
                block.truncate(length);
                return Some(Ok(block));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Some(Err(error)),
        }
    }
}

impl Read for Interruptible {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.block.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            match self.blocks.recv_timeout(Duration::from_millis(50)) {
                Ok(block) => self.block = io::Cursor::new(block?),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if self.cancel.load(Ordering::Relaxed) => {
                    return Err(io::Error::other("interrupted"));
                }
                Err(RecvTimeoutError::Timeout) => (),
            }
        }
    }
}
