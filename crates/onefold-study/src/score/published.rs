//! The measures that text-dedup publishes for CORE and NEWS-COPY, so that its numbers can be compared with ours.
//!
//! They are kept as they are, oddities included, and each carries remarks that name these; [`super::score`] is what to
//! judge a result by. Source: github.com/ChenghaoMou/text-dedup, `benchmarks/{utils,benchmark_core,benchmark_news}.py`
//! (2026), which agrees with `tests/benchmark_{core,news}.py` (2024).
//!
//! Both know no document or pair of unknown truth: their collections are labelled throughout. So all documents of the
//! result and of the gold take part, and a document that the gold does not name has no duplicates. Only clusters count.
//! Cost: as for [`super::score`]; no pair inside a class or a cluster is looked at.

use std::collections::BTreeMap;

use serde::Serialize;

use super::contingency::Contingency;
use super::index::{Index, components};
use super::judged::Listed;
use super::measure::ratio;
use super::{Answer, Coverage, expansion, index, number_classes};
use crate::gold::Gold;

/// What the scorer for CORE finds: each document is right or wrong as a whole.
///
/// | labelled set | predicted set | the document is a |
/// |---|---|---|
/// | empty | empty | true negative |
/// | not empty | empty | false negative |
/// | not empty | holds the whole labelled set, and perhaps more | true positive |
/// | not empty | not empty, lacks some of the labelled set | false positive |
/// | empty | not empty | false positive |
///
/// A share of nothing is 0, as published.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoreScores {
    /// Which documents the result and the gold have in common.
    pub documents: Coverage,
    /// How many documents are in each row of the table.
    #[serde(flatten)]
    pub counts: CoreCounts,
    /// TP / (TP + FP).
    pub precision_duplicates: f64,
    /// TP / (TP + FN).
    pub recall_duplicates: f64,
    /// TN / (TN + FN).
    pub precision_non_duplicates: f64,
    /// TN / (TN + FP).
    pub recall_non_duplicates: f64,
    /// The mean of the two precisions, which is published under this name.
    pub macro_f1: f64,
    /// The share of documents whose predicted set is the labelled set.
    pub accuracy: f64,
    /// What is odd about these measures.
    pub remarks: &'static [&'static str],
}

/// Documents by how their predicted set compares with the labelled one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CoreCounts {
    /// All documents.
    pub scored: u64,
    /// All labelled duplicates are predicted.
    pub true_positives: u64,
    /// Something is predicted, but not all labelled duplicates, or there are none.
    pub false_positives: u64,
    /// Duplicates are labelled, nothing is predicted.
    pub false_negatives: u64,
    /// Nothing is labelled, nothing predicted.
    pub true_negatives: u64,
    /// The predicted set is the labelled one.
    pub equal_sets: u64,
}

/// What is odd about the measures for CORE.
pub const CORE_REMARKS: &[&str] = &[
    "predicted for a document are all other documents of its cluster",
    "labelled duplicates must all be predicted; what is predicted beyond them is not punished, except in the accuracy",
    "a document of which only some duplicates are predicted is a false positive: the recall of duplicates does not see it",
    "'macro F1' is the mean of the two precisions, a macro precision: no recall is in it",
    "a document that the gold does not name counts as one without duplicates",
    "a share of nothing is 0",
];

/// What the scorer for NEWS-COPY finds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewsCopyScores {
    /// Which documents the result and the gold have in common.
    pub documents: Coverage,
    /// All documents of the two.
    pub scored: u64,
    /// Adjusted Rand index of the clusters and the classes; none for no documents.
    #[serde(rename = "ari")]
    pub adjusted_rand_index: Option<f64>,
    /// What is odd about this measure.
    pub remarks: &'static [&'static str],
}

/// What is odd about the measure for NEWS-COPY.
pub const NEWS_COPY_REMARKS: &[&str] = &[
    "labelled pairs are closed to classes: a ~ b and b ~ c make a ~ c, even where the gold says otherwise",
    "a document that the gold does not name is a class of its own, one that the result does not know a cluster of its own",
    "pairs are what is counted, so that a few large classes outweigh many small ones",
    "text-dedup prints no precision and recall for NEWS-COPY; the honest scorer does",
];

/// Scores a result as text-dedup does for CORE. Up to `examples` unknown documents are listed.
pub fn core(answer: &Answer, gold: &Gold, examples: usize) -> CoreScores {
    let index = index(answer, gold);
    let mut counts = CoreCounts::default();
    match gold {
        Gold::Classes(classes) => {
            let table = Contingency::between(index.clusters(), &partition(&index, classes));
            for cell in &table.cells {
                let (labelled, predicted) = (table.column_total(cell.column) - 1, table.row_total(cell.row) - 1);
                counts.add(&Sets { labelled, predicted, shared: cell.count - 1 }, cell.count);
            }
        }
        Gold::Pairs { pairs, .. } => {
            sets_of_pairs(&index, &Listed::new(&index, pairs).positive).iter().for_each(|sets| counts.add(sets, 1));
        }
    }
    counts.scores(index.coverage(examples))
}

