//! Which sets share a key, key by key, without the keys themselves: four bytes for each set of each key.

use crate::error::{Error, Result};

use super::sets::SetIndex;

/// Postings longer than this are searched, shorter ones walked through.
pub(super) const SHORT: usize = 64;
/// Of an entry: it is the first of its posting. Walking needs nothing else to know where one ends.
const FIRST: u32 = 1 << 31;
/// Of an entry: its posting is too long to be walked through.
const LONG: u32 = 1 << 30;
/// Of an entry: its set is found by this key, and does not look for others with it.
const SILENT: u32 = 1 << 29;
const SET: u32 = SILENT - 1;

/// A set that has a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) set: SetIndex,
    /// Where the key stands among the keys of the set.
    pub(super) place: u32,
    /// Whether the set does not look for others with it.
    pub(super) silent: bool,
}

/// See the module. An entry is a set, with what is said of it above.
#[derive(Debug, Default)]
pub(super) struct Postings {
    entries: Vec<u32>,
    long: Vec<Long>,
    /// Where keys stand among those of their sets, for long postings.
    places: Vec<u32>,
}

/// A long posting.
#[derive(Clone, Copy, Debug)]
struct Long {
    start: u32,
    end: u32,
    /// Where its places begin.
    places: u32,
}

impl Postings {
    /// Bytes of so many entries: few postings are long.
    pub(super) fn bytes(entries: u64) -> u64 {
        entries * size_of::<u32>() as u64
    }

