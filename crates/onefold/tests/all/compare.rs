//! A question put to the library and to the oracle, and the comparison of the two answers.

use std::collections::{BTreeMap, HashMap};

use onefold::{ClusterMode, Outcome, Pair, PairsMode, Plan, Relation};

use crate::oracle::{Answer, Facts, Key, Overlaps, Ranks, Share, settle};

/// Settings that both sides understand.
#[derive(Clone, Debug)]
pub struct Ask {
    pub threshold: String,
    pub width: u32,
    /// `None`: the default rules.
    pub keep: Option<Vec<Key>>,
    /// Beginnings of ids or sources.
    pub protect: Vec<String>,
    pub transitive: bool,
    pub floor: Option<String>,
}

impl Ask {
    pub fn new(threshold: &str, width: u32) -> Ask {
        Ask { threshold: threshold.into(), width, keep: None, protect: Vec::new(), transitive: false, floor: None }
    }

    pub fn plan(&self, pairs: PairsMode) -> Plan {
        let typed = |keys: &Vec<Key>| keys.iter().map(|key| key.typed()).collect::<Vec<_>>().join(", ");
        let keep = self.keep.as_ref().map(typed);
        Plan {
            threshold: self.threshold.parse().unwrap(),
            floor: self.floor.as_ref().map(|floor| floor.parse().unwrap()),
            ngram_size: self.width,
            keep: keep.map(|rules| rules.parse().unwrap()).unwrap_or_default(),
            protect: self.protect.iter().map(|start| format!("{start}*")).collect(),
            cluster: if self.transitive { ClusterMode::Transitive } else { ClusterMode::Conservative },
            pairs,
            ..Plan::default()
        }
    }

    pub fn ranks(&self, facts: &Facts) -> Ranks {
        let default = vec![Key::ScoreDesc, Key::Longest];
        Ranks::new(facts, self.keep.as_ref().unwrap_or(&default), &self.protect)
    }

    fn share(&self) -> Share {
        Share::typed(&self.threshold)
    }
}

/// The question of `ask`, answered by the oracle once and compared with any number of outcomes.
pub struct Expected<'a> {
    ask: &'a Ask,
    facts: &'a Facts,
    overlaps: &'a Overlaps,
    ranks: Ranks,
    pub answer: Answer,
}

impl<'a> Expected<'a> {
    pub fn new(ask: &'a Ask, facts: &'a Facts, overlaps: &'a Overlaps) -> Self {
        let ranks = ask.ranks(facts);
        let answer = settle(facts, overlaps, &ranks, ask.share());
        Expected { ask, facts, overlaps, ranks, answer }
    }

    /// Verdicts and counts, the same in every mode of listing.
    pub fn check_verdicts(&self, outcome: &Outcome) {
        let documents = &outcome.collection.documents;
        assert_eq!(documents.len(), self.facts.len(), "{:?}", self.ask);
        let cluster = if self.ask.transitive { &self.answer.component } else { &self.answer.representative };
        let sizes = tally(cluster);
        for (at, verdict) in outcome.verdicts.iter().enumerate() {
            let fact = &self.facts.0[at];
            let about = || format!("{:?}: '{}' → '{}'", self.ask, fact.id, documents[verdict.representative as usize].id);
            assert_eq!(documents[at].id, fact.id, "{:?}", self.ask);
            assert_eq!(documents[at].digest.0, fact.digest, "{}", about());
            let representative = self.answer.representative[at];
            assert_eq!(
                verdict.representative as usize,
                representative,
                "representative: {} not '{}'",
                about(),
                self.facts.0[representative].id
            );
            let (overlap, union) = self.answer.similarity[at];
            assert_eq!(verdict.similarity.as_f64(), overlap as f64 / union as f64, "similarity: {}", about());
            assert_eq!(verdict.kept, representative == at, "keep: {}", about());
            assert_eq!(verdict.cluster as usize, cluster[at], "cluster: {}", about());
            assert_eq!(verdict.cluster_size, sizes[&cluster[at]], "cluster size: {}", about());
            assert_eq!(verdict.rank as usize, self.ranks.place[at], "rank: {}", about());
            let same_text = fact.words == self.facts.0[representative].words;
            let relation = if same_text { Relation::Exact } else { Relation::Near };
            assert_eq!(verdict.relation, (!verdict.kept).then_some(relation), "relation: {}", about());
        }
        self.check_counts(outcome, &sizes);
    }

    fn check_counts(&self, outcome: &Outcome, sizes: &HashMap<usize, u32>) {
        let counts = &outcome.counts;
        let kept = self.answer.representative.iter().enumerate().filter(|(at, representative)| at == *representative).count();
        assert_eq!(counts.kept, kept as u64);
        assert_eq!(counts.seen, counts.kept + counts.removed + counts.skipped);
        assert_eq!(counts.removed, counts.exact + counts.near);
        assert_eq!(counts.clusters, sizes.values().filter(|&&size| size > 1).count() as u64);
        assert_eq!(counts.largest_cluster, u64::from(*sizes.values().max().unwrap()));
    }

