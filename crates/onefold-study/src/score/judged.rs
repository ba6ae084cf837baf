//! Scores against listed pairs.
//!
//! In: judged pairs, with or without labels. Out: scores without ARI and B³. Cost: one look-up for each listed pair;
//! without labels the wrong pairs are all expanded pairs (a closed form) less the right ones.

use std::collections::HashSet;

use super::index::Index;
use super::measure::{ClusterScore, PairScore};
use super::{ErrorPair, Scores, expansion, worst};
use crate::gold::JudgedPair;

/// Listed pairs by number, `first < second`, sorted, each once.
pub(super) struct Listed {
    pub(super) positive: Vec<(usize, usize)>,
    negative: Vec<(usize, usize)>,
}

impl Listed {
    /// A pair that is listed with both signs, which [`crate::gold`] refuses, is positive.
    pub(super) fn new(index: &Index, pairs: &[JudgedPair]) -> Listed {
        let numbers = |wanted: bool| {
            let chosen = pairs.iter().filter(|pair| pair.positive == wanted);
            let ends = chosen.filter_map(|pair| Some((index.number(&pair.a)?, index.number(&pair.b)?)));
            let ordered = ends.filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b)));
            let mut listed: Vec<_> = ordered.collect();
            listed.sort_unstable();
            listed.dedup();
            listed
        };
        let positive = numbers(true);
        let mut negative = numbers(false);
        negative.retain(|pair| positive.binary_search(pair).is_err());
        Listed { positive, negative }
    }

    /// Scores a way to tell whether a pair was found. Where only judged pairs count, `predicted` is none.
    fn score(&self, predicted: Option<u64>, is_found: impl Fn(&(usize, usize)) -> bool) -> PairScore {
        let count = |pairs: &[(usize, usize)]| pairs.iter().filter(|pair| is_found(pair)).count() as u64;
        let found = count(&self.positive);
        let predicted = predicted.unwrap_or_else(|| found + count(&self.negative));
        PairScore::new(found, predicted, self.positive.len() as u64)
    }
}

/// Scores an answer against judged pairs.
pub(super) fn by_pairs(index: &Index, pairs: &[JudgedPair], labelled: bool, worst: usize) -> Scores {
    let listed = Listed::new(index, pairs);
    let (clusters, families) = (index.clusters(), index.families());
    let in_clusters = (!labelled).then(|| expansion::count_all(clusters, &[]));
    let expanded = (!labelled).then(|| expansion::count_all(families, index.edges()));
    let wrong = match labelled {
        true => worst::judged_positives(index, &listed.negative, worst),
        false => unlisted_positives(index, listed.positive.iter().copied().collect(), worst),
    };
    let missed = listed.positive.iter().filter(|(a, b)| index.joined(*a, *b).is_none());
    Scores {
        documents: index.coverage(worst),
        pairs: listed.score(expanded, |&(a, b)| index.joined(a, b).is_some()),
        clusters: ClusterScore {
            pairs: listed.score(in_clusters, |&(a, b)| clusters[a] == clusters[b]),
            adjusted_rand_index: None,
            b_cubed: None,
        },
        worst_false_positives: wrong,
        worst_false_negatives: missed.take(worst).map(|&pair| index.error(pair, None)).collect(),
    }
}

/// Without labels a pair is wrong unless it is listed: as if each document were a class of its own.
fn unlisted_positives(index: &Index, listed: HashSet<(usize, usize)>, worst: usize) -> Vec<ErrorPair> {
    let own: Vec<Option<usize>> = (0..index.len()).map(Some).collect();
    worst::false_positives(index, &own, index.edges(), |pair| listed.contains(pair), worst)
}
