//! How, never what: threads, memory, disk, progress, cancellation. Nothing here may change the answer.

mod idle;
mod memory;
mod pages;
mod spill;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use idle::Idle;
pub(crate) use memory::give_back;
pub use memory::{Memory, parse_size};
pub(crate) use pages::{PAGE, Pages};
pub(crate) use spill::{ALL_READ, BATCHES, HEADING, JOURNAL, SpillFile, Way, pack, unpack};
pub use spill::{SPILL_VERSION, Spill};

use crate::error::{Error, Result};
use crate::run::Stage;

/// Watches a run. All methods may be called from any thread.
pub trait Observer: Sync {
    /// A stage begins, with so many units of work (bytes or documents) where that is known.
    fn begin(&self, _stage: Stage, _total: Option<u64>) {}
    /// So much more is done.
    fn advance(&self, _stage: Stage, _amount: u64) {}
    /// The stage is over.
    fn end(&self, _stage: Stage) {}
    /// Seconds by stage, for the manifest; the library itself reads no clock.
    fn timings(&self) -> Vec<(Stage, f64)> {
        Vec::new()
    }
}

/// An observer that looks away.
#[derive(Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// How a run is carried out.
pub struct Exec<'a> {
    /// Worker threads, at least one.
    pub threads: usize,
    /// Told of progress.
    pub observer: &'a dyn Observer,
    /// Set from outside to stop the run.
    pub cancel: Arc<AtomicBool>,
    /// What may be taken.
    pub memory: Memory,
    /// Where the rest goes; without it everything stays in memory.
    pub spill: Option<Spill>,
    /// Whether texts stay in memory after they were read: [`Collection::into_documents`](crate::Collection::into_documents).
    pub keep_texts: bool,
}

impl Default for Exec<'_> {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Exec { threads, observer: &Silent, cancel: Arc::default(), memory: Memory::UNLIMITED, spill: None, keep_texts: false }
    }
}

impl Exec<'_> {
    /// An error once the run was cancelled.
    pub fn check(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Threads for what is done in parallel.
    pub(crate) fn pool(&self) -> Result<rayon::ThreadPool> {
        pool(self.threads)
    }

    /// Does what takes so many bytes in each thread, with fewer of them where memory is short.
    pub(crate) fn with_buffers<T: Send>(&self, bytes: u64, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        if self.memory.limit().is_none() {
            return work();
        }
        self.memory.make_room();
        let fit = (self.memory.left() / 2 / bytes.max(1)).clamp(1, self.threads as u64) as usize;
        if fit == self.threads { work() } else { pool(fit)?.install(work) }
    }

    /// Does what waits for the disk again and again, and takes so many bytes in each thread: others work meanwhile.
    pub(crate) fn with_waiting<T: Send>(&self, bytes: u64, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        self.memory.make_room();
        let fit = (self.memory.left() / 4 / bytes.max(1)).clamp(1, 6 * self.threads as u64) as usize;
        let result = pool(fit)?.install(work);
        // What so many threads had would count as taken.
        if self.memory.left() < self.memory.limit().map_or(0, |limit| limit / 4) {
            give_back();
        }
        result
    }

    /// Lets work be shared out among as many threads as there shall be.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        Ok(self.pool()?.install(work))
    }

    /// The folder for what has been found too much for memory.
    pub(crate) fn spill(&self) -> Result<&Spill> {
        self.spill.as_ref().ok_or_else(|| Error::Bug("nowhere to spill to".into()))
    }

    /// Where to put what takes `bytes`, if it is too much for a `share` (in hundredths) of the memory that is left.
    pub(crate) fn spill_beyond(&self, share: u64, bytes: u64) -> Option<&Spill> {
        let spill = self.spill.as_ref()?;
        (bytes > self.memory.left() / 100 * share).then_some(spill)
    }

    /// Runs a stage with its beginning and end announced.
    pub(crate) fn stage<T>(&self, stage: Stage, total: Option<u64>, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check()?;
        self.memory.make_room();
        self.observer.begin(stage, total);
        let result = work();
        self.observer.end(stage);
        result
    }
}

fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build().map_err(|e| Error::Bug(e.to_string()))
}
