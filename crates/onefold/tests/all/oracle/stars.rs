//! Clusters, word for word as contracts.md has them.

use super::{Facts, Overlaps, Ranks, Share};

/// What must become of every document.
pub struct Answer {
    pub representative: Vec<usize>,
    /// Overlap and union with the representative.
    pub similarity: Vec<(u64, u64)>,
    /// The connected component, named by its best-ranked document.
    pub component: Vec<usize>,
}

struct Family {
    set: usize,
    forced: bool,
    whole: bool,
    documents: Vec<usize>,
    best: usize,
    rank: usize,
}

pub fn settle(facts: &Facts, overlaps: &Overlaps, ranks: &Ranks, threshold: Share) -> Answer {
    let families = families(facts, overlaps, ranks);
    let mut of_set = vec![Vec::new(); overlaps.documents.len()];
    families.iter().enumerate().for_each(|(at, family)| of_set[family.set].push(at));
    let mut leads = vec![false; families.len()];
    let mut answer = Answer {
        representative: (0..facts.len()).collect(),
        similarity: vec![(1, 1); facts.len()],
        component: components(overlaps, ranks, threshold, facts.len()),
    };
    for (at, family) in families.iter().enumerate() {
        let near = neighbours(family.set, overlaps, threshold);
        let around = near.iter().flat_map(|&(set, similarity)| of_set[set].iter().map(move |&leader| (leader, similarity)));
        let covers = around.filter(|&(leader, _)| leads[leader] && may(family, &families[leader]));
        let best = covers.reduce(|a, b| if better((b.1, families[b.0].rank), (a.1, families[a.0].rank)) { b } else { a });
        leads[at] = best.is_none();
        let (leader, similarity) = best.unwrap_or((at, (1, 1)));
        for &document in &family.documents {
            answer.representative[document] = families[leader].best;
            answer.similarity[document] = similarity;
        }
    }
    answer
}

/// In the order of rank.
fn families(facts: &Facts, overlaps: &Overlaps, ranks: &Ranks) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for (set, documents) in overlaps.documents.iter().enumerate() {
        let first = families.len();
        for &document in documents {
            let (forced, whole, rank) = (ranks.forced[document], !facts.0[document].lossy, ranks.place[document]);
            let mine = families[first..].iter_mut().find(|family| !forced && !family.forced && family.whole == whole);
            match mine {
                None => families.push(Family { set, forced, whole, documents: vec![document], best: document, rank }),
                Some(family) => {
                    family.documents.push(document);
                    (family.rank, family.best) = (family.rank, family.best).min((rank, document));
                }
            }
        }
    }
    families.sort_by_key(|family| family.rank);
    families
}

fn may(family: &Family, leader: &Family) -> bool {
    !family.forced && (leader.whole || !family.whole) && leader.rank < family.rank
}

/// The set itself and all that reach the threshold with it.
fn neighbours(set: usize, overlaps: &Overlaps, threshold: Share) -> Vec<(usize, (u64, u64))> {
    let near = overlaps.near[set].iter().map(|&(other, overlap)| (other, (overlap, overlaps.union(set, other, overlap))));
    let near = near.filter(|&(_, (overlap, union))| threshold.reached(overlap, union));
    [(set, (1, 1))].into_iter().chain(near).collect()
}

/// More similar, or as similar and better ranked.
fn better((a, rank_a): ((u64, u64), usize), (b, rank_b): ((u64, u64), usize)) -> bool {
    let (left, right) = (u128::from(a.0) * u128::from(b.1), u128::from(b.0) * u128::from(a.1));
    left > right || (left == right && rank_a < rank_b)
}

/// Flooding from the best-ranked document on: the first to reach a document names its component.
fn components(overlaps: &Overlaps, ranks: &Ranks, threshold: Share, documents: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..documents).collect();
    order.sort_by_key(|&document| ranks.place[document]);
    let mut name_of_set = vec![None; overlaps.documents.len()];
    for document in order {
        let mut open = vec![overlaps.set_of[document]];
        while let Some(set) = open.pop() {
            if name_of_set[set].is_none() {
                name_of_set[set] = Some(document);
                open.extend(neighbours(set, overlaps, threshold).into_iter().map(|(other, _)| other));
            }
        }
    }
    overlaps.set_of.iter().map(|&set| name_of_set[set].unwrap()).collect()
}