    /// An error where so many sets can't be told apart.
    pub(super) fn check_sets(count: usize) -> Result<()> {
        let limit = u64::from(SET);
        if count as u64 > limit { Err(Error::TooLarge { what: "distinct documents", limit }) } else { Ok(()) }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Gives back what is not used.
    pub(super) fn shrink_to_fit(&mut self) {
        self.entries.shrink_to_fit();
        self.long.shrink_to_fit();
        self.places.shrink_to_fit();
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.long.clear();
        self.places.clear();
    }

    /// Adds the sets of a key, in their order.
    pub(super) fn push(&mut self, members: impl ExactSizeIterator<Item = Member>) {
        let start = self.entries.len() as u32;
        let is_long = members.len() > SHORT;
        if is_long {
            self.long.push(Long { start, end: start + members.len() as u32, places: self.places.len() as u32 });
        }
        let said = if is_long { LONG } else { 0 };
        self.entries.extend(members.map(|member| {
            if is_long {
                self.places.push(member.place);
            }
            member.set | said | if member.silent { SILENT } else { 0 }
        }));
        if let Some(first) = self.entries.get_mut(start as usize) {
            *first |= FIRST;
        }
    }

    /// Adds those of another.
    pub(super) fn append(&mut self, other: &Postings) -> Result<()> {
        let (start, places) = (self.entries.len() as u32, self.places.len() as u32);
        let limit = u64::from(u32::MAX);
        if (self.entries.len() + other.entries.len()) as u64 > limit {
            return Err(Error::TooLarge { what: "keys that documents share", limit });
        }
        self.entries.extend_from_slice(&other.entries);
        let moved = |long: &Long| Long { start: long.start + start, end: long.end + start, places: long.places + places };
        self.long.extend(other.long.iter().map(moved));
        self.places.extend_from_slice(&other.places);
        Ok(())
    }

    /// Adds what is left of the postings of another where only some sets are wanted.
    pub(super) fn append_wanted(&mut self, other: &Postings, wanted: impl Fn(SetIndex) -> bool) {
        let mut long = other.long.iter();
        let mut some = Vec::new();
        for posting in other.entries.chunk_by(|_, next| next & FIRST == 0) {
            let places = if posting[0] & LONG != 0 { long.next().map_or(0, |long| long.places as usize) } else { 0 };
            let place = |nth: usize| other.places.get(places + nth).copied().unwrap_or(0);
            some.clear();
            some.extend(posting.iter().enumerate().filter(|(_, entry)| wanted(*entry & SET)).map(|(nth, &entry)| Member {
                set: entry & SET,
                place: if entry & LONG != 0 { place(nth) } else { 0 },
                silent: entry & SILENT != 0,
            }));
            if some.len() > 1 {
                self.push(some.iter().copied());
            }
        }
    }

    /// As numbers, for [`Postings::read_numbers`].
    pub(super) fn to_numbers(&self, numbers: &mut Vec<u32>) {
        numbers.clear();
        numbers.push(self.entries.len() as u32);
        numbers.extend_from_slice(&self.entries);
        numbers.extend_from_slice(&self.places);
    }

    /// Holds what was made numbers of, and nothing else.
    pub(super) fn read_numbers(&mut self, numbers: &[u32]) {
        self.clear();
        let Some((&entries, numbers)) = numbers.split_first() else { return };
        let (entries, places) = numbers.split_at(numbers.len().min(entries as usize));
        self.entries.extend_from_slice(entries);
        self.places.extend_from_slice(places);
        let (mut start, mut places) = (0, 0);
        for posting in entries.chunk_by(|_, next| next & FIRST == 0) {
            let end = start + posting.len() as u32;
            if posting[0] & LONG != 0 {
                self.long.push(Long { start, end, places });
                places += posting.len() as u32;
            }
            start = end;
        }
    }

    /// Calls `look` with each set that is `wanted` and looks for others with a key, and where it stands among the entries.
    #[inline]
    pub(super) fn each_looking(&self, wanted: impl Fn(SetIndex) -> bool, mut look: impl FnMut(SetIndex, u32)) {
        // Which one is wanted can't be foretold, so nothing branches on it.
        let mut some = [(0, 0); 64];
        for (entries, first) in self.entries.chunks(some.len()).zip((0..).step_by(some.len())) {
            let mut kept = 0;
            for (&entry, at) in entries.iter().zip(first..) {
                some[kept] = (entry & SET, at);
                kept += usize::from((entry & SILENT == 0) & wanted(entry & SET));
            }
            some[..kept].iter().for_each(|&(set, at)| look(set, at));
        }
    }

    /// A set from the middle of each of the `count` longest postings.
    pub(super) fn crowded_sets(&self, count: usize) -> Vec<SetIndex> {
        let middle = |long: &Long| self.set_at((long.start as usize + long.end as usize) / 2);
        let mut crowds: Vec<(u32, SetIndex)> = self.long.iter().map(|long| (long.end - long.start, middle(long))).collect();
        crowds.sort_unstable_by_key(|&(sets, middle)| (std::cmp::Reverse(sets), middle));
        let mut sets: Vec<SetIndex> = crowds.into_iter().take(count).map(|(_, middle)| middle).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// Touches some entries, all at once: one after the other, each would be waited for.
    pub(super) fn warm(&self, entries: &[u32]) {
        let touched = entries.iter().fold(0, |sum, &at| sum ^ self.entries[at as usize]);
        std::hint::black_box(touched);
    }

    /// Whether the posting of an entry is too long to be walked through.
    #[inline]
    pub(super) fn is_long(&self, at: u32) -> bool {
        self.entries[at as usize] & LONG != 0
    }

    /// The sets before this one in its posting, the nearest first.
    pub(super) fn before(&self, at: u32) -> impl Iterator<Item = SetIndex> {
        let mut rest = &self.entries[..=at as usize];
        std::iter::from_fn(move || {
            let (&entry, before) = rest.split_last()?;
            if entry & FIRST != 0 {
                return None;
            }
            rest = before;
            before.last().map(|entry| entry & SET)
        })
    }

    /// The sets after this one in its posting, the nearest first.
    pub(super) fn after(&self, at: u32) -> impl Iterator<Item = SetIndex> {
        let rest = &self.entries[at as usize + 1..];
        rest.iter().take_while(|&&entry| entry & FIRST == 0).map(|entry| entry & SET)
    }

    /// Of an entry of a long posting: where the key stands among those of its set, and the entries of sets in `range`.
    pub(super) fn of_long(&self, at: u32, range: &std::ops::Range<SetIndex>) -> (u32, std::ops::Range<usize>) {
        let nth = self.long.partition_point(|long| long.start <= at) - 1;
        let Long { start, end, places } = self.long[nth];
        let entries = start as usize..end as usize;
        let first_from = |set: SetIndex| self.partition(&entries, |before| before < set);
        (self.places[(places + at - start) as usize], first_from(range.start)..first_from(range.end))
    }

    /// The set of an entry.
    pub(super) fn set_at(&self, at: usize) -> SetIndex {
        self.entries[at] & SET
    }

    /// First of some entries of a posting whose set is not `wanted`, where wanted ones come first.
    pub(super) fn partition(&self, entries: &std::ops::Range<usize>, wanted: impl Fn(SetIndex) -> bool) -> usize {
        entries.start + self.entries[entries.clone()].partition_point(|entry| wanted(entry & SET))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(set: SetIndex) -> Member {
        Member { set, place: set * 2, silent: set % 5 == 4 }
    }

    fn some_postings() -> Postings {
        let mut postings = Postings::default();
        for sets in [0..3, 10..100, 2..4, 7..200] {
            postings.push(sets.map(member).collect::<Vec<_>>().into_iter());
        }
        postings
    }

    /// Every posting, with the places that are known.
    fn list(postings: &Postings) -> Vec<Vec<(SetIndex, Option<u32>)>> {
        let mut all = Vec::new();
        for at in 0..postings.len() as u32 {
            let place = postings.is_long(at).then(|| postings.of_long(at, &(0..0)).0);
            if postings.before(at).next().is_none() {
                all.push(Vec::new());
            }
            all.last_mut().unwrap().push((postings.set_at(at as usize), place));
        }
        all
    }

    fn expected(sets: impl Iterator<Item = SetIndex>, long: bool) -> Vec<(SetIndex, Option<u32>)> {
        sets.map(|set| (set, long.then_some(set * 2))).collect()
    }

    #[test]
    fn postings_are_what_was_pushed_wherever_they_have_been() {
        let mut postings = some_postings();
        let mut numbers = vec![3];
        postings.to_numbers(&mut numbers);
        let mut other = some_postings();
        other.read_numbers(&numbers);
        postings.append(&other).unwrap();
        let once = [expected(0..3, false), expected(10..100, true), expected(2..4, false), expected(7..200, true)];
        assert_eq!(list(&postings), [once.clone(), once].concat());
        let mut looking = Vec::new();
        other.each_looking(|set| set != 12, |set, at| looking.push((set, at)));
        assert!(looking.iter().all(|&(set, at)| set % 5 != 4 && set != 12 && other.set_at(at as usize) == set));
        let is_looking = |at: &usize| other.set_at(*at) % 5 != 4 && other.set_at(*at) != 12;
        assert_eq!(looking.len(), (0..other.len()).filter(is_looking).count());
    }

    #[test]
    fn of_some_sets_what_two_share_is_left() {
        let mut postings = Postings::default();
        postings.append_wanted(&some_postings(), |set| set >= 3 && set % 2 == 1);
        assert_eq!(list(&postings), [expected((11..100).step_by(2), false), expected((7..200).step_by(2), true)]);
        assert_eq!(postings.of_long(50, &(40..50)).1.map(|at| postings.set_at(at)).collect::<Vec<_>>(), [41, 43, 45, 47, 49]);
        assert_eq!(postings.crowded_sets(3), [103]);
        assert_eq!(postings.after(0).next(), Some(13));
    }
}
