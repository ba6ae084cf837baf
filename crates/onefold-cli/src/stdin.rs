//! Standard input that can be interrupted: a read that waits for a slow pipe must not outlive Ctrl-C.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Reads standard input on a thread of its own.
pub struct Stdin {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: io::Cursor<Vec<u8>>,
    cancel: Arc<AtomicBool>,
}

const BLOCK: usize = 1 << 18;

impl Stdin {
    /// Gives up once `cancel` is set.
    pub fn new(cancel: Arc<AtomicBool>) -> Self {
        let (send, blocks) = sync_channel(4);
        std::thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut block = vec![0; BLOCK];
                let read = stdin.read(&mut block).map(|length| {
                    block.truncate(length);
                    block
                });
                let last = !matches!(&read, Ok(block) if !block.is_empty());
                if send.send(read).is_err() || last {
                    return;
                }
            }
        });
        Stdin { blocks, block: io::Cursor::default(), cancel }
    }
}

impl Read for Stdin {
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
                Err(RecvTimeoutError::Timeout) => continue,
            }
            if self.block.get_ref().is_empty() {
                return Ok(0);
            }
        }
    }
}
