//! All partners of some documents: every document that shares a shingle with them, however little (N16).
//!
//! In: the sets of a collection. Out: for each chosen document its partners, with counts of common shingles. Invariant: a chosen document is seen
//! with *all* its partners, so shares over rows are those of the collection but for the choice, and pairs are seen as often as documents
//! are chosen, not as their square (§8.7). Cost: an index of all shared shingles, and the square of their frequencies for the documents
//! that are chosen; so many are chosen that it stays within a budget. Drops shingles that one document alone has.

use onefold::{Error, Exec, HashSets};
use rayon::prelude::*;

/// An index of shared shingles, and documents to look at.
#[derive(Debug)]
pub struct Rows {
    /// Documents that have each shared shingle, rising, one list after the other.
    postings: Vec<u32>,
    /// Where each list ends.
    ends: Vec<usize>,
    /// The shingle of each list.
    shingles: Vec<u64>,
    /// Documents that are looked at.
    chosen: Vec<u32>,
    /// Lists of each of them.
    lists: Vec<Vec<u32>>,
    documents: usize,
}

/// A document that shares shingles with the one that is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Partner<'a> {
    /// Its number.
    pub document: u32,
    /// What was counted of the shared shingles.
    pub counts: &'a [u32],
}

/// Hashes are sorted in so many parts, to stay in the cache and to share the work out.
const PARTS: u64 = 128;
/// Hashes have so many bits.
const BITS: u32 = 61;

impl Rows {
    /// Chooses as many documents as `budget` steps allow, at random by their numbers; all where they are few.
    pub fn new(sets: &HashSets, budget: u64, exec: &Exec<'_>) -> Result<Rows, Error> {
        let gather = || (0..PARTS).into_par_iter().map(|part| Part::gather(sets, part)).collect();
        let parts: Vec<Part> = exec.install(gather)?;
        exec.check()?;
        let mut rows = Rows {
            postings: Vec::new(),
            ends: Vec::new(),
            shingles: Vec::new(),
            chosen: Vec::new(),
            lists: Vec::new(),
            documents: sets.len(),
        };
        for part in parts {
            let before = rows.postings.len();
            rows.postings.extend(part.postings);
            rows.ends.extend(part.ends.into_iter().map(|end| before + end));
            rows.shingles.extend(part.shingles);
        }
        rows.choose(sets, budget);
        Ok(rows)
    }

    /// What looking at all documents would cost.
    fn steps(&self) -> u64 {
        (0..self.shingles.len()).map(|list| (self.list(list).len() as u64).pow(2)).sum()
    }

    fn choose(&mut self, sets: &HashSets, budget: u64) {
        let share = (budget as f64 / self.steps().max(1) as f64).min(1.0);
        let bound = (share * (1u64 << BITS) as f64) as u64;
        let wanted = |document: u32| share >= 1.0 || onefold::sample_value(document.into(), 0) < bound;
        let mut place = vec![u32::MAX; sets.len()];
        for (document, set) in (0u32..).zip(sets.iter()) {
            if !set.is_empty() && wanted(document) {
                place[document as usize] = self.chosen.len() as u32;
                self.chosen.push(document);
            }
        }
        let mut lists = vec![Vec::new(); self.chosen.len()];
        for list in 0..self.shingles.len() {
            for &document in self.list(list) {
                if place[document as usize] != u32::MAX {
                    lists[place[document as usize] as usize].push(list as u32);
                }
            }
        }
        self.lists = lists;
    }

    /// Number of shared shingles.
    pub fn shared(&self) -> usize {
        self.shingles.len()
    }

    /// The documents that have a shared shingle.
    pub fn list(&self, list: usize) -> &[u32] {
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        &self.postings[start..self.ends[list]]
    }

    /// A shared shingle.
    pub fn shingle(&self, list: usize) -> u64 {
        self.shingles[list]
    }

    /// The documents that are looked at.
    pub fn chosen(&self) -> &[u32] {
        &self.chosen
    }

    /// The share of documents with shingles that are looked at.
    pub fn share(&self, sets: &HashSets) -> f64 {
        let all = sets.iter().filter(|set| !set.is_empty()).count();
        self.chosen.len() as f64 / all.max(1) as f64
    }

