//! What becomes of each document, and why.

use super::{Reason, Relation, Verdict};
use crate::cluster::{Components, Stars};
use crate::document::{Collection, DocIndex, Flags};
use crate::join::{SetIndex, Sets};
use crate::rank::Ranking;
use crate::verify::TieKind;

/// Which cluster a document is in, by the document that names it.
#[derive(Debug)]
pub(crate) struct Clustering {
    cluster: Vec<DocIndex>,
    sizes: Vec<u32>,
}

impl Clustering {
    /// The stars themselves; one that stands beside another belongs to it as a whole.
    pub(crate) fn conservative(stars: &Stars) -> Self {
        // Each ranks before those it stands for or beside, so the way ends.
        Clustering::named(Components::ends(stars.representative.clone()))
    }

    /// Connected components, named by their best-ranked document.
    pub(crate) fn transitive(sets: &Sets, ranking: &Ranking<'_>, component: &[SetIndex], documents: usize) -> Self {
        let mut best: Vec<Option<DocIndex>> = vec![None; component.len()];
        let mut cluster: Vec<DocIndex> = (0..documents as DocIndex).collect();
        let members = || {
            (0..sets.len() as SetIndex)
                .flat_map(|set| sets.documents(set).iter().map(move |&d| (component[set as usize] as usize, d)))
        };
        for (component, document) in members() {
            let better = best[component].is_none_or(|other| ranking.position(document) < ranking.position(other));
            if better {
                best[component] = Some(document);
            }
        }
        for (component, document) in members() {
            cluster[document as usize] = best[component].unwrap_or(document);
        }
        Clustering::named(cluster)
    }

    fn named(cluster: Vec<DocIndex>) -> Self {
        let mut sizes = vec![0; cluster.len()];
        cluster.iter().for_each(|&name| sizes[name as usize] += 1);
        Clustering { cluster, sizes }
    }
}

/// A verdict for every document that is not of the reference.
pub(crate) fn verdicts(collection: &Collection, ranking: &Ranking<'_>, stars: &Stars, clustering: &Clustering) -> Vec<Verdict> {
    let next_best = next_best(ranking, stars);
    let inputs = collection.inputs();
    let reference = collection.documents.len() - inputs;
    let verdict = |document: DocIndex| {
        let (entry, representative) = (&collection.documents[document as usize], stars.representative[document as usize]);
        let kept = stars.kept[document as usize];
        let tie = stars.tie[document as usize];
        let cluster = clustering.cluster[document as usize];
        let cluster_size = clustering.sizes[cluster as usize];
        let same_text = entry.digest == collection.documents[representative as usize].digest;
        let reason = match next_best[document as usize] {
            _ if entry.flags.has(Flags::NO_TEXT) => Reason::NoText,
            _ if entry.flags.has(Flags::PROTECTED) => Reason::Protected,
            _ if !kept => Reason::Beaten(ranking.deciding_rule(representative, document)),
            Some(other) => Reason::Best(ranking.deciding_rule(document, other)),
            None => Reason::Unique,
        };
        let relation = match tie.kind {
            TieKind::Near if same_text => Relation::Exact,
            TieKind::Near => Relation::Near,
            TieKind::Contained => Relation::Contained,
            TieKind::Contains => Relation::Contains,
        };
        Verdict {
            representative,
            similarity: tie.similarity,
            cluster,
            cluster_size,
            kept,
            relation: (representative != document).then_some(relation),
            // The reference comes before all others.
            rank: ranking.position(document) - reference as u32,
            reason,
        }
    };
    (0..inputs as DocIndex).map(verdict).collect()
}

/// For each representative the best-ranked document that is removed for it.
fn next_best(ranking: &Ranking<'_>, stars: &Stars) -> Vec<Option<DocIndex>> {
    let mut next: Vec<Option<DocIndex>> = vec![None; stars.representative.len()];
    for (document, &representative) in stars.representative.iter().enumerate() {
        let document = document as DocIndex;
        let slot = &mut next[representative as usize];
        if !stars.kept[document as usize] && slot.is_none_or(|other| ranking.position(document) < ranking.position(other)) {
            *slot = Some(document);
        }
    }
    next
}
