//! The worst errors, without looking at all of them.
//!
//! Out: the first errors of a total order, hence the same ones in every run. Every walk goes in that order and passes
//! over stretches without an error by a jump or a count that is known beforehand.

use std::collections::BTreeSet;
use std::ops::ControlFlow::{self, Break, Continue};

use super::ErrorPair;
use super::expansion::Expansion;
use super::index::{Edge, Index};
use super::lineup::Lineup;

/// Expanded pairs of documents of different classes that are not `listed` as right either: highest resemblance first,
/// then by ids. `edges` are those that may hold one.
///
/// Cost: O(n + e log e), and for each listed pair and each error that is looked at a constant.
pub(super) fn false_positives(
    index: &Index,
    class: &[Option<usize>],
    edges: &[Edge],
    listed: impl Fn(&(usize, usize)) -> bool,
    worst: usize,
) -> Vec<ErrorPair> {
    let lineup = Lineup::new(index.families(), class);
    let mut edges = edges.to_vec();
    edges.sort_by(|a, b| b.resemblance.total_cmp(&a.resemblance));
    let (alike, similar) = edges.split_at(edges.partition_point(|edge| edge.resemblance >= 1.0));

    let mut tier = Smallest::new(worst, &listed);
    lineup.inside_families(&mut |first, second| tier.offer(first, second));
    tier.gather(&lineup, alike);
    let mut errors = tier.into_errors(index, 1.0);
    for equal in similar.chunk_by(|a, b| a.resemblance == b.resemblance) {
        if errors.len() >= worst {
            break;
        }
        let mut tier = Smallest::new(worst - errors.len(), &listed);
        tier.gather(&lineup, equal);
        errors.extend(tier.into_errors(index, equal[0].resemblance));
    }
    errors
}

/// The smallest pairs of those offered that are not listed.
struct Smallest<'a, L> {
    limit: usize,
    kept: BTreeSet<(usize, usize)>,
    listed: &'a L,
}

impl<'a, L: Fn(&(usize, usize)) -> bool> Smallest<'a, L> {
    fn new(limit: usize, listed: &'a L) -> Self {
        let kept = BTreeSet::new();
        Smallest { limit, kept, listed }
    }

    /// Breaks when the pair, and so every larger one, is too large to be kept.
    fn offer(&mut self, first: usize, second: usize) -> ControlFlow<()> {
        let pair = (first, second);
        if !(self.listed)(&pair) {
            self.kept.insert(pair);
            if self.kept.len() > self.limit && self.kept.pop_last() == Some(pair) {
                return Break(());
            }
        }
        Continue(())
    }

    fn gather(&mut self, lineup: &Lineup, edges: &[Edge]) {
        for edge in edges {
            lineup.across(edge, &mut |first, second| self.offer(first, second));
        }
    }

    fn into_errors(self, index: &Index, resemblance: f64) -> Vec<ErrorPair> {
        let kept = self.kept.into_iter();
        kept.map(|pair| index.error(pair, Some(resemblance))).collect()
    }
}

/// Those of the judged negative pairs that are expanded pairs: highest resemblance first, then by ids.
pub(super) fn judged_positives(index: &Index, negative: &[(usize, usize)], worst: usize) -> Vec<ErrorPair> {
    let joined = |&(a, b): &(usize, usize)| Some(((a, b), index.joined(a, b)?));
    let mut wrong: Vec<_> = negative.iter().filter_map(joined).collect();
    wrong.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    wrong.truncate(worst);
    let errors = wrong.into_iter();
    errors.map(|(pair, resemblance)| index.error(pair, Some(resemblance))).collect()
}

/// Pairs of one class that are not expanded pairs, by ids.
///
/// Cost: O(n log n + worst × largest class). A document is only compared with its class if it misses some of it; then
/// either it is the first of an error that is listed now, or the second of one listed before, so that at most
/// 2 × worst documents are compared.
pub(super) fn false_negatives(index: &Index, class: &[Option<usize>], expansion: &Expansion, worst: usize) -> Vec<ErrorPair> {
    let mut members = vec![Vec::new(); class.len()];
    let classed = || class.iter().enumerate().filter_map(|(document, class)| Some((document, (*class)?)));
    classed().for_each(|(document, class)| members[class].push(document));

    let missing = classed().filter(|&(document, class)| expansion.missing(index.families()[document], class) > 0);
    let missed = missing.flat_map(|(document, class)| {
        let later = members[class].partition_point(|&member| member <= document);
        let peers = members[class][later..].iter().map(move |&peer| (document, peer));
        peers.filter(|&(document, peer)| index.joined(document, peer).is_none())
    });
    missed.take(worst).map(|pair| index.error(pair, None)).collect()
}