    /// Looks at all partners of each chosen document. `mark` counts a shared shingle, by its list, in the `width` counters of a partner; `look`
    /// sees a document with its partners, in no order, and adds to what a thread has gathered; `unite` puts that together.
    pub fn gather<T: Default + Send>(
        &self,
        width: usize,
        exec: &Exec<'_>,
        mark: impl Fn(usize, &mut [u32]) + Sync,
        look: impl Fn(&mut T, u32, &[Partner<'_>]) + Sync,
        unite: impl Fn(&mut T, T) + Sync,
    ) -> Result<T, Error> {
        let threads = exec.threads.max(1);
        let share = self.chosen.len().div_ceil(threads * 8).max(1);
        let gather = |counters: &mut Counters, (part, documents): (usize, &[u32])| {
            let mut gathered = T::default();
            for (at, &document) in documents.iter().enumerate().take_while(|_| exec.check().is_ok()) {
                counters.count(self, document, &self.lists[part * share + at], &mark);
                counters.look(|partners| look(&mut gathered, document, partners));
            }
            gathered
        };
        let counters = || Counters::new(self.documents, width);
        let parts: Vec<T> = exec.install(|| self.chosen.par_chunks(share).enumerate().map_init(counters, gather).collect())?;
        exec.check()?;
        let mut all = T::default();
        parts.into_iter().for_each(|part| unite(&mut all, part));
        Ok(all)
    }
}

/// Counters of all documents, zero between rows.
struct Counters {
    width: usize,
    counts: Vec<u32>,
    seen: Vec<bool>,
    touched: Vec<u32>,
}

impl Counters {
    fn new(documents: usize, width: usize) -> Counters {
        Counters { width, counts: vec![0; documents * width], seen: vec![false; documents], touched: Vec::new() }
    }

    fn count(&mut self, rows: &Rows, document: u32, lists: &[u32], mark: &impl Fn(usize, &mut [u32])) {
        for &list in lists {
            for &partner in rows.list(list as usize).iter().filter(|&&partner| partner != document) {
                let at = partner as usize;
                if !self.seen[at] {
                    self.seen[at] = true;
                    self.touched.push(partner);
                }
                mark(list as usize, &mut self.counts[at * self.width..(at + 1) * self.width]);
            }
        }
    }

    fn look(&mut self, look: impl FnOnce(&[Partner<'_>])) {
        let counts = |partner: u32| &self.counts[partner as usize * self.width..(partner as usize + 1) * self.width];
        let partners: Vec<Partner<'_>> =
            self.touched.iter().map(|&document| Partner { document, counts: counts(document) }).collect();
        look(&partners);
        for partner in self.touched.drain(..) {
            self.seen[partner as usize] = false;
            self.counts[partner as usize * self.width..(partner as usize + 1) * self.width].fill(0);
        }
    }
}

/// The shared shingles of a part of the hashes.
struct Part {
    postings: Vec<u32>,
    ends: Vec<usize>,
    shingles: Vec<u64>,
}

impl Part {
    fn gather(sets: &HashSets, part: u64) -> Part {
        let from = (1u64 << BITS) / PARTS * part;
        let to = (1u64 << BITS) / PARTS * (part + 1);
        let mut all: Vec<(u64, u32)> = Vec::new();
        for (document, set) in (0u32..).zip(sets.iter()) {
            let first = set.partition_point(|&hash| hash < from);
            let within = set[first..].iter().take_while(|&&hash| hash < to || part + 1 == PARTS);
            all.extend(within.map(|&hash| (hash, document)));
        }
        all.sort_unstable();
        let mut gathered = Part { postings: Vec::new(), ends: Vec::new(), shingles: Vec::new() };
        for list in all.chunk_by(|a, b| a.0 == b.0).filter(|list| list.len() > 1) {
            gathered.postings.extend(list.iter().map(|&(_, document)| document));
            gathered.ends.push(gathered.postings.len());
            gathered.shingles.push(list[0].0);
        }
        gathered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets() -> HashSets {
        let mut sets = HashSets::default();
        for at in 0..90u64 {
            let mut set: Vec<u64> = (at..at + 12).map(|n| onefold::sample_value(n / 2 * 7, 9)).collect();
            set.sort_unstable();
            set.dedup();
            sets.push(set);
        }
        sets.push([]);
        sets
    }

    #[test]
    fn every_partner_is_seen_with_all_that_is_common() {
        let sets = sets();
        let rows = Rows::new(&sets, u64::MAX, &Exec::default()).unwrap();
        assert_eq!(rows.chosen().len(), 90, "all but the empty one");
        let look = |found: &mut Vec<(u32, u32, u32)>, document: u32, partners: &[Partner<'_>]| {
            found.extend(partners.iter().map(|partner| (document, partner.document, partner.counts[0])));
        };
        let mut found = rows.gather(1, &Exec::default(), |_, counts| counts[0] += 1, look, |all, part| all.extend(part)).unwrap();
        found.sort_unstable();
        let mut expected = Vec::new();
        for a in 0..90 {
            for b in (0..90).filter(|&b| b != a) {
                let common = sets.get(a).iter().filter(|hash| sets.get(b).contains(hash)).count() as u32;
                if common > 0 {
                    expected.push((a as u32, b as u32, common));
                }
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn a_budget_chooses_some() {
        let sets = sets();
        let all = Rows::new(&sets, u64::MAX, &Exec::default()).unwrap();
        let some = Rows::new(&sets, all.steps() / 3, &Exec::default()).unwrap();
        assert!((10..60).contains(&some.chosen().len()), "{}", some.chosen().len());
        assert_eq!(some.shared(), all.shared());
    }
}
