//! Who ranks before whom: not forced, not whole, keep rules, digest, id.

use std::cmp::Ordering;

use super::{Fact, Facts};

/// Keep rules, under the names that people type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    ScoreDesc,
    ScoreAsc,
    TimeNewest,
    TimeOldest,
    Longest,
    Shortest,
    Digest,
    Id,
}

impl Key {
    pub const ALL: [Key; 8] =
        [Key::ScoreDesc, Key::ScoreAsc, Key::TimeNewest, Key::TimeOldest, Key::Longest, Key::Shortest, Key::Digest, Key::Id];

    pub fn typed(self) -> &'static str {
        match self {
            Key::ScoreDesc => "score desc",
            Key::ScoreAsc => "score asc",
            Key::TimeNewest => "time newest",
            Key::TimeOldest => "time oldest",
            Key::Longest => "length longest",
            Key::Shortest => "length shortest",
            Key::Digest => "digest",
            Key::Id => "id",
        }
    }

    fn compare(self, a: &Fact, b: &Fact) -> Ordering {
        let score = |fact: &Fact| fact.score;
        let time = |fact: &Fact| fact.time.map(|time| time as f64);
        match self {
            Key::ScoreDesc => missing_last(score(a).map(|s| -s), score(b).map(|s| -s)),
            Key::ScoreAsc => missing_last(score(a), score(b)),
            Key::TimeNewest => missing_last(time(a).map(|t| -t), time(b).map(|t| -t)),
            Key::TimeOldest => missing_last(time(a), time(b)),
            Key::Longest => b.words.len().cmp(&a.words.len()),
            Key::Shortest => a.words.len().cmp(&b.words.len()),
            Key::Digest => a.digest.cmp(&b.digest),
            Key::Id => a.id.as_bytes().cmp(b.id.as_bytes()),
        }
    }
}

fn missing_last(a: Option<f64>, b: Option<f64>) -> Ordering {
    let number = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
    number(a).partial_cmp(&number(b)).unwrap().then(a.is_none().cmp(&b.is_none()))
}

/// Every document's place, 0 the best, and whether it is forced.
pub struct Ranks {
    pub place: Vec<usize>,
    pub forced: Vec<bool>,
}

impl Ranks {
    pub fn new(facts: &Facts, keys: &[Key], protected: &[String]) -> Ranks {
        let is_protected =
            |fact: &Fact| protected.iter().any(|start| fact.id.starts_with(start) || fact.source.starts_with(start));
        let forced: Vec<bool> = facts.0.iter().map(is_protected).collect();
        let compare = |&a: &usize, &b: &usize| {
            let (x, y) = (&facts.0[a], &facts.0[b]);
            let first = (!forced[a], x.lossy).cmp(&(!forced[b], y.lossy));
            keys.iter().chain(&[Key::Digest, Key::Id]).fold(first, |order, key| order.then_with(|| key.compare(x, y)))
        };
        let mut order: Vec<usize> = (0..facts.len()).collect();
        order.sort_by(compare);
        let mut place = vec![0; facts.len()];
        order.iter().enumerate().for_each(|(at, &document)| place[document] = at);
        Ranks { place, forced }
    }
}
