//! What the answer must be, written from the definitions and nothing else: words instead of hashes, all pairs instead of a join.

mod overlaps;
mod plain;
mod rank;
mod stars;
mod tokens;

pub use overlaps::Overlaps;
pub use plain::{Fate, Plain, Question};
pub use rank::{Key, Ranks};
pub use stars::{Answer, settle};
pub use tokens::tokens;

use std::collections::HashMap;

use crate::corpus::Record;

/// What there is to know of a document, whatever the settings.
pub struct Fact {
    pub id: String,
    /// Words by number; equal words have equal numbers.
    pub words: Vec<u32>,
    /// Decides between equals in the ranking, so it has to be the frozen one: BLAKE3 of the tokens, each followed by a space.
    pub digest: [u8; 32],
    pub source: String,
    pub score: Option<f64>,
    pub time: Option<i64>,
    pub lossy: bool,
}

/// A collection in the order of its ids.
pub struct Facts(pub Vec<Fact>);

impl Facts {
    pub fn new(records: &[Record], default_source: &str) -> Facts {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut facts: Vec<Fact> = records.iter().map(|record| fact(record, default_source, &mut numbers)).collect();
        facts.sort_by(|a, b| a.id.as_bytes().cmp(b.id.as_bytes()));
        Facts(facts)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

fn fact(record: &Record, default_source: &str, numbers: &mut HashMap<String, u32>) -> Fact {
    let mut hasher = blake3::Hasher::new();
    let mut words = Vec::new();
    for token in tokens(&record.text) {
        hasher.update(token.as_bytes()).update(b" ");
        let next = numbers.len() as u32;
        words.push(*numbers.entry(token).or_insert(next));
    }
    Fact {
        id: record.id.clone(),
        words,
        digest: *hasher.finalize().as_bytes(),
        source: record.source.clone().unwrap_or_else(|| default_source.into()),
        score: record.score,
        time: record.time,
        lossy: record.lossy,
    }
}

/// A decimal as a fraction, so that nothing is ever decided in floating point.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    numerator: u128,
    denominator: u128,
}

impl Share {
    pub fn typed(decimal: &str) -> Share {
        let (whole, decimals) = decimal.split_once('.').unwrap_or((decimal, ""));
        let denominator = 10u128.pow(decimals.len() as u32);
        Share { numerator: format!("{whole}{decimals}").parse().unwrap(), denominator }
    }

    pub fn reached(self, overlap: u64, union: u64) -> bool {
        u128::from(overlap) * self.denominator >= self.numerator * u128::from(union)
    }
}