    /// The table of all pairs: row by row as it must be listed, and expanded.
    pub fn check_pairs(&self, outcome: &Outcome) {
        let found: Vec<Row> = outcome.pairs.to_vec().unwrap().iter().map(row).collect();
        let expected = self.rows();
        let missing = expected.iter().find(|row| found.binary_search_by_key(&(row.0, row.1), |r| (r.0, r.1)).is_err());
        assert_eq!(missing, None, "a pair is missing: {:?}", self.ask);
        assert_eq!(found, expected, "{:?}", self.ask);
        assert_eq!(expand(&outcome.pairs.to_vec().unwrap()), self.all_documents(), "{:?}", self.ask);
    }

    /// Families as a star to their smallest id, other sets by their smallest ids.
    pub fn rows(&self) -> Vec<Row> {
        let heads = |set: usize| self.overlaps.documents[set][0];
        let mut rows = Vec::new();
        for (set, documents) in self.overlaps.documents.iter().enumerate() {
            let size = self.overlaps.sizes[set];
            rows.extend(documents[1..].iter().map(|&document| (heads(set), document, size, 1.0, true)));
        }
        let floor = self.ask.floor.as_ref().map_or(self.ask.share(), |floor| Share::typed(floor));
        for (a, b, overlap, union) in self.overlaps.pairs().filter(|&(_, _, overlap, union)| floor.reached(overlap, union)) {
            let (a, b) = (heads(a), heads(b));
            let accepted = self.ask.share().reached(overlap, union);
            rows.push((a.min(b), a.max(b), overlap, overlap as f64 / union as f64, accepted));
        }
        rows.sort_by_key(|row| (row.0, row.1));
        rows
    }

    /// Every accepted pair of documents with its resemblance.
    fn all_documents(&self) -> BTreeMap<(usize, usize), f64> {
        let mut pairs = BTreeMap::new();
        let mut add = |a: usize, b: usize, resemblance: f64| _ = pairs.insert((a.min(b), a.max(b)), resemblance);
        let same = self.overlaps.documents.iter().map(|documents| (documents, documents, 1.0));
        let accepted = self.overlaps.pairs().filter(|&(_, _, overlap, union)| self.ask.share().reached(overlap, union));
        let documents = |set: usize| &self.overlaps.documents[set];
        let near = accepted.map(|(a, b, overlap, union)| (documents(a), documents(b), overlap as f64 / union as f64));
        for (left, right, resemblance) in same.chain(near) {
            left.iter().for_each(|&a| right.iter().filter(|&&b| a != b).for_each(|&b| add(a, b, resemblance)));
        }
        pairs
    }

    /// The table of `--pairs star`: each removed document with its representative.
    pub fn check_star(&self, outcome: &Outcome) {
        let mut expected = Vec::new();
        for (at, &representative) in self.answer.representative.iter().enumerate().filter(|(at, r)| at != *r) {
            let (overlap, union) = self.answer.similarity[at];
            let same_set = self.overlaps.set_of[at] == self.overlaps.set_of[representative];
            let common = if same_set { self.overlaps.sizes[self.overlaps.set_of[at]] } else { overlap };
            expected.push((at.min(representative), at.max(representative), common, overlap as f64 / union as f64, true));
        }
        expected.sort_by_key(|row| (row.0, row.1));
        assert_eq!(outcome.pairs.to_vec().unwrap().iter().map(row).collect::<Vec<_>>(), expected, "{:?}", self.ask);
    }
}

/// First, second, overlap, resemblance, accepted.
pub type Row = (usize, usize, u64, f64, bool);

fn row(pair: &Pair) -> Row {
    (pair.first as usize, pair.second as usize, pair.overlap.into(), pair.similarity.as_f64(), pair.accepted)
}

fn tally(names: &[usize]) -> HashMap<usize, u32> {
    let mut sizes = HashMap::new();
    names.iter().for_each(|&name| *sizes.entry(name).or_default() += 1);
    sizes
}

/// What contracts.md promises of the table: rows of r = 1 make families, other rows speak for all members of their families.
pub fn expand(pairs: &[Pair]) -> BTreeMap<(usize, usize), f64> {
    let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
    for (first, second, _, resemblance, _) in pairs.iter().map(row) {
        members.entry(first).or_insert_with(|| vec![first]);
        members.entry(second).or_insert_with(|| vec![second]);
        if resemblance == 1.0 {
            members.get_mut(&first).unwrap().push(second);
        }
    }
    let mut expanded = BTreeMap::new();
    let mut add = |a: usize, b: usize, resemblance: f64| _ = expanded.insert((a.min(b), a.max(b)), resemblance);
    for (first, second, _, resemblance, _) in pairs.iter().map(row).filter(|row| row.4) {
        let (left, right) = match resemblance == 1.0 {
            true => (&members[&first], &members[&first]),
            false => (&members[&first], &members[&second]),
        };
        left.iter().for_each(|&a| right.iter().filter(|&&b| a != b).for_each(|&b| add(a, b, resemblance)));
    }
    expanded
}