/// Scores a result as text-dedup does for NEWS-COPY. Up to `examples` unknown documents are listed.
pub fn news_copy(answer: &Answer, gold: &Gold, examples: usize) -> NewsCopyScores {
    let index = index(answer, gold);
    let class = match gold {
        Gold::Classes(classes) => partition(&index, classes),
        Gold::Pairs { pairs, .. } => {
            let positive = Listed::new(&index, pairs).positive;
            components(index.len(), positive.into_iter()).into_iter().map(Some).collect()
        }
    };
    NewsCopyScores {
        documents: index.coverage(examples),
        scored: index.len() as u64,
        adjusted_rand_index: Contingency::between(index.clusters(), &class).adjusted_rand_index(),
        remarks: NEWS_COPY_REMARKS,
    }
}

/// The class of every document; those that the gold does not name are alone.
fn partition(index: &Index, classes: &BTreeMap<String, String>) -> Vec<Option<usize>> {
    let class = number_classes(index, classes).into_iter().enumerate();
    class.map(|(document, class)| class.or(Some(document))).collect()
}

/// The sets of every document, where duplicates are listed as pairs.
fn sets_of_pairs(index: &Index, positive: &[(usize, usize)]) -> Vec<Sets> {
    let clusters = index.clusters();
    let size = expansion::sizes(clusters);
    let alone = |&cluster: &usize| Sets { labelled: 0, predicted: size[cluster] - 1, shared: 0 };
    let mut sets: Vec<Sets> = clusters.iter().map(alone).collect();
    for &(a, b) in positive {
        for document in [a, b] {
            sets[document].labelled += 1;
            sets[document].shared += u64::from(clusters[a] == clusters[b]);
        }
    }
    sets
}

/// How large the labelled and the predicted set of a document are, and what they share.
struct Sets {
    labelled: u64,
    predicted: u64,
    shared: u64,
}

impl CoreCounts {
    /// Counts documents that all have sets of these sizes.
    fn add(&mut self, sets: &Sets, documents: u64) {
        let row = match (sets.labelled, sets.predicted) {
            (0, 0) => &mut self.true_negatives,
            (_, 0) => &mut self.false_negatives,
            (1.., _) if sets.shared == sets.labelled => &mut self.true_positives,
            _ => &mut self.false_positives,
        };
        *row += documents;
        self.scored += documents;
        if sets.shared == sets.labelled && sets.shared == sets.predicted {
            self.equal_sets += documents;
        }
    }

    fn scores(self, documents: Coverage) -> CoreScores {
        let precision_duplicates = share(self.true_positives, self.true_positives + self.false_positives);
        let precision_non_duplicates = share(self.true_negatives, self.true_negatives + self.false_negatives);
        CoreScores {
            documents,
            precision_duplicates,
            recall_duplicates: share(self.true_positives, self.true_positives + self.false_negatives),
            precision_non_duplicates,
            recall_non_duplicates: share(self.true_negatives, self.true_negatives + self.false_positives),
            macro_f1: (precision_duplicates + precision_non_duplicates) / 2.0,
            accuracy: share(self.equal_sets, self.scored),
            counts: self,
            remarks: CORE_REMARKS,
        }
    }
}

