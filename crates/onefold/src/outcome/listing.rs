//! The rows of the pairs table.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use crate::cluster::Stars;
use crate::document::{Collection, DocIndex};
use crate::error::Result;
use crate::exec::{Exec, HEADING, SpillFile, Way};
use crate::join::{PairList, SetIndex, SetPair, Sets, pieces, sums};
use crate::verify::{Measure, Similarity};

/// A row of the pairs table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The smaller id.
    pub first: DocIndex,
    /// The other.
    pub second: DocIndex,
    /// Common shingles.
    pub overlap: u32,
    /// Measured.
    pub similarity: Similarity,
    /// What the method's sketches suggested.
    pub estimate: Option<f64>,
    /// The word edit distance as a share of the longer document, where it decides.
    pub edit_distance: Option<f64>,
    /// Whether it reaches the threshold.
    pub accepted: bool,
}

impl Pair {
    /// Words of a row on disk.
    const WORDS: usize = 5;
    /// The same in bytes.
    pub(crate) const ON_DISK: u64 = 8 * Pair::WORDS as u64;

    fn to_words(self) -> [u64; Pair::WORDS] {
        let halves = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        // None of these is ever NaN, which stands for none.
        let bits = |value: Option<f64>| value.unwrap_or(f64::NAN).to_bits();
        [
            halves(self.first, self.second),
            halves(self.overlap, self.similarity.overlap),
            self.similarity.union << 1 | u64::from(self.accepted),
            bits(self.estimate),
            bits(self.edit_distance),
        ]
    }

    fn from_words(words: &[u64]) -> Pair {
        let (high, low) = (|word: u64| (word >> 32) as u32, |word: u64| word as u32);
        let real = |word: u64| Some(f64::from_bits(word)).filter(|value| !value.is_nan());
        Pair {
            first: high(words[0]),
            second: low(words[0]),
            overlap: high(words[1]),
            similarity: Similarity { overlap: low(words[1]), union: words[2] >> 1 },
            estimate: real(words[3]),
            edit_distance: real(words[4]),
            accepted: words[2] & 1 == 1,
        }
    }
}

/// The rows of the pairs table, by the ids of their documents.
#[derive(Debug, Default)]
pub struct PairRows {
    place: Place,
    len: usize,
}

#[derive(Debug)]
enum Place {
    Held(Vec<Pair>),
    /// Frames of [`FRAME`] rows, but for the last.
    Spilled(SpillFile),
}

impl Default for Place {
    fn default() -> Self {
        Place::Held(Vec::new())
    }
}

/// Rows that are read at a time.
const FRAME: usize = 1 << 14;

impl From<Vec<Pair>> for PairRows {
    fn from(rows: Vec<Pair>) -> PairRows {
        PairRows { len: rows.len(), place: Place::Held(rows) }
    }
}

impl PairRows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Some rows.
    pub fn some(&self, rows: Range<usize>) -> Result<Cow<'_, [Pair]>> {
        let file = match &self.place {
            Place::Held(all) => return Ok(Cow::Borrowed(&all[rows])),
            Place::Spilled(file) => file,
        };
        let (mut found, mut buffer) = (Vec::with_capacity(rows.len()), Vec::new());
        for frame in rows.start / FRAME..rows.end.div_ceil(FRAME) {
            let at = frame * (HEADING + FRAME * Pair::WORDS);
            let first = frame * FRAME;
            let inside = FRAME.min(self.len - first);
            let words = file.read_frame(at as u64, frame as u32, inside * Pair::WORDS, &mut buffer)?;
            let wanted = rows.start.max(first) - first..rows.end.min(first + inside) - first;
            found.extend(
                words[wanted.start * Pair::WORDS..wanted.end * Pair::WORDS].chunks_exact(Pair::WORDS).map(Pair::from_words),
            );
        }
        Ok(Cow::Owned(found))
    }

    /// Looks at all rows, in order.
    pub fn each(&self, mut look: impl FnMut(&Pair)) -> Result<()> {
        for first in (0..self.len).step_by(FRAME) {
            self.some(first..self.len.min(first + FRAME))?.iter().for_each(&mut look);
        }
        Ok(())
    }

    /// All rows at once, however many they are.
    pub fn to_vec(&self) -> Result<Vec<Pair>> {
        self.some(0..self.len).map(Cow::into_owned)
    }
}

