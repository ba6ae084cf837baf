//! How good a result is: the scoring core of `onefold evaluate`.
//!
//! In: an [`Answer`] and a [`Gold`]. Out: [`Scores`]. The *expanded pairs* (all pairs inside a family, all cross pairs
//! of two families that an accepted pair joins) and the pairs inside *clusters* are scored separately.
//!
//! Which documents take part depends on what the gold knows:
//!
//! | gold | documents and pairs that count | ARI and B³ |
//! |---|---|---|
//! | classes | all pairs of documents in the gold; other documents are of unknown truth and left out | yes |
//! | pairs without labels | all pairs of documents in the result or the gold; unlisted pairs are negative | no |
//! | labelled pairs | the listed pairs | no |
//!
//! Listed pairs are no partition, so that ARI and B³ have nothing to compare with. Closing the pairs transitively would
//! invent positives which the gold, by not listing them, calls negative.
//!
//! A document of the gold that the result does not know is found in no pair and is a cluster of its own: its pairs are
//! missed. Invariant: no pair is enumerated where a product or a binomial of counts does (a class of 100,000 documents
//! has 5 billion). Cost: O((n + p) log n) for n documents and p accepted pairs.
//!
//! [`published`] has the measures of others, for comparison with their numbers.

mod contingency;
mod expansion;
mod index;
mod judged;
mod lineup;
mod measure;
pub mod published;
mod worst;

#[cfg(test)]
mod brute;

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::gold::Gold;
use contingency::Contingency;
use expansion::Expansion;
use index::Index;
pub(crate) use measure::ratio;
pub use measure::{BCubed, ClusterScore, PairScore};

/// The result under evaluation, as read from a result folder.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Document id and cluster id. Every document has one row, singletons too; of repeated rows the first counts.
    /// A document that only `families` or `pairs` name (one of `--against`) is in the cluster of its own id.
    pub clusters: Vec<(String, String)>,
    /// Groups of documents with equal shingle sets (resemblance 1), each listed whole; documents in none are alone.
    /// Groups that share a document are one.
    pub families: Vec<Vec<String>>,
    /// Accepted pairs between families (any member id stands for its family) with their resemblance. Of several rows
    /// for the same two families the highest resemblance counts.
    pub pairs: Vec<(String, String, f64)>,
}

/// What [`score`] finds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    /// Which documents the result and the gold have in common.
    pub documents: Coverage,
    /// The expanded pairs.
    pub pairs: PairScore,
    /// The pairs inside clusters, and the clusters as a partition.
    pub clusters: ClusterScore,
    /// Expanded pairs that are wrong: highest resemblance first, then by ids.
    pub worst_false_positives: Vec<ErrorPair>,
    /// Pairs of the gold that the expanded pairs miss, by ids; their resemblance is not known here.
    pub worst_false_negatives: Vec<ErrorPair>,
}

/// Which documents the result and the gold have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Documents that the gold names.
    pub in_gold: usize,
    /// Documents of the result.
    pub in_result: usize,
    /// Documents of the gold that the result does not know; their pairs count as missed.
    pub unknown_to_result: usize,
    /// The first of those by id, as many as errors were asked for.
    pub unknown_examples: Vec<String>,
    /// Documents of the result that the gold does not name. With classes [`score`] leaves them out.
    pub not_in_gold: usize,
}

/// A pair on which result and gold differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorPair {
    /// The bytewise smaller id.
    pub first: String,
    /// The bytewise larger id.
    pub second: String,
    /// The resemblance of the two, where it is known.
    pub resemblance: Option<f64>,
}

/// Compares a result with the truth, and lists up to `worst` errors of each kind.
pub fn score(answer: &Answer, gold: &Gold, worst: usize) -> Scores {
    let index = index(answer, gold);
    match gold {
        Gold::Classes(classes) => by_classes(&index, &number_classes(&index, classes), worst),
        Gold::Pairs { pairs, labelled } => judged::by_pairs(&index, pairs, *labelled, worst),
    }
}

