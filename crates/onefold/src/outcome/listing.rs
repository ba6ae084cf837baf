//! The rows of the pairs table.

use crate::cluster::Stars;
use crate::document::{Collection, DocIndex};
use crate::join::{SetIndex, SetPair, Sets};
use crate::threshold::Threshold;
use crate::verify::Similarity;

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

/// Every verified pair: families as a star to their smallest id, other pairs between the smallest ids of their families.
pub(crate) fn list_pairs(
    collection: &Collection,
    sets: &Sets,
    pairs: &[SetPair],
    threshold: Threshold,
    estimate: impl Fn(DocIndex, DocIndex, &[SetIndex]) -> Option<f64>,
) -> Vec<Pair> {
    let set_of = set_of_documents(sets, collection.documents.len());
    let mut rows = Vec::with_capacity(pairs.len());
    for set in 0..sets.len() as SetIndex {
        let documents = sets.documents(set);
        let size = sets.sizes()[set as usize];
        for &member in &documents[1..] {
            let (first, second) = (documents[0], member);
            rows.push(Pair {
                first,
                second,
                overlap: size,
                similarity: Similarity::ONE,
                estimate: estimate(first, second, &set_of),
                accepted: true,
            });
        }
    }
    for pair in pairs {
        let (a, b) = (sets.documents(pair.first)[0], sets.documents(pair.second)[0]);
        let similarity = pair.similarity(sets);
        let (first, second) = (a.min(b), a.max(b));
        rows.push(Pair {
            first,
            second,
            overlap: pair.overlap,
            similarity,
            estimate: estimate(first, second, &set_of),
            accepted: similarity.reaches(threshold),
        });
    }
    rows.sort_unstable_by_key(|row| (row.first, row.second));
    rows
}

/// Each removed document with its representative.
pub(crate) fn list_star(
    collection: &Collection,
    sets: &Sets,
    stars: &Stars,
    estimate: impl Fn(DocIndex, DocIndex, &[SetIndex]) -> Option<f64>,
) -> Vec<Pair> {
    let set_of = set_of_documents(sets, collection.documents.len());
    let mut rows = Vec::new();
    for (document, &representative) in stars.representative.iter().enumerate() {
        let document = document as DocIndex;
        if document == representative {
            continue;
        }
        let similarity = stars.similarity[document as usize];
        let same_set = set_of[document as usize] == set_of[representative as usize];
        let overlap = if same_set { sets.sizes()[set_of[document as usize] as usize] } else { similarity.overlap };
        let (first, second) = (document.min(representative), document.max(representative));
        rows.push(Pair { first, second, overlap, similarity, estimate: estimate(first, second, &set_of), accepted: true });
    }
    rows.sort_unstable_by_key(|row| (row.first, row.second));
    rows
}

fn set_of_documents(sets: &Sets, documents: usize) -> Vec<SetIndex> {
    let mut set_of = vec![0; documents];
    for set in 0..sets.len() as SetIndex {
        sets.documents(set).iter().for_each(|&document| set_of[document as usize] = set);
    }
    set_of
}
