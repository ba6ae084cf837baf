//! Sets on disk that were looked at lately. Near-duplicates are looked at again and again.

use std::collections::{HashMap, VecDeque};
use std::ops::{Range, RangeInclusive};

use super::apart::Hold;
use super::sets::SetIndex;
use crate::arenas::fit;
use crate::error::Result;
use crate::exec::Exec;

/// What one thread has looked at lately, in a ring of words: memory that is taken and given back for each set would be in pieces soon.
#[derive(Default)]
pub(super) struct Recent {
    words: Vec<u64>,
    /// Where the next set will lie.
    next: usize,
    /// Where sets lie.
    starts: HashMap<SetIndex, usize>,
    /// The same, the oldest first.
    order: VecDeque<(SetIndex, Range<usize>)>,
    /// For what is too large, or lies elsewhere.
    pub(super) hold: Hold,
}

impl Recent {
    /// How many words each thread may hold.
    pub(super) fn most(exec: &Exec<'_>) -> usize {
        const SENSIBLE: RangeInclusive<u64> = 1 << 12..=1 << 20;
        let words = exec.memory.part(16, 1 << 19) / exec.threads.max(1) as u64 / size_of::<u64>() as u64;
        words.clamp(*SENSIBLE.start(), *SENSIBLE.end()) as usize
    }

    /// A set of `len` words, which `load` puts where it is to lie if it is not there. No more than `most` words are held.
    pub(super) fn get(
        &mut self,
        set: SetIndex,
        len: usize,
        most: usize,
        load: impl FnOnce(&mut [u64]) -> Result<()>,
    ) -> Result<&[u64]> {
        if let Some(&start) = self.starts.get(&set) {
            return Ok(&self.words[start..start + len]);
        }
        if len > most {
            fit(&mut self.hold.words, len);
            load(&mut self.hold.words)?;
            return Ok(&self.hold.words);
        }
        if self.words.is_empty() {
            self.words = vec![0; most];
        }
        let place = self.make_room(len);
        load(&mut self.words[place.clone()])?;
        self.next = place.end;
        self.starts.insert(set, place.start);
        self.order.push_back((set, place.clone()));
        Ok(&self.words[place])
    }

    /// Forgets the oldest until there is room for so many words; returns where.
    fn make_room(&mut self, len: usize) -> Range<usize> {
        let mut start = self.next;
        if start + len > self.words.len() {
            // What lies up to the end is older than what lies at the beginning.
            self.forget_while(|place| place.start >= start);
            start = 0;
        }
        let end = start + len;
        self.forget_while(|place| (start..end).contains(&place.start));
        start..end
    }

    fn forget_while(&mut self, is_in_the_way: impl Fn(&Range<usize>) -> bool) {
        while let Some((set, _)) = self.order.pop_front_if(|(_, place)| is_in_the_way(place)) {
            self.starts.remove(&set);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_again_as_they_were_and_the_oldest_are_forgotten() {
        let mut recent = Recent::default();
        let len = |set: SetIndex| (set as usize * 7) % 23 % 11;
        let mut loaded = Vec::new();
        for step in 0..1000u32 {
            // Each is looked at soon again, and once more much later.
            for set in [step % 97, (step + 95) % 97] {
                let words = recent.get(set, len(set), 50, |words| {
                    loaded.push(set);
                    words.fill(set.into());
                    Ok(())
                });
                assert_eq!(words.unwrap(), vec![u64::from(set); len(set)]);
            }
            assert!(recent.order.iter().map(|(_, place)| place.len()).sum::<usize>() <= 50);
            assert_eq!(recent.order.len(), recent.starts.len());
        }
        assert!(loaded.len() > 900 && loaded.len() < 1200, "{} of 2000", loaded.len());
    }

    #[test]
    fn what_is_too_large_is_not_held_and_what_failed_is_not_there() {
        let mut recent = Recent::default();
        for _ in 0..2 {
            let mut loads = 0;
            let load = |_: &mut [u64]| {
                loads += 1;
                Ok(())
            };
            recent.get(1, 51, 50, load).unwrap();
            assert_eq!(loads, 1);
        }
        assert!(recent.get(2, 50, 50, |_| Err(crate::Error::Interrupted)).is_err());
        let load = |words: &mut [u64]| {
            words.fill(3);
            Ok(())
        };
        assert_eq!(recent.get(2, 50, 50, load).unwrap(), [3; 50]);
        assert_eq!(recent.get(2, 50, 50, |_| Err(crate::Error::Interrupted)).unwrap(), [3; 50]);
    }
}
