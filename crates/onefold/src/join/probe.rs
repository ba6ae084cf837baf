//! Probing the index: counting shared keys, and merging the sets that share enough.

use std::ops::Range;

use super::Bar;
use super::apart::Hold;
use super::crowds::{CROWD, Crowds, Unknown};
use super::index::Index;
use super::keys::Lookup;
use super::noted::Note;
use super::ordered::Ordered;
use super::postings::Postings;
use super::recent::Recent;
use super::sets::{SetIndex, Sets};
use super::sketches::Sketches;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Side};
use crate::verify;

/// So many postings are fetched from memory at a time.
const WARMED: usize = 32;

/// What all probes share.
pub(super) struct Space<'a, F: ?Sized> {
    pub(super) sets: &'a Sets,
    pub(super) ordered: &'a Ordered<'a>,
    pub(super) method: &'a F,
    pub(super) sketches: Sketches,
    pub(super) bar: Bar<'a>,
}

impl<F: Fingerprint + ?Sized> Space<'_, F> {
    /// The sets whose size makes them possible partners.
    pub(super) fn partners(&self, set: SetIndex) -> Range<SetIndex> {
        let size = self.sets.sizes()[set as usize];
        if size == 0 {
            return 0..0;
        }
        let Some(threshold) = self.bar.threshold else {
            return self.sets.first_of_size(1)..self.sets.len() as SetIndex;
        };
        let end = threshold.largest_partner(size).checked_add(1).map(|size| self.sets.first_of_size(size));
        self.sets.first_of_size(threshold.smallest_partner(size))..end.unwrap_or(self.sets.len() as SetIndex)
    }

    /// A set as the method sees it from outside.
    #[inline]
    fn side(&self, set: SetIndex) -> Side {
        self.sketches.side(set, self.sets.sizes()[set as usize])
    }

    /// Whether the sketches of two sets agree, where the method asks for that.
    fn agree(&self, a: SetIndex, b: SetIndex) -> Result<bool> {
        Ok(!self.method.compares_sketches() || self.method.agrees(&self.sketches.of(a)?, &self.sketches.of(b)?))
    }

    /// The exact overlap of two sets, if it is at least `needed`; `counted` is the number of their common keys, where it is known.
    fn overlap(&self, a: &[u64], b: &[u64], counted: Option<u32>, needed: u32) -> Option<u32> {
        let prefix = |shingles: &[u64]| self.method.prefix(shingles.len() as u32).map(|prefix| prefix as usize);
        let counted = counted.filter(|_| self.ordered.is_held());
        let (Some(counted), Some(of_a), Some(of_b)) = (counted, prefix(a), prefix(b)) else {
            return verify::overlap(a, b, needed);
        };
        // What is common up to the end of the prefix that ends first is in both prefixes, and was counted.
        let end = a[of_a - 1].min(b[of_b - 1]);
        let seen = [&a[..of_a], &b[..of_b]].map(|prefix| prefix.partition_point(|&shingle| shingle <= end));
        verify::overlap_after(a, b, seen, counted, needed)
    }
}

/// One thread's counters.
pub(super) struct Prober {
    /// Shared keys seen, by set; zero between probes.
    counts: Vec<u32>,
    touched: Vec<SetIndex>,
    /// Partners that share enough, and how many keys.
    candidates: Vec<(SetIndex, u32)>,
    own: Hold,
    recent: Recent,
    crowds: Crowds,
    /// For words that are not in memory: of the set, and of a partner.
    words: [Vec<u64>; 2],
}

impl Prober {
    pub(super) fn new(sets: usize) -> Self {
        Prober {
            counts: vec![0; sets],
            touched: Vec::new(),
            candidates: Vec::new(),
            own: Hold::default(),
            recent: Recent::default(),
            crowds: Crowds::default(),
            words: Default::default(),
        }
    }

    /// Calls `found` with each verified partner of `set` in `partners` that `wanted` lets through, and the overlap.
    pub(super) fn probe<F: Fingerprint + ?Sized>(
        &mut self,
        space: &Space<'_, F>,
        lookup: Lookup<'_>,
        set: SetIndex,
        partners: Range<SetIndex>,
        wanted: impl Fn(SetIndex) -> bool,
        found: impl FnMut(SetIndex, u32),
    ) -> Result<()> {
        let unseen = self.find_candidates(space, lookup, set, partners, wanted);
        self.verify(space, set, unseen, found)
    }

    /// The same for candidates that were noted, if they are wanted.
    pub(super) fn verify_noted<F: Fingerprint + ?Sized>(
        &mut self,
        space: &Space<'_, F>,
        note: &Note<'_>,
        wanted: impl Fn(SetIndex) -> bool,
        found: impl FnMut(SetIndex, u32),
    ) -> Result<()> {
        self.candidates.clear();
        self.candidates.extend(note.candidates().filter(|&(partner, _)| wanted(partner)));
        self.verify(space, note.set, note.unseen, found)
    }

    /// Lets go of the sets that it looked at last.
    pub(super) fn let_go(&mut self) {
        (self.own, self.recent, self.crowds) = Default::default();
    }

    /// The candidates that were found last, with the number of keys that they share.
    pub(super) fn candidates(&self) -> &[(SetIndex, u32)] {
        &self.candidates
    }

    /// Drops those of them that are not wanted.
    pub(super) fn retain_candidates(&mut self, wanted: impl Fn(SetIndex) -> bool) {
        self.candidates.retain(|&(candidate, _)| wanted(candidate));
    }