/// A share; of nothing it is published as 0.
fn share(part: u64, whole: u64) -> f64 {
    ratio(part, whole).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::answer;
    use super::*;

    /// {a b} found; {c d} found with e, which is alone; of {f g h} only fg found; i alone; q and r found, but not in the
    /// gold. y, z and w, which are in the gold, are not in the result.
    const CLUSTERS: &str = "a:a b:a c:c d:c e:c f:f g:f h:h i:i q:q r:q";

    fn scored(gold: &str) -> CoreScores {
        core(&answer(CLUSTERS, &[], &[]), &Gold::parse(gold).unwrap(), 10)
    }

    /// TP a b, and c d although e is predicted, too. FP e, f g (h lacks), q r. FN h, y z. TN i, w. Equal: a b i w.
    fn by_hand() -> CoreCounts {
        CoreCounts { scored: 14, true_positives: 4, false_positives: 5, false_negatives: 3, true_negatives: 2, equal_sets: 4 }
    }

    #[test]
    fn core_by_hand_from_classes() {
        let scores = scored("1 a\n1 b\n2 c\n2 d\n3 e\n4 f\n4 g\n4 h\n5 i\n6 y\n6 z\n7 w\n");
        assert_eq!(scores.counts, by_hand());
        assert_eq!(scores.documents.unknown_examples, ["w", "y", "z"]);
        assert_eq!(scores.documents.not_in_gold, 2);
        assert_eq!((scores.precision_duplicates, scores.recall_duplicates), (4.0 / 9.0, 4.0 / 7.0));
        assert_eq!((scores.precision_non_duplicates, scores.recall_non_duplicates), (2.0 / 5.0, 2.0 / 7.0));
        assert_eq!((scores.macro_f1, scores.accuracy), ((4.0 / 9.0 + 2.0 / 5.0) / 2.0, 4.0 / 14.0));
    }

    #[test]
    fn core_by_hand_from_pairs() {
        let labelled = scored("id_a,id_b,label\na,b,1\nd,c,2\nf,g,1\nf,h,1\ng,h,1\ny,z,1\nw,a,0\nq,r,0\n");
        assert_eq!(labelled.counts, by_hand());
        // Without labels nothing names w.
        let listed = scored("id_a,id_b\na,b\nd,c\nf,g\nf,h\ng,h\ny,z\n");
        assert_eq!(listed.counts, CoreCounts { scored: 13, true_negatives: 1, equal_sets: 3, ..by_hand() });
    }

    /// The rows of the table one by one: the clusters of a, b and c, and what becomes of a where it is labelled with…
    #[test]
    fn core_rows_of_the_table() {
        let row = |clusters: &str, gold: &str| {
            let with = core(&answer(clusters, &[], &[]), &Gold::parse(gold).unwrap(), 0).counts;
            [with.true_positives, with.false_positives, with.false_negatives, with.true_negatives, with.equal_sets]
        };
        assert_eq!(row("a:a b:b", "k a\nl b"), [0, 0, 0, 2, 2], "nothing labelled, nothing predicted");
        assert_eq!(row("a:a b:b", "k a\nk b"), [0, 0, 2, 0, 0], "labelled, nothing predicted");
        assert_eq!(row("a:a b:a", "k a\nk b"), [2, 0, 0, 0, 2], "the same set");
        assert_eq!(row("a:a b:a c:a", "k a\nk b\nl c"), [2, 1, 0, 0, 0], "more than the set; nothing labelled for c");
        assert_eq!(row("a:a b:a c:c", "k a\nk b\nk c"), [0, 2, 1, 0, 0], "less than the set; nothing predicted for c");
        assert_eq!(row("a:a b:b c:a d:b", "k a\nk b\nl c\nl d"), [0, 4, 0, 0, 0], "another set");
        assert_eq!(row("a:a b:a c:a", "id_a,id_b\na,b\nb,c\n"), [3, 0, 0, 0, 1], "pairs are not closed: only b's set is equal");
    }

    #[test]
    fn core_shares_of_nothing_are_0() {
        let scores = core(&answer("a:a b:a", &[], &[]), &Gold::parse("k a\nk b").unwrap(), 0);
        assert_eq!((scores.precision_duplicates, scores.precision_non_duplicates, scores.macro_f1), (1.0, 0.0, 0.5));
        assert_eq!((scores.recall_non_duplicates, scores.accuracy), (0.0, 1.0));
        let nothing = core(&Answer::default(), &Gold::Pairs { pairs: Vec::new(), labelled: true }, 0);
        assert_eq!((nothing.counts, nothing.accuracy), (CoreCounts::default(), 0.0));
    }

    /// Clusters {a b} {c d}; classes {a b} {c} {d}, of which d is one because nothing names it: 4 / 7 in the textbook.
    #[test]
    fn news_copy_makes_singletons_of_what_is_not_named() {
        let answer = answer("a:a b:a c:c d:c", &[], &[]);
        for gold in ["k a\nk b\nl c", "id_a,id_b\na,b\n", "id_a,id_b,label\na,b,1\nc,d,0\n"] {
            let gold = Gold::parse(gold).unwrap();
            let scores = news_copy(&answer, &gold, 0);
            assert_eq!(scores.scored, 4);
            assert!(scores.adjusted_rand_index.is_some_and(|ari| (ari - 4.0 / 7.0).abs() < 1e-12), "{scores:?}");
        }
        // z, which the result does not know, is missed: pairs in both 1, in clusters 2, in classes 3, of 10.
        let scores = news_copy(&answer, &Gold::parse("k a\nk b\nk z").unwrap(), 1);
        assert_eq!((scores.scored, scores.documents.unknown_to_result), (5, 1));
        assert!(scores.adjusted_rand_index.is_some_and(|ari| (ari - (1.0 - 0.6) / (2.5 - 0.6)).abs() < 1e-12), "{scores:?}");
    }

    #[test]
    fn news_copy_closes_pairs() {
        let ari =
            |gold: &str| news_copy(&answer("a:a b:a c:a d:d", &[], &[]), &Gold::parse(gold).unwrap(), 0).adjusted_rand_index;
        assert_eq!(ari("id_a,id_b\na,b\nb,c\n"), Some(1.0));
        assert_eq!(ari("id_a,id_b,label\na,b,1\nb,c,1\na,c,0\n"), Some(1.0));
    }
}
