//! The measures that are reported, as they are written to JSON. What is undefined is `null`, never NaN.

use serde::Serialize;

/// Right and wrong pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairScore {
    /// Pairs in both the result and the gold.
    pub true_positives: u64,
    /// Pairs in the result that the gold calls negative.
    pub false_positives: u64,
    /// Pairs of the gold that the result lacks.
    pub false_negatives: u64,
    /// TP / (TP + FP); none where the result has no pair.
    pub precision: Option<f64>,
    /// TP / (TP + FN); none where the gold has no positive pair.
    pub recall: Option<f64>,
    /// 2 TP / (2 TP + FP + FN); none only where neither has a pair, so that finding nothing of something scores 0.
    pub f1: Option<f64>,
}

impl PairScore {
    /// From the number of pairs in both, in the result, and in the gold.
    pub(crate) fn new(found: u64, predicted: u64, actual: u64) -> PairScore {
        PairScore {
            true_positives: found,
            false_positives: predicted - found,
            false_negatives: actual - found,
            precision: ratio(found, predicted),
            recall: ratio(found, actual),
            f1: ratio(2 * found, predicted + actual),
        }
    }
}

/// A share; none of nothing.
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// How good the clusters are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClusterScore {
    /// All pairs inside clusters.
    #[serde(flatten)]
    pub pairs: PairScore,
    /// Adjusted Rand index (Hubert and Arabie 1985); 1 for equal partitions, trivial ones too. None where the gold is
    /// no partition.
    #[serde(rename = "ari")]
    pub adjusted_rand_index: Option<f64>,
    /// B³ (Bagga and Baldwin 1998). None where the gold is no partition.
    pub b_cubed: Option<BCubed>,
}

/// For each document the share of its cluster that is of its class, and the share of its class that is in its cluster;
/// averaged over the documents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BCubed {
    /// Mean share of the cluster.
    pub precision: f64,
    /// Mean share of the class.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
}