/// A number that a pair may have.
type OfPair<'a> = dyn Fn(DocIndex, DocIndex) -> Result<Option<f64>> + Sync + 'a;

/// What is known of a pair beside its overlap.
#[derive(Clone, Copy)]
pub(crate) struct Aside<'a> {
    /// What the method thought of it.
    pub(crate) estimate: &'a OfPair<'a>,
    /// How far apart its words are.
    pub(crate) edit_distance: &'a OfPair<'a>,
}

/// Every verified pair: families as a star to their smallest id, other pairs between the smallest ids of their families. A document of the
/// reference is named only where its family has no other.
pub(crate) fn list_pairs(
    collection: &Collection,
    sets: &Sets,
    pairs: &[PairList],
    measure: Measure,
    aside: Aside<'_>,
    exec: &Exec<'_>,
) -> Result<PairRows> {
    let listing = Listing { collection, sets, pairs, measure, aside };
    let in_families = collection.documents.len() - sets.len();
    let count = pairs.iter().map(PairList::len).sum::<u64>() + in_families as u64;
    let Some(spill) = exec.spill_beyond(50, count * ROW_BYTES) else {
        return listing.rows(|_| true, count as usize).map(PairRows::from);
    };
    // As many first documents at a time as fit, with one look at all pairs for each time.
    let order = collection.id_order();
    let place = |document: DocIndex| order.as_ref().map_or(document, |order| order[document as usize]);
    let mut rows_of = vec![0u64; collection.documents.len()];
    listing.each(|row| rows_of[place(row.first) as usize] += 1)?;
    let before = sums(rows_of.into_iter());
    let most = exec.memory.part(4, 4 << 20) / ROW_BYTES;
    let mut writer = Writer { file: spill.scratch("rows", Way::Cached)?, rows: Vec::new(), written: 0 };
    for some in pieces(&before, most, 0..collection.documents.len() as DocIndex) {
        exec.check()?;
        let count = before[some.end as usize] - before[some.start as usize];
        writer.append(&listing.rows(|first| some.contains(&place(first)), count as usize)?)?;
    }
    writer.finish()
}

/// What a row takes while rows are made.
const ROW_BYTES: u64 = (size_of::<Pair>() + size_of::<Named>()) as u64;

/// A row to be: small, since rows are moved many times until they are in order.
#[derive(Clone, Copy)]
struct Named {
    first: DocIndex,
    second: DocIndex,
    /// One set twice for two documents of a family.
    sets: SetPair,
}

struct Listing<'a> {
    collection: &'a Collection,
    sets: &'a Sets,
    pairs: &'a [PairList],
    measure: Measure,
    aside: Aside<'a>,
}

impl Listing<'_> {
    /// Names the documents and sets of each row.
    fn each(&self, mut look: impl FnMut(Named)) -> Result<()> {
        for set in 0..self.sets.len() as SetIndex {
            let documents = self.sets.documents(set);
            let sets = SetPair { first: set, second: set, overlap: self.sets.sizes()[set as usize] };
            documents[1..].iter().for_each(|&member| look(self.named(documents[0], member, sets)));
        }
        self.pairs.iter().try_for_each(|pairs| {
            pairs.each(|sets| look(self.named(self.sets.documents(sets.first)[0], self.sets.documents(sets.second)[0], sets)))
        })
    }

    fn named(&self, a: DocIndex, b: DocIndex, sets: SetPair) -> Named {
        let (first, second) = by_id(self.collection, a, b);
        Named { first, second, sets }
    }

    /// The rows whose first document is wanted, in order.
    fn rows(&self, wanted: impl Fn(DocIndex) -> bool, count: usize) -> Result<Vec<Pair>> {
        let mut named = Vec::with_capacity(count);
        self.each(|row| named.extend(wanted(row.first).then_some(row)))?;
        sort(self.collection, &mut named, |row| (row.first, row.second));
        // A method that misses some may find what another search finds as well.
        named.dedup_by_key(|row| (row.first, row.second));
        let mut rows: Vec<Pair> = named.par_iter().map(|row| self.row(row)).collect();
        drop(named);
        self.aside.add_to(&mut rows)?;
        Ok(rows)
    }

    fn row(&self, Named { first, second, sets }: &Named) -> Pair {
        let size = |set: SetIndex| self.sets.sizes()[set as usize];
        let (similarity, accepted) = if sets.first == sets.second {
            (Similarity::ONE, true)
        } else {
            let similarity = sets.similarity(self.sets);
            (similarity, self.measure.accepts(similarity, size(sets.first), size(sets.second)))
        };
        let (first, second, overlap) = (*first, *second, sets.overlap);
        Pair { first, second, overlap, similarity, estimate: None, edit_distance: None, accepted }
    }
}

