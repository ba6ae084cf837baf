//! The pairs that a join found: in memory while they are few, in a spill file when they are many.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::SetPair;
use crate::error::{Error, Result};
use crate::exec::{Exec, SpillFile, Way, pack, unpack};

/// Pairs of distinct sets, each once, in no order.
#[derive(Debug, Default)]
pub struct PairList {
    held: Vec<Vec<SetPair>>,
    spilled: Option<Spilled>,
    /// Pairs of both.
    len: u64,
}

#[derive(Debug)]
struct Spilled {
    file: SpillFile,
    /// Where each frame begins, and how many pairs it has.
    frames: Vec<(u64, usize)>,
    /// Pairs of all frames.
    pairs: u64,
}

impl From<Vec<SetPair>> for PairList {
    fn from(pairs: Vec<SetPair>) -> PairList {
        PairList { len: pairs.len() as u64, held: vec![pairs], spilled: None }
    }
}

impl PairList {
    /// Bytes of a pair on disk.
    pub(crate) const PAIR_ON_DISK: u64 = 12;

    /// Number of pairs.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Looks at all pairs.
    pub fn each(&self, mut look: impl FnMut(SetPair)) -> Result<()> {
        self.held.iter().flatten().for_each(|pair| look(*pair));
        if let Some(Spilled { file, frames, .. }) = &self.spilled {
            let mut buffer = Vec::new();
            for (number, &(at, pairs)) in frames.iter().enumerate() {
                let words = file.read_frame(at, number as u32, (3 * pairs).div_ceil(2), &mut buffer)?;
                let numbers = unpack(words, 3 * pairs);
                numbers.chunks_exact(3).for_each(|p| look(SetPair { first: p[0], second: p[1], overlap: p[2] }));
            }
        }
        Ok(())
    }
}

/// Takes pairs from several threads, up to a limit.
pub(super) struct Collector<'a> {
    exec: &'a Exec<'a>,
    limit: u64,
    found: AtomicU64,
    stop: AtomicBool,
    list: Mutex<PairList>,
    /// Pairs that stay in memory.
    most_held: u64,
}

/// Pairs that a thread hands over at a time.
const HANDFUL: usize = 1 << 14;

impl<'a> Collector<'a> {
    pub(super) fn new(exec: &'a Exec<'a>, limit: u64) -> Collector<'a> {
        let spare = if exec.spill.is_some() { exec.memory.left() / 8 } else { u64::MAX };
        Collector {
            exec,
            limit,
            found: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            list: Mutex::default(),
            most_held: spare / size_of::<SetPair>() as u64,
        }
    }

    /// Whether to look no further: there are too many, or the run is over.
    pub(super) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.exec.check().is_err()
    }

    /// Counts pairs that were found.
    pub(super) fn count(&self, new: usize) {
        if new > 0 && self.found.fetch_add(new as u64, Ordering::Relaxed) + new as u64 > self.limit {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Takes over pairs once they are many.
    pub(super) fn take_some(&self, pairs: &mut Vec<SetPair>) -> Result<()> {
        if pairs.len() < HANDFUL { Ok(()) } else { self.take(std::mem::take(pairs)) }
    }

    /// Takes over pairs.
    pub(super) fn take(&self, mut pairs: Vec<SetPair>) -> Result<()> {
        if pairs.is_empty() {
            return Ok(());
        }
        let mut list = self.list.lock().map_err(|_| Error::Bug("a thread failed while it joined".into()))?;
        pairs.shrink_to_fit();
        list.len += pairs.len() as u64;
        list.held.push(pairs);
        let PairList { held, spilled, len } = &mut *list;
        let on_disk = spilled.as_ref().map_or(0, |spilled| spilled.pairs);
        let most = if spilled.is_some() { HANDFUL as u64 } else { self.most_held };
        if *len - on_disk <= most {
            return Ok(());
        }
        let spilled = match spilled {
            Some(spilled) => spilled,
            None => {
                spilled.insert(Spilled { file: self.exec.spill()?.scratch("pairs", Way::Cached)?, frames: Vec::new(), pairs: 0 })
            }
        };
        // One after the other: together they would be there a second time.
        std::mem::take(held).into_iter().try_for_each(|pairs| spilled.write(&pairs))
    }

    /// All of them; an error if there are too many.
    pub(super) fn finish(self) -> Result<PairList> {
        self.exec.check()?;
        if self.stop.into_inner() {
            return Err(Error::TooManyPairs { limit: self.limit });
        }
        self.list.into_inner().map_err(|_| Error::Bug("a thread failed while it joined".into()))
    }
}

impl Spilled {
    fn write(&mut self, pairs: &[SetPair]) -> Result<()> {
        let numbers: Vec<u32> = pairs.iter().flat_map(|pair| [pair.first, pair.second, pair.overlap]).collect();
        let at = self.file.append_frame(self.frames.len() as u32, &pack(&numbers))?;
        self.frames.push((at, pairs.len()));
        self.pairs += pairs.len() as u64;
        Ok(())
    }
}
