//! The rows of the pairs table.

use rayon::prelude::*;

use crate::cluster::Stars;
use crate::document::{Collection, DocIndex};
use crate::join::{SetIndex, SetPair, Sets};
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
    /// Whether it reaches the threshold.
    pub accepted: bool,
}

/// Every verified pair: families as a star to their smallest id, other pairs between the smallest ids of their families. A document of the
/// reference is named only where its family has no other.
pub(crate) fn list_pairs(
    collection: &Collection,
    sets: &Sets,
    pairs: &[SetPair],
    measure: Measure,
    estimate: impl Fn(DocIndex, DocIndex) -> Option<f64>,
) -> Vec<Pair> {
    let mut rows = Vec::with_capacity(pairs.len());
    for set in 0..sets.len() as SetIndex {
        let documents = sets.documents(set);
        let size = sets.sizes()[set as usize];
        for &member in &documents[1..] {
            let (first, second) = by_id(collection, documents[0], member);
            rows.push(Pair {
                first,
                second,
                overlap: size,
                similarity: Similarity::ONE,
                estimate: estimate(first, second),
                accepted: true,
            });
        }
    }
    for pair in pairs {
        let (a, b) = (sets.documents(pair.first)[0], sets.documents(pair.second)[0]);
        let similarity = pair.similarity(sets);
        let (first, second) = by_id(collection, a, b);
        rows.push(Pair {
            first,
            second,
            overlap: pair.overlap,
            similarity,
            estimate: estimate(first, second),
            accepted: measure.accepts(similarity, sets.sizes()[pair.first as usize], sets.sizes()[pair.second as usize]),
        });
    }
    sort(collection, &mut rows);
    rows
}

/// Each removed document with its representative.
pub(crate) fn list_star(
    collection: &Collection,
    sets: &Sets,
    stars: &Stars,
    estimate: impl Fn(DocIndex, DocIndex) -> Option<f64>,
) -> Vec<Pair> {
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
        rows.push(Pair { first, second, overlap, similarity, estimate: estimate(first, second), accepted: true });
    }
    sort(collection, &mut rows);
    rows
}

fn by_id(collection: &Collection, a: DocIndex, b: DocIndex) -> (DocIndex, DocIndex) {
    if collection.compare_ids(a, b).is_le() { (a, b) } else { (b, a) }
}

fn sort(collection: &Collection, rows: &mut [Pair]) {
    let compare = |a: DocIndex, b: DocIndex| collection.compare_ids(a, b);
    rows.par_sort_unstable_by(|x, y| compare(x.first, y.first).then_with(|| compare(x.second, y.second)));
}