/// Writes rows in frames.
struct Writer {
    file: SpillFile,
    /// Not yet written.
    rows: Vec<u64>,
    written: usize,
}

impl Writer {
    fn append(&mut self, rows: &[Pair]) -> Result<()> {
        for row in rows {
            self.rows.extend(row.to_words());
            if self.rows.len() == FRAME * Pair::WORDS {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.file.append_frame((self.written / FRAME) as u32, &self.rows)?;
        self.written += self.rows.len() / Pair::WORDS;
        self.rows.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<PairRows> {
        if !self.rows.is_empty() {
            self.flush()?;
        }
        Ok(PairRows { len: self.written, place: Place::Spilled(self.file) })
    }
}

/// Each removed document with its representative.
pub(crate) fn list_star(collection: &Collection, sets: &Sets, stars: &Stars, aside: Aside<'_>) -> Result<PairRows> {
    let set_of = sets.of_documents(collection.documents.len());
    let mut rows = Vec::new();
    for (document, &representative) in stars.representative.iter().enumerate() {
        let document = document as DocIndex;
        if document == representative {
            continue;
        }
        let similarity = stars.tie[document as usize].similarity;
        let same_set = set_of[document as usize] == set_of[representative as usize];
        let overlap = if same_set { sets.sizes()[set_of[document as usize] as usize] } else { similarity.overlap };
        let (first, second) = by_id(collection, document, representative);
        rows.push(Pair { first, second, overlap, similarity, estimate: None, edit_distance: None, accepted: true });
    }
    sort(collection, &mut rows, |row| (row.first, row.second));
    aside.add_to(&mut rows)?;
    Ok(rows.into())
}

impl Aside<'_> {
    fn add_to(self, rows: &mut [Pair]) -> Result<()> {
        rows.par_iter_mut().try_for_each(|row| {
            row.estimate = (self.estimate)(row.first, row.second)?;
            row.edit_distance = (self.edit_distance)(row.first, row.second)?;
            Ok(())
        })
    }
}

fn by_id(collection: &Collection, a: DocIndex, b: DocIndex) -> (DocIndex, DocIndex) {
    if collection.compare_ids(a, b).is_le() { (a, b) } else { (b, a) }
}

/// Puts rows into the order of the ids of their documents.
fn sort<T: Send>(collection: &Collection, rows: &mut [T], documents: impl Fn(&T) -> (DocIndex, DocIndex) + Sync) {
    if collection.reference_documents.is_none() {
        // Documents are numbered by their ids: one comparison will do.
        let halves = |(first, second): (DocIndex, DocIndex)| u64::from(first) << 32 | u64::from(second);
        return rows.par_sort_unstable_by_key(|row| halves(documents(row)));
    }
    let compare = |a: DocIndex, b: DocIndex| collection.compare_ids(a, b);
    rows.par_sort_unstable_by(|x, y| {
        let ((a, b), (c, d)) = (documents(x), documents(y));
        compare(a, c).then_with(|| compare(b, d))
    });
}
