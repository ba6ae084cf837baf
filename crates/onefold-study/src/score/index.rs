//! The documents of an answer and a gold by number.
//!
//! In: ids. Out: numbers in bytewise order of the ids, so that comparing numbers compares ids. Clusters and families
//! are numbered by their smallest document, so nothing depends on the order of rows. Cost: O((n + p) log n).

use std::collections::{HashMap, HashSet};

use super::{Answer, Coverage, ErrorPair};

/// An accepted pair between two families, `first < second`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Edge {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) resemblance: f64,
}

/// Who is who.
pub(super) struct Index<'a> {
    names: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
    known: HashSet<&'a str>,
    in_gold: HashSet<&'a str>,
    cluster: Vec<usize>,
    family: Vec<usize>,
    edges: Vec<Edge>,
}

impl<'a> Index<'a> {
    /// Numbers all documents of the answer and the gold.
    pub(super) fn new(answer: &'a Answer, gold: impl Iterator<Item = &'a str>) -> Index<'a> {
        let in_gold: HashSet<&str> = gold.collect();
        let known: HashSet<&str> = named(answer).collect();
        let mut names: Vec<&str> = known.union(&in_gold).copied().collect();
        names.sort_unstable();
        let numbers = names.iter().zip(0..).map(|(&name, number)| (name, number)).collect();
        let mut index = Index { names, numbers, known, in_gold, cluster: Vec::new(), family: Vec::new(), edges: Vec::new() };
        index.cluster = index.number_clusters(answer);
        index.family = index.number_families(answer);
        index.edges = index.join_families(answer);
        index
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// The cluster of each document.
    pub(super) fn clusters(&self) -> &[usize] {
        &self.cluster
    }

    /// The family of each document.
    pub(super) fn families(&self) -> &[usize] {
        &self.family
    }

    /// The joined families, sorted, each two once.
    pub(super) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The resemblance of two documents, if they are an expanded pair.
    pub(super) fn joined(&self, a: usize, b: usize) -> Option<f64> {
        let (a, b) = (self.family[a], self.family[b]);
        if a == b {
            return Some(1.0);
        }
        let wanted = (a.min(b), a.max(b));
        let at = self.edges.binary_search_by_key(&wanted, |edge| (edge.first, edge.second));
        at.ok().map(|at| self.edges[at].resemblance)
    }

    pub(super) fn error(&self, (first, second): (usize, usize), resemblance: Option<f64>) -> ErrorPair {
        ErrorPair { first: self.names[first].to_owned(), second: self.names[second].to_owned(), resemblance }
    }

    pub(super) fn coverage(&self, examples: usize) -> Coverage {
        let unknown = || self.names.iter().filter(|name| !self.known.contains(**name));
        Coverage {
            in_gold: self.in_gold.len(),
            in_result: self.known.len(),
            unknown_to_result: unknown().count(),
            unknown_examples: unknown().take(examples).map(ToString::to_string).collect(),
            not_in_gold: self.known.difference(&self.in_gold).count(),
        }
    }

    fn number_clusters(&self, answer: &'a Answer) -> Vec<usize> {
        let own = |name: &&'a str| self.known.contains(name).then_some(*name);
        let mut label: Vec<Option<&str>> = self.names.iter().map(own).collect();
        for (document, cluster) in answer.clusters.iter().rev() {
            label[self.numbers[document.as_str()]] = Some(cluster);
        }
        let mut numbers = HashMap::new();
        let number = |(document, label): (usize, Option<&'a str>)| match label {
            Some(label) => *numbers.entry(label).or_insert(document),
            None => document,
        };
        label.into_iter().enumerate().map(number).collect()
    }

    fn number_families(&self, answer: &Answer) -> Vec<usize> {
        let pairs = answer.families.iter().flat_map(|family| {
            let mut members = family.iter().map(|name| self.numbers[name.as_str()]);
            let head = members.next();
            members.filter_map(move |member| Some((head?, member)))
        });
        components(self.len(), pairs)
    }

    fn join_families(&self, answer: &Answer) -> Vec<Edge> {
        let family = |name: &str| self.family[self.numbers[name]];
        let rows = answer.pairs.iter().map(|(a, b, resemblance)| (family(a), family(b), *resemblance));
        let across = rows.filter(|(a, b, _)| a != b);
        let mut edges: Vec<Edge> =
            across.map(|(a, b, resemblance)| Edge { first: a.min(b), second: a.max(b), resemblance }).collect();
        edges.sort_unstable_by(|a, b| {
            let families = (a.first, a.second).cmp(&(b.first, b.second));
            families.then(b.resemblance.total_cmp(&a.resemblance))
        });
        edges.dedup_by_key(|edge| (edge.first, edge.second));
        edges
    }
}

/// Every id that an answer names, repeats included.
fn named(answer: &Answer) -> impl Iterator<Item = &str> {
    let rows = answer.clusters.iter().map(|(document, _)| document);
    let members = answer.families.iter().flatten();
    let ends = answer.pairs.iter().flat_map(|(a, b, _)| [a, b]);
    rows.chain(members).chain(ends).map(String::as_str)
}

/// For each document the smallest one that pairs connect it with, over any number of steps.
pub(super) fn components(documents: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..documents).collect();
    pairs.for_each(|(a, b)| unite(&mut parent, a, b));
    (0..documents).map(|document| root(&mut parent, document)).collect()
}

/// The smallest document of a component, with the path to it halved.
fn root(parent: &mut [usize], mut document: usize) -> usize {
    while parent[document] != document {
        parent[document] = parent[parent[document]];
        document = parent[document];
    }
    document
}

fn unite(parent: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b)] = a.min(b);
}