    /// Finds the candidates of a set in `partners` that `wanted` lets through. Returns how many keys were not counted for some of them.
    pub(super) fn find_candidates<F: Fingerprint + ?Sized>(
        &mut self,
        space: &Space<'_, F>,
        lookup: Lookup<'_>,
        set: SetIndex,
        partners: Range<SetIndex>,
        wanted: impl Fn(SetIndex) -> bool,
    ) -> u32 {
        let unseen = match lookup {
            Lookup::Keys(index) => self.count(space, index, set, &partners),
            Lookup::Codes(codes) => {
                codes.near(set, &partners, |partner| self.add(partner));
                0
            }
        };
        let side = space.side(set);
        let Prober { counts, touched, candidates, .. } = self;
        candidates.clear();
        candidates.extend(touched.drain(..).filter_map(|partner| {
            let shared = std::mem::take(&mut counts[partner as usize]);
            let enough = shared + unseen >= space.method.needed_keys(side, space.side(partner));
            (enough && partner != set && partners.contains(&partner) && wanted(partner)).then_some((partner, shared))
        }));
        unseen
    }

    /// Verifies the candidates of a set.
    fn verify<F: Fingerprint + ?Sized>(
        &mut self,
        space: &Space<'_, F>,
        set: SetIndex,
        unseen: u32,
        mut found: impl FnMut(SetIndex, u32),
    ) -> Result<()> {
        let sizes = space.sets.sizes();
        let size = sizes[set as usize];
        let Prober { candidates, own, recent, crowds, words: [own_words, words], .. } = self;
        if candidates.is_empty() {
            return Ok(());
        }
        if space.ordered.is_spilled() {
            // In the order in which they lie on disk.
            let place = |set: SetIndex| (space.sets.refs()[set as usize].arena, space.sets.refs()[set as usize].start);
            candidates.sort_unstable_by_key(|&(partner, _)| place(partner));
        }
        let shingles = space.ordered.get(set, own)?;
        let Bar { threshold, edits } = space.bar;
        let own_words = edits.as_ref().map_or(Ok(Default::default()), |edits| edits.words(set, own_words))?;
        let in_crowd = candidates.len() >= CROWD;
        if in_crowd {
            crowds.enter(shingles, candidates);
        }
        for &(partner, shared) in candidates.iter() {
            if !space.agree(set, partner)? {
                continue;
            }
            let their_size = sizes[partner as usize];
            let needed = threshold.map_or(0, |threshold| threshold.needed_overlap(size, their_size));
            let counted = (unseen == 0).then_some(shared);
            let known = if in_crowd { crowds.overlap(shingles, partner, their_size as usize, needed) } else { Err(Unknown) };
            let overlap = match known {
                Ok(overlap) => overlap,
                Err(Unknown) => {
                    let theirs = space.ordered.get_again(partner, recent)?;
                    let overlap = space.overlap(shingles, theirs, counted, needed);
                    if in_crowd {
                        crowds.meet(shingles, partner, theirs, overlap.is_some());
                    }
                    overlap
                }
            };
            if let Some(overlap) = overlap
                && edits.map_or(Ok(true), |edits| edits.are_few(own_words, partner, words))?
            {
                found(partner, overlap);
            }
        }
        if in_crowd {
            crowds.leave(set);
        }
        Ok(())
    }

    /// Counts shared keys by partner. Returns how many keys were not counted for some partners: the position filter shows
    /// that they are not the *first* shared key of a true pair, but they may be a further one.
    fn count<F: Fingerprint + ?Sized>(
        &mut self,
        space: &Space<'_, F>,
        index: &Index,
        set: SetIndex,
        partners: &Range<SetIndex>,
    ) -> u32 {
        let mut unseen = 0;
        let postings = &*index.postings;
        for some in index.occurrences(set).chunks(WARMED) {
            postings.warm(some);
            for &at in some {
                if postings.is_long(at) {
                    unseen += self.count_long(space, postings, set, partners, at);
                    continue;
                }
                postings.before(at).take_while(|&partner| partner >= partners.start).for_each(|partner| self.add(partner));
                if partners.end > set {
                    postings.after(at).take_while(|&partner| partner < partners.end).for_each(|partner| self.add(partner));
                }
            }
        }
        unseen
    }

    /// Sets that can't match are stepped over by binary search. Returns 1 if some of them were.
    fn count_long<F: Fingerprint + ?Sized>(
        &mut self,
        space: &Space<'_, F>,
        postings: &Postings,
        set: SetIndex,
        partners: &Range<SetIndex>,
        at: u32,
    ) -> u32 {
        let sizes = space.sets.sizes();
        let (place, mut entries) = postings.of_long(at, partners);
        let largest = space.method.largest_partner_from(sizes[set as usize], place);
        let fits = |partner: SetIndex| sizes[partner as usize] <= largest;
        let cut = entries.end > entries.start && !fits(postings.set_at(entries.end - 1));
        if cut {
            entries.end = postings.partition(&entries, fits);
        }
        entries.for_each(|entry| self.add(postings.set_at(entry)));
        cut.into()
    }

    fn add(&mut self, partner: SetIndex) {
        let count = &mut self.counts[partner as usize];
        if *count == 0 {
            self.touched.push(partner);
        }
        *count += 1;
    }
}
