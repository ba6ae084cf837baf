//! The contract once more, document by document and without any short cut, for what [`super::settle`] does not know: a reference to compare
//! with, and containment. Slow, and meant to be read beside contracts.md.

use std::collections::BTreeSet;

use super::{Fact, Facts, Share};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    pub threshold: String,
    pub width: usize,
    /// Share and least number of shingles.
    pub containment: Option<(String, usize)>,
    pub remove_contained: bool,
    pub protect: Vec<String>,
    pub transitive: bool,
}

/// What must become of an input.
#[derive(Debug, PartialEq, Eq)]
pub struct Fate {
    pub id: String,
    pub representative: String,
    pub relation: Option<&'static str>,
    pub kept: bool,
    pub cluster: String,
}

/// How one document is tied to another; the greater tie holds.
#[derive(Clone, Copy, Debug)]
struct Tie {
    kind: u8,
    share: (usize, usize),
}

const CONTAINS: u8 = 0;
const CONTAINED: u8 = 1;
const NEAR: u8 = 2;

impl Tie {
    fn exceeds(self, other: Tie) -> bool {
        (self.kind, self.share.0 * other.share.1) > (other.kind, other.share.0 * self.share.1)
    }
}

pub struct Plain<'a> {
    facts: Vec<&'a Fact>,
    reference: Vec<bool>,
    sets: Vec<BTreeSet<&'a [u32]>>,
    question: &'a Question,
}

impl<'a> Plain<'a> {
    /// `reference` tells which of the documents are there to be compared with.
    pub fn new(facts: &'a Facts, reference: impl Fn(&Fact) -> bool, question: &'a Question) -> Self {
        let facts: Vec<&Fact> = facts.0.iter().collect();
        let sets = facts.iter().map(|fact| fact.words.windows(question.width).collect()).collect();
        Plain { reference: facts.iter().map(|fact| reference(fact)).collect(), facts, sets, question }
    }

    fn forced(&self, d: usize) -> bool {
        let fact = self.facts[d];
        let named = |start: &String| fact.id.starts_with(start) || fact.source.starts_with(start);
        self.reference[d] || self.question.protect.iter().any(named)
    }

