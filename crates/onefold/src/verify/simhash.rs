//! SimHash (Charikar 2002; P1, P2): one number for a document, close for close documents.
//!
//! In: features, by default the hashes of a document's distinct runs of 3 and 5 words. Out: 64 bits, each the majority of its
//! features' bits, or nothing for a document without features: all empty ones would agree. Invariant: every distinct feature
//! weighs 1; ties give 0; order does not matter. Cost: 64 additions a feature. Drops the number of repetitions.

use crate::shingle::hash;

/// Lengths of the runs: single words tell documents apart badly (§9.4).
pub const RUNS: [usize; 2] = [3, 5];

/// Binary digits of a sum of at most [`MOST_COUNTED`].
const DIGITS: usize = 8;
const MOST_COUNTED: usize = (1 << DIGITS) - 1;

/// A document's SimHash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SimHash(pub u64);

impl SimHash {
    /// Of the runs of 3 and 5 words; `None` below 3 words.
    pub fn of_tokens(tokens: &[u64]) -> Option<SimHash> {
        let mut features = Vec::with_capacity(RUNS.len() * tokens.len());
        for words in RUNS {
            // Shingles leave their highest bits free: mixing makes all 64 good again.
            hash::shingles(tokens, words, |shingle| features.push(hash::mix(shingle)));
        }
        features.sort_unstable();
        features.dedup();
        SimHash::of_features(&features)
    }

    /// Of features of weight 1 each; `None` where there are none.
    pub fn of_features(features: &[u64]) -> Option<SimHash> {
        let mut ones = [0u64; 64];
        for some in features.chunks(MOST_COUNTED) {
            // The 64 sums in binary, digit by digit: each addition is one of all 64.
            let mut digits = [0u64; DIGITS];
            for &feature in some {
                let mut carry = feature;
                for digit in &mut digits {
                    (*digit, carry) = (*digit ^ carry, *digit & carry);
                }
            }
            for (bit, count) in ones.iter_mut().enumerate() {
                *count += digits.iter().enumerate().map(|(place, digit)| (digit >> bit & 1) << place).sum::<u64>();
            }
        }
        let majority = |count: u64| u64::from(2 * count > features.len() as u64);
        let bits = ones.iter().enumerate().fold(0, |bits, (bit, &count)| bits | majority(count) << bit);
        (!features.is_empty()).then_some(SimHash(bits))
    }

    /// Of features with weights; `None` where all weigh nothing.
    pub fn of_weighted(features: impl Iterator<Item = (u64, f64)>) -> Option<SimHash> {
        let (mut sums, mut some) = ([0f64; 64], false);
        for (feature, weight) in features.filter(|(_, weight)| *weight != 0.0) {
            some = true;
            for (bit, sum) in sums.iter_mut().enumerate() {
                *sum += if feature >> bit & 1 == 1 { weight } else { -weight };
            }
        }
        let bits = sums.iter().enumerate().fold(0, |bits, (bit, &sum)| bits | u64::from(sum > 0.0) << bit);
        some.then_some(SimHash(bits))
    }

    /// Bits in which two differ (Hamming distance).
    pub fn distance(self, other: SimHash) -> u32 {
        (self.0 ^ other.0).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// P1 as printed: add the weight for a 1, subtract it for a 0, and take the sign.
    fn by_definition(features: &[u64]) -> u64 {
        let sum = |bit: u32| features.iter().map(|f| if f >> bit & 1 == 1 { 1 } else { -1 }).sum::<i64>();
        (0..64).filter(|&bit| sum(bit) > 0).fold(0, |bits, bit| bits | 1 << bit)
    }

    fn of_text(text: &str) -> Option<SimHash> {
        let token = |word: &str| hash::token(&[word.as_bytes(), &[0; hash::SLACK]].concat(), word.len());
        SimHash::of_tokens(&text.split_whitespace().map(token).collect::<Vec<u64>>())
    }

    #[test]
    fn ties_give_zero() {
        assert_eq!(SimHash::of_features(&[0b1100, 0b1010]), Some(SimHash(0b1000)));
        assert_eq!(SimHash::of_features(&[u64::MAX, 0]), Some(SimHash(0)));
        assert_eq!(SimHash::of_features(&[u64::MAX, 0, 0b1]), Some(SimHash(0b1)));
        assert_eq!(SimHash::of_features(&[0xf0f0]), Some(SimHash(0xf0f0)));
    }

    #[test]
    fn without_features_there_is_none() {
        assert_eq!(SimHash::of_features(&[]), None);
        assert_eq!(of_text("two words"), None);
        assert!(of_text("now three words").is_some());
    }

    #[test]
    fn repetitions_weigh_nothing() {
        assert_eq!(of_text("a b a b a b a"), of_text("a b a b a b a b a b a"));
    }

    #[test]
    fn close_documents_are_close() {
        let words: Vec<String> = (0..400).map(|i| format!("word{}", i * i % 1009)).collect();
        let mut edited = words.clone();
        edited[200] = "changed".to_owned();
        let other: Vec<String> = words.iter().map(|word| format!("{word}x")).collect();
        let [words, edited, other] = [words, edited, other].map(|words| of_text(&words.join(" ")).unwrap());
        assert!(words.distance(edited) <= 8, "{}", words.distance(edited));
        assert!(words.distance(other) >= 16, "{}", words.distance(other));
        assert_eq!(words.distance(words), 0);
    }

    #[test]
    fn vector_is_frozen() {
        assert_eq!(hash::FINGERPRINT_VERSION, 1);
        assert_eq!(
            of_text("a rose is a rose is a rose").map(|found| format!("{:016x}", found.0)).as_deref(),
            Some("002ee05812308640")
        );
    }

    proptest! {
        #[test]
        fn equals_the_definition(mut features in prop::collection::vec(any::<u64>(), 1..600)) {
            let found = SimHash::of_features(&features);
            prop_assert_eq!(found, Some(SimHash(by_definition(&features))));
            features.reverse();
            prop_assert_eq!(found, SimHash::of_features(&features));
        }
    }
}