/// Numbers all documents of a result and a gold.
fn index<'a>(answer: &'a Answer, gold: &'a Gold) -> Index<'a> {
    match gold {
        Gold::Classes(classes) => Index::new(answer, classes.keys().map(String::as_str)),
        Gold::Pairs { pairs, .. } => Index::new(answer, pairs.iter().flat_map(|pair| [pair.a.as_str(), pair.b.as_str()])),
    }
}

/// The class of each document that the gold names; a class is numbered by its smallest document.
fn number_classes(index: &Index, classes: &BTreeMap<String, String>) -> Vec<Option<usize>> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut class = vec![None; index.len()];
    for (document, name) in classes {
        if let Some(document) = index.number(document) {
            class[document] = Some(*numbers.entry(name).or_insert(document));
        }
    }
    class
}

fn by_classes(index: &Index, class: &[Option<usize>], worst: usize) -> Scores {
    let clusters = Contingency::between(index.clusters(), class);
    let expansion = Expansion::new(Contingency::between(index.families(), class), index.edges());
    let wrong = worst::false_positives(index, class, &expansion.wrong_edges, |_| false, worst);
    let missed = worst::false_negatives(index, class, &expansion, worst);
    Scores {
        documents: index.coverage(worst),
        pairs: PairScore::new(expansion.found, expansion.predicted, expansion.table.column_pairs()),
        clusters: ClusterScore {
            pairs: PairScore::new(clusters.cell_pairs(), clusters.row_pairs(), clusters.column_pairs()),
            adjusted_rand_index: clusters.adjusted_rand_index(),
            b_cubed: clusters.b_cubed(),
        },
        worst_false_positives: wrong,
        worst_false_negatives: missed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gold::JudgedPair;

    /// Documents written `id:cluster`, families and pairs (of resemblance 0.8) as ids separated by spaces.
    pub(super) fn answer(clusters: &str, families: &[&str], pairs: &[&str]) -> Answer {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let row = |word: String| word.split_once(':').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let pair = |text: &&str| (words(text)[0].clone(), words(text)[1].clone(), 0.8);
        Answer {
            clusters: words(clusters).into_iter().map(row).collect(),
            families: families.iter().map(|text| words(text)).collect(),
            pairs: pairs.iter().map(pair).collect(),
        }
    }

    fn shown(errors: &[ErrorPair]) -> Vec<String> {
        let resemblance = |error: &ErrorPair| error.resemblance.map_or(String::new(), |number| format!(" {number}"));
        errors.iter().map(|error| format!("{} {}{}", error.first, error.second, resemblance(error))).collect()
    }

    fn counts(score: &PairScore) -> (u64, u64, u64) {
        (score.true_positives, score.false_positives, score.false_negatives)
    }

    #[test]
    fn classes_leave_out_unknown_truth_and_miss_unknown_documents() {
        let answer = answer("a:a b:a c:a d:d x:d", &["a b", "d x"], &["b c"]);
        let gold = Gold::parse("k a\nk b\nl c\nl d\nl z").unwrap();
        let scores = score(&answer, &gold, 10);
        assert_eq!(scores.documents.in_gold, 5);
        assert_eq!(scores.documents.unknown_examples, ["z"]);
        assert_eq!(scores.documents.not_in_gold, 1);
        assert_eq!(counts(&scores.pairs), (1, 2, 3));
        assert_eq!(counts(&scores.clusters.pairs), (1, 2, 3));
        assert_eq!(shown(&scores.worst_false_positives), ["a c 0.8", "b c 0.8"]);
        assert_eq!(shown(&scores.worst_false_negatives), ["c d", "c z", "d z"]);
    }

    #[test]
    fn pairs_without_labels_make_all_others_negative() {
        let answer = answer("a:a b:a c:a d:d", &["a b"], &["b c"]);
        let scores = score(&answer, &Gold::parse("id_a,id_b\na,b\nc,d\n").unwrap(), 10);
        assert_eq!(counts(&scores.pairs), (1, 2, 1));
        assert_eq!(scores.pairs.f1, Some(0.4));
        assert_eq!(shown(&scores.worst_false_negatives), ["c d"]);
        assert_eq!(scores.clusters.adjusted_rand_index, None);
    }

    #[test]
    fn labels_limit_the_score_to_judged_pairs() {
        let answer = answer("a:a b:a c:a d:d", &["a b"], &["b c"]);
        let scores = score(&answer, &Gold::parse("id_a,id_b,label\na,b,2\na,c,0\nb,d,0\n").unwrap(), 10);
        assert_eq!(counts(&scores.pairs), (1, 1, 0));
        assert_eq!(shown(&scores.worst_false_positives), ["a c 0.8"]);
        assert_eq!(scores.clusters.b_cubed, None);
    }

    #[test]
    fn listed_pairs_made_by_hand_need_not_be_normal() {
        let pair = |a: &str, b: &str, positive| JudgedPair { a: a.into(), b: b.into(), positive };
        let pairs = vec![pair("b", "a", true), pair("a", "b", true), pair("a", "a", true), pair("a", "b", false)];
        let scores = score(&answer("a:a b:a", &["a b"], &[]), &Gold::Pairs { pairs, labelled: true }, 10);
        assert_eq!(counts(&scores.pairs), (1, 0, 0));
    }

    #[test]
    fn what_is_undefined_is_null() {
        let gold = Gold::parse("k a\nl b").unwrap();
        let json = serde_json::to_value(score(&answer("a:a b:b", &[], &[]), &gold, 1)).unwrap();
        assert!(json["pairs"]["precision"].is_null() && json["clusters"]["f1"].is_null());
        assert_eq!(json["clusters"]["ari"], 1.0);
        assert_eq!(json["clusters"]["b_cubed"]["f1"], 1.0);
        assert_eq!(json["pairs"]["true_positives"], 0);
    }

    /// Places where enumerating pairs would take hours: one family of everything, one class of everything, a hub that
    /// everything is joined to, each with a single error at the very end.
    fn large_instances(documents: usize) {
        let id = |number: usize| format!("d{number:07}");
        let last = documents - 1;
        let ids = || (0..documents).map(id);
        let rows = ids().map(|id| (id, "c".to_owned())).collect();
        let classes = |odd: usize| Gold::from_labels((0..documents).map(|n| (id(n), u8::from(n == odd).to_string())));
        let mut result = Answer { clusters: rows, families: vec![ids().collect()], pairs: Vec::new() };
        let pairs = documents as u64 * last as u64 / 2;

        let scores = score(&result, &classes(last).unwrap(), 3);
        assert_eq!(counts(&scores.pairs), (pairs - last as u64, last as u64, 0));
        assert_eq!(scores.worst_false_positives[2].second, id(last));

        result.families[0].truncate(last);
        let scores = score(&result, &classes(documents).unwrap(), 3);
        assert_eq!(counts(&scores.pairs), (pairs - last as u64, 0, last as u64));
        assert_eq!(scores.worst_false_negatives[2].second, id(last));

        result.families.clear();
        result.pairs = (1..documents).map(|number| (id(0), id(number), 0.9)).collect();
        let scores = score(&result, &classes(last).unwrap(), 3);
        assert_eq!(counts(&scores.pairs), (last as u64 - 1, 1, pairs - 2 * last as u64 + 1));
        let listed = Gold::Pairs { pairs: vec![JudgedPair { a: id(0), b: id(1), positive: true }], labelled: false };
        assert_eq!(counts(&score(&result, &listed, 3).pairs), (1, last as u64 - 1, 0));
    }

    #[test]
    fn nothing_is_quadratic() {
        large_instances(20_000);
    }

    #[test]
    #[ignore = "a million documents: some seconds, with --release"]
    fn a_million_documents() {
        large_instances(1_000_000);
    }
}