    /// Documents from the best to the worst, by the default rules.
    fn ranked(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.facts.len()).collect();
        let score = |d: usize| self.facts[d].score.map_or((1, 0), |score| (0, -(score * 1000.0) as i64));
        order.sort_by_cached_key(|&d| {
            let fact = self.facts[d];
            let first = (!self.reference[d], !self.forced(d), fact.lossy);
            (first, score(d), std::cmp::Reverse(fact.words.len()), fact.digest, fact.id.clone())
        });
        order
    }

    /// Same text, or same shingles where there are any.
    fn same(&self, a: usize, b: usize) -> bool {
        let (x, y) = (self.facts[a], self.facts[b]);
        !x.words.is_empty() && (x.words == y.words || (!self.sets[a].is_empty() && self.sets[a] == self.sets[b]))
    }

    /// How `d` is tied to `leader`.
    fn tie(&self, d: usize, leader: usize) -> Option<Tie> {
        if self.same(d, leader) {
            return Some(Tie { kind: NEAR, share: (1, 1) });
        }
        let (mine, its) = (&self.sets[d], &self.sets[leader]);
        let common = mine.intersection(its).count();
        let union = mine.len() + its.len() - common;
        if common > 0 && Share::typed(&self.question.threshold).reached(common as u64, union as u64) {
            return Some(Tie { kind: NEAR, share: (common, union) });
        }
        let (least, shortest) = self.question.containment.as_ref()?;
        if mine.len().min(its.len()) < *shortest {
            return None;
        }
        let inside = |size: usize| Share::typed(least).reached(common as u64, size as u64);
        if inside(mine.len()) {
            return Some(Tie { kind: CONTAINED, share: (common, mine.len()) });
        }
        inside(its.len()).then_some(Tie { kind: CONTAINS, share: (common, its.len()) })
    }

    pub fn fates(&self) -> Vec<Fate> {
        let order = self.ranked();
        // A family stands together: its best-ranked document speaks for it.
        let mut head: Vec<usize> = (0..self.facts.len()).collect();
        for (at, &d) in order.iter().enumerate().filter(|(_, d)| !self.forced(**d)) {
            let same =
                |&&other: &&usize| !self.forced(other) && self.facts[other].lossy == self.facts[d].lossy && self.same(d, other);
            head[d] = order[..at].iter().find(same).copied().unwrap_or(d);
        }
        let heads: Vec<usize> = order.iter().copied().filter(|&d| head[d] == d).collect();
        let removes = |kind: u8| kind == NEAR || (kind == CONTAINED && self.question.remove_contained);
        let covers = self.settle(&heads, removes, false);
        let leaders: Vec<usize> = heads.iter().copied().filter(|&d| covers[d].is_none()).collect();
        let beside = self.settle(&leaders, |kind| !removes(kind), true);
        let representative = |d: usize| covers[head[d]].map_or(head[d], |(leader, _)| leader);
        let shown = |d: usize| if d == representative(d) { beside[d].map_or(d, |(leader, _)| leader) } else { representative(d) };
        let component = self.components(&order);
        let fate = |d: usize| {
            let kept = representative(d) == d;
            let kind =
                if kept { beside[d].map(|(_, tie)| tie.kind) } else { Some(covers[head[d]].map_or(NEAR, |(_, tie)| tie.kind)) };
            let relation = kind.map(|kind| match kind {
                CONTAINS => "contains",
                CONTAINED => "contained",
                _ if self.facts[d].words == self.facts[shown(d)].words => "exact",
                _ => "near",
            });
            let first = |mut d: usize| {
                while shown(d) != d {
                    d = shown(d);
                }
                d
            };
            let cluster = if self.question.transitive { component[d] } else { first(d) };
            let id = |d: usize| self.facts[d].id.clone();
            Fate { id: id(d), representative: id(shown(d)), relation, kept, cluster: id(cluster) }
        };
        (0..self.facts.len()).filter(|&d| !self.reference[d]).map(fate).collect()
    }

    /// In the order of rank: leads unless an earlier leader may cover it; who is covered joins the closest, the better-ranked of equals.
    /// Beside another one may stand whatever is kept.
    fn settle(&self, families: &[usize], holds: impl Fn(u8) -> bool, all_lead: bool) -> Vec<Option<(usize, Tie)>> {
        let mut covers: Vec<Option<(usize, Tie)>> = vec![None; self.facts.len()];
        let mut leaders: Vec<usize> = Vec::new();
        for &d in families {
            for &leader in leaders.iter().filter(|&&leader| !self.forced(d) && (!self.facts[leader].lossy || self.facts[d].lossy))
            {
                if let Some(tie) = self.tie(d, leader).filter(|tie| holds(tie.kind))
                    && covers[d].is_none_or(|(_, other)| tie.exceeds(other))
                {
                    covers[d] = Some((leader, tie));
                }
            }
            if all_lead || covers[d].is_none() {
                leaders.push(d);
            }
        }
        covers
    }

    fn components(&self, order: &[usize]) -> Vec<usize> {
        let mut name: Vec<Option<usize>> = vec![None; self.facts.len()];
        let needed = self.needed();
        for &best in order.iter().filter(|d| needed.contains(d)) {
            let mut open = vec![best];
            while let Some(d) = open.pop() {
                if name[d].is_none() {
                    name[d] = Some(best);
                    open.extend(needed.iter().filter(|&&other| self.compared(d, other) && self.tie(d, other).is_some()));
                }
            }
        }
        name.into_iter().map(|name| name.unwrap_or(0)).collect()
    }

    fn compared(&self, a: usize, b: usize) -> bool {
        a != b && !(self.reference[a] && self.reference[b])
    }

    /// All inputs, and of documents of the reference with the same shingles the best-ranked.
    fn needed(&self) -> BTreeSet<usize> {
        let mut needed: BTreeSet<usize> = (0..self.facts.len()).filter(|&d| !self.reference[d]).collect();
        for d in self.ranked().into_iter().filter(|&d| self.reference[d] && !self.facts[d].words.is_empty()) {
            if !needed.iter().any(|&other| self.reference[other] && self.same(d, other)) {
                needed.insert(d);
            }
        }
        needed
    }

    /// Every pair that belongs together, by ids.
    pub fn pairs(&self) -> BTreeSet<(String, String)> {
        let needed: Vec<usize> = self.needed().into_iter().collect();
        let mut pairs = BTreeSet::new();
        for (at, &a) in needed.iter().enumerate() {
            for &b in needed[at + 1..].iter().filter(|&&b| self.compared(a, b) && self.tie(a, b).is_some()) {
                let (x, y) = (self.facts[a].id.clone(), self.facts[b].id.clone());
                pairs.insert(if x < y { (x, y) } else { (y, x) });
            }
        }
        pairs
    }
}
