//! Shingle sets as sets of word lists, and how many lists any two of them share.

use std::collections::{BTreeSet, HashMap};

use super::{Facts, Share};

/// Why documents share a set.
#[derive(PartialEq, Eq, Hash)]
enum SameSet<'a> {
    Shingles(Vec<u32>),
    /// Too short for a shingle: only the same text is the same.
    Text(&'a [u32]),
    /// No text at all: like nothing else.
    Nothing(usize),
}

/// Who shares how much with whom, for one width of shingles.
pub struct Overlaps {
    /// By document.
    pub set_of: Vec<usize>,
    /// Documents of a set, by id.
    pub documents: Vec<Vec<usize>>,
    /// Shingles in a set.
    pub sizes: Vec<u64>,
    /// Other sets with a common shingle, and how many are common.
    pub near: Vec<Vec<(usize, u64)>>,
}

impl Overlaps {
    /// Pairs below `least` are left out, to save memory.
    pub fn new(facts: &Facts, width: usize, least: &str) -> Overlaps {
        let mut lists: HashMap<&[u32], u32> = HashMap::new();
        let mut numbers: HashMap<SameSet<'_>, usize> = HashMap::new();
        let mut overlaps = Overlaps { set_of: Vec::new(), documents: Vec::new(), sizes: Vec::new(), near: Vec::new() };
        let mut sets: Vec<Vec<u32>> = Vec::new();
        for (document, fact) in facts.0.iter().enumerate() {
            let shingles = shingles(&fact.words, width, &mut lists);
            let key = match (shingles.is_empty(), fact.words.is_empty()) {
                (false, _) => SameSet::Shingles(shingles.clone()),
                (true, false) => SameSet::Text(&fact.words),
                (true, true) => SameSet::Nothing(document),
            };
            let set = *numbers.entry(key).or_insert(sets.len());
            if set == sets.len() {
                overlaps.sizes.push(shingles.len() as u64);
                overlaps.documents.push(Vec::new());
                sets.push(shingles);
            }
            overlaps.documents[set].push(document);
            overlaps.set_of.push(set);
        }
        overlaps.near = count(&sets, lists.len(), Share::typed(least));
        overlaps
    }

    pub fn union(&self, a: usize, b: usize, overlap: u64) -> u64 {
        self.sizes[a] + self.sizes[b] - overlap
    }

    /// Each pair of different sets once, with overlap and union.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, u64, u64)> + '_ {
        let all = self.near.iter().enumerate().flat_map(|(a, near)| near.iter().map(move |&(b, overlap)| (a, b, overlap)));
        all.filter(|(a, b, _)| a < b).map(|(a, b, overlap)| (a, b, overlap, self.union(a, b, overlap)))
    }
}

/// The distinct shingles of a text, as numbers of word lists.
fn shingles<'a>(words: &'a [u32], width: usize, lists: &mut HashMap<&'a [u32], u32>) -> Vec<u32> {
    let mut number = |list: &'a [u32]| {
        let next = lists.len() as u32;
        *lists.entry(list).or_insert(next)
    };
    let set: BTreeSet<u32> = words.windows(width).map(&mut number).collect();
    set.into_iter().collect()
}

/// Every set against all before it, by the lists they share.
fn count(sets: &[Vec<u32>], lists: usize, least: Share) -> Vec<Vec<(usize, u64)>> {
    let mut having: Vec<Vec<u32>> = vec![Vec::new(); lists];
    let mut near = vec![Vec::new(); sets.len()];
    let mut common = vec![0u64; sets.len()];
    for (set, shingles) in sets.iter().enumerate() {
        for &shingle in shingles {
            having[shingle as usize].iter().for_each(|&other| common[other as usize] += 1);
            having[shingle as usize].push(set as u32);
        }
        for other in 0..set {
            let overlap = std::mem::take(&mut common[other]);
            let union = (sets[other].len() + shingles.len()) as u64 - overlap;
            if overlap > 0 && least.reached(overlap, union) {
                near[set].push((other, overlap));
                near[other].push((set, overlap));
            }
        }
    }
    near
}
