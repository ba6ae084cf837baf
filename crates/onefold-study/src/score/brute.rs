//! The same scores by the definitions: every pair is looked at, and nothing is shared with the code under test.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::published::{CoreCounts, core, news_copy};
use super::{Answer, BCubed, ClusterScore, Coverage, ErrorPair, PairScore, Scores, score};
use crate::gold::{Gold, JudgedPair};

/// A linear congruential generator (Knuth's MMIX constants): the same instances everywhere, for ever.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    /// A document of a small world; the order of the names is not that of the numbers.
    fn document(&mut self, world: usize) -> String {
        format!("d{}", (self.below(world) * 7 + 3) % 11)
    }
}

/// All documents of an answer, with their clusters.
fn clusters_of(answer: &Answer) -> BTreeMap<String, String> {
    let mut cluster = BTreeMap::new();
    for (document, name) in &answer.clusters {
        cluster.entry(document.clone()).or_insert_with(|| name.clone());
    }
    let ends = answer.pairs.iter().flat_map(|(a, b, _)| [a, b]);
    for document in answer.families.iter().flatten().chain(ends) {
        cluster.entry(document.clone()).or_insert_with(|| document.clone());
    }
    cluster
}

/// Every expanded pair with its resemblance.
fn expand(answer: &Answer) -> BTreeMap<(String, String), f64> {
    let documents: Vec<String> = clusters_of(answer).into_keys().collect();
    let mut family: HashMap<&str, usize> = documents.iter().map(String::as_str).zip(0..).collect();
    for members in &answer.families {
        for member in members {
            let (from, to) = (family[member.as_str()], family[members[0].as_str()]);
            family.values_mut().filter(|value| **value == from).for_each(|value| *value = to);
        }
    }
    let mut pairs = BTreeMap::new();
    for a in &documents {
        for b in documents.iter().filter(|b| *b > a) {
            let (f, g) = (family[a.as_str()], family[b.as_str()]);
            let rows = answer.pairs.iter().filter(|(x, y, _)| {
                let (x, y) = (family[x.as_str()], family[y.as_str()]);
                (x, y) == (f, g) || (y, x) == (f, g)
            });
            let best = rows.map(|row| row.2).reduce(f64::max);
            if let Some(resemblance) = if f == g { Some(1.0) } else { best } {
                pairs.insert((a.clone(), b.clone()), resemblance);
            }
        }
    }
    pairs
}

/// Every pair that counts, and whether it is right.
fn truth(answer: &Answer, gold: &Gold) -> BTreeMap<(String, String), bool> {
    let mut truth = BTreeMap::new();
    match gold {
        Gold::Pairs { pairs, labelled: true } => {
            truth.extend(pairs.iter().map(|pair| ((pair.a.clone(), pair.b.clone()), pair.positive)));
        }
        Gold::Pairs { pairs, .. } => {
            let listed: BTreeSet<_> = pairs.iter().map(|pair| (pair.a.clone(), pair.b.clone())).collect();
            let mut documents: BTreeSet<String> = clusters_of(answer).into_keys().collect();
            documents.extend(listed.iter().flat_map(|(a, b)| [a.clone(), b.clone()]));
            for a in &documents {
                for b in documents.iter().filter(|b| *b > a) {
                    let pair = (a.clone(), b.clone());
                    truth.insert(pair.clone(), listed.contains(&pair));
                }
            }
        }
        Gold::Classes(classes) => {
            for (a, class) in classes {
                for (b, other) in classes.iter().filter(|(b, _)| *b > a) {
                    truth.insert((a.clone(), b.clone()), class == other);
                }
            }
        }
    }
    truth
}

/// Counts (in both, only in the result, only in the gold, in neither).
fn tally(truth: &BTreeMap<(String, String), bool>, found: impl Fn(&(String, String)) -> bool) -> [u64; 4] {
    let mut counts = [0; 4];
    for (pair, &positive) in truth {
        let place = match (found(pair), positive) {
            (true, true) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (false, false) => 3,
        };
        counts[place] += 1;
    }
    counts
}

fn pair_score([tp, fp, fn_, _]: [u64; 4]) -> PairScore {
    let part = |part: u64, rest: u64| (part + rest > 0).then(|| part as f64 / (part + rest) as f64);
    PairScore {
        true_positives: tp,
        false_positives: fp,
        false_negatives: fn_,
        precision: part(tp, fp),
        recall: part(tp, fn_),
        f1: part(2 * tp, fp + fn_),
    }
}

/// The pair-counting form of the adjusted Rand index.
fn rand_index([both, result, gold, neither]: [u64; 4]) -> f64 {
    let [a, b, c, d] = [both, result, gold, neither].map(|count| count as f64);
    let possible = (a + b) * (b + d) + (a + c) * (c + d);
    if possible == 0.0 { 1.0 } else { 2.0 * (a * d - b * c) / possible }
}

fn b_cubed(classes: &BTreeMap<String, String>, same_cluster: impl Fn(&str, &str) -> bool) -> BCubed {
    let (mut precision, mut recall) = (0.0, 0.0);
    for (document, class) in classes {
        let cluster: Vec<_> = classes.iter().filter(|(other, _)| same_cluster(document, other)).collect();
        let both = cluster.iter().filter(|(_, other)| *other == class).count() as f64;
        precision += both / cluster.len() as f64 / classes.len() as f64;
        recall += both / classes.values().filter(|other| *other == class).count() as f64 / classes.len() as f64;
    }
    let f1 = 2.0 / (1.0 / precision + 1.0 / recall);
    BCubed { precision, recall, f1 }
}

/// The scores by the definitions.
fn by_definition(answer: &Answer, gold: &Gold, worst: usize) -> Scores {
    let (truth, expanded, cluster) = (truth(answer, gold), expand(answer), clusters_of(answer));
    let same_cluster = |a: &str, b: &str| a == b || cluster.get(a).is_some_and(|name| cluster.get(b) == Some(name));
    let in_clusters = tally(&truth, |(a, b)| same_cluster(a, b));
    let error = |pair: &(String, String), resemblance| ErrorPair { first: pair.0.clone(), second: pair.1.clone(), resemblance };
    let wrong = truth.iter().filter(|(pair, positive)| !**positive && expanded.contains_key(*pair));
    let mut wrong: Vec<ErrorPair> = wrong.map(|(pair, _)| error(pair, Some(expanded[pair]))).collect();
    wrong.sort_by(|a, b| b.resemblance.partial_cmp(&a.resemblance).unwrap());
    wrong.truncate(worst);
    let missed = truth.iter().filter(|(pair, positive)| **positive && !expanded.contains_key(*pair));
    let classes = match gold {
        Gold::Classes(classes) => Some(classes),
        Gold::Pairs { .. } => None,
    };
    Scores {
        documents: coverage(&cluster, gold, worst),
        pairs: pair_score(tally(&truth, |pair| expanded.contains_key(pair))),
        clusters: ClusterScore {
            pairs: pair_score(in_clusters),
            adjusted_rand_index: classes.map(|_| rand_index(in_clusters)),
            b_cubed: classes.map(|classes| b_cubed(classes, same_cluster)),
        },
        worst_false_positives: wrong,
        worst_false_negatives: missed.map(|(pair, _)| error(pair, None)).take(worst).collect(),
    }
}

fn coverage(cluster: &BTreeMap<String, String>, gold: &Gold, worst: usize) -> Coverage {
    let known: BTreeSet<&String> = cluster.keys().collect();
    let in_gold: BTreeSet<&String> = match gold {
        Gold::Classes(classes) => classes.keys().collect(),
        Gold::Pairs { pairs, .. } => pairs.iter().flat_map(|pair| [&pair.a, &pair.b]).collect(),
    };
    let unknown: Vec<&&String> = in_gold.difference(&known).collect();
    Coverage {
        in_gold: in_gold.len(),
        in_result: known.len(),
        unknown_to_result: unknown.len(),
        unknown_examples: unknown.iter().take(worst).map(|name| name.to_string()).collect(),
        not_in_gold: known.difference(&in_gold).count(),
    }
}

fn random_answer(random: &mut Random) -> Answer {
    let world = 1 + random.below(11);
    let mut answer = Answer::default();
    for _ in 0..random.below(14) {
        let (document, cluster) = (random.document(world), random.document(4));
        answer.clusters.push((document, cluster));
    }
    for _ in 0..random.below(4) {
        let family = (0..random.below(5)).map(|_| random.document(world)).collect();
        answer.families.push(family);
    }
    for _ in 0..random.below(7) {
        let resemblance = [0.5, 0.75, 0.9, 1.0][random.below(4)];
        answer.pairs.push((random.document(world), random.document(world), resemblance));
    }
    answer
}

fn random_gold(random: &mut Random) -> Gold {
    let world = 2 + random.below(10);
    let mut classes = BTreeMap::from([(random.document(world), "k0".to_owned())]);
    for _ in 0..random.below(16) {
        classes.insert(random.document(world), format!("k{}", random.below(4)));
    }
    if random.below(2) == 0 {
        return Gold::Classes(classes);
    }
    let labelled = random.below(2) == 0;
    let mut judged = BTreeMap::new();
    for _ in 0..random.below(12) {
        let (a, b) = (random.document(world), random.document(world));
        if a != b {
            let positive = !labelled || random.below(2) == 0;
            judged.insert((a.clone().min(b.clone()), a.max(b)), positive);
        }
    }
    let pairs = judged.into_iter().map(|((a, b), positive)| JudgedPair { a, b, positive }).collect();
    Gold::Pairs { pairs, labelled }
}

/// Takes out the floats that are summed in another order, once they are seen to be close.
fn without_sums(scores: &mut Scores) -> [f64; 4] {
    let sums = scores.clusters.b_cubed.take();
    let index = scores.clusters.adjusted_rand_index.take();
    let number = |read: fn(&BCubed) -> f64| sums.as_ref().map_or(-9.0, read);
    [index.unwrap_or(-9.0), number(|sums| sums.precision), number(|sums| sums.recall), number(|sums| sums.f1)]
}

#[test]
fn equals_the_definitions_on_random_instances() {
    let mut random = Random(20_240_229);
    for instance in 0..6000 {
        let (answer, gold) = (random_answer(&mut random), random_gold(&mut random));
        let worst = [0, 1, 3, 100][random.below(4)];
        let (mut found, mut expected) = (score(&answer, &gold, worst), by_definition(&answer, &gold, worst));
        let (sums, expected_sums) = (without_sums(&mut found), without_sums(&mut expected));
        let close = sums.iter().zip(expected_sums).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "instance {instance}: {sums:?} is not {expected_sums:?} for {answer:?} and {gold:?}");
        assert_eq!(found, expected, "instance {instance}: {answer:?} and {gold:?}");
    }
}

#[test]
fn order_of_rows_changes_no_bit() {
    let mut random = Random(7);
    for _ in 0..300 {
        let (mut answer, gold) = (random_answer(&mut random), random_gold(&mut random));
        answer.clusters.sort();
        answer.clusters.dedup_by(|a, b| a.0 == b.0);
        let before = score(&answer, &gold, 5);
        answer.clusters.reverse();
        answer.families.reverse();
        answer.families.iter_mut().for_each(|family| family.reverse());
        answer.pairs.reverse();
        assert_eq!(score(&answer, &gold, 5), before);
    }
}

/// Labelled and predicted duplicates of every document, as sets.
fn sets(answer: &Answer, gold: &Gold) -> BTreeMap<String, [BTreeSet<String>; 2]> {
    let mut cluster = clusters_of(answer);
    let labels: Vec<(String, String)> = match gold {
        Gold::Pairs { pairs, .. } => {
            pairs.iter().for_each(|pair| [&pair.a, &pair.b].into_iter().for_each(|id| own_cluster(&mut cluster, id)));
            let positive = pairs.iter().filter(|pair| pair.positive);
            positive.flat_map(|pair| [(pair.a.clone(), pair.b.clone()), (pair.b.clone(), pair.a.clone())]).collect()
        }
        Gold::Classes(classes) => {
            classes.keys().for_each(|id| own_cluster(&mut cluster, id));
            let peers = |(a, k): (&String, &String)| -> Vec<(String, String)> {
                classes.iter().filter(|(b, l)| *b != a && *l == k).map(|(b, _)| (a.clone(), b.clone())).collect()
            };
            classes.iter().flat_map(peers).collect()
        }
    };
    let of = |id: &String, name: &String| {
        let labelled = labels.iter().filter(|(a, _)| a == id).map(|(_, b)| b.clone()).collect();
        let predicted = cluster.iter().filter(|(b, other)| *b != id && *other == name).map(|(b, _)| b.clone()).collect();
        (id.clone(), [labelled, predicted])
    };
    cluster.iter().map(|(id, name)| of(id, name)).collect()
}

/// A document that the result does not know is alone.
fn own_cluster(cluster: &mut BTreeMap<String, String>, id: &str) {
    cluster.entry(id.to_owned()).or_insert_with(|| format!("unknown {id}"));
}

#[test]
fn published_scorers_equal_their_definitions_on_random_instances() {
    let mut random = Random(2_026);
    for instance in 0..3000 {
        let (answer, gold) = (random_answer(&mut random), random_gold(&mut random));
        let sets = sets(&answer, &gold);
        let mut counts = CoreCounts { scored: sets.len() as u64, ..CoreCounts::default() };
        for [labelled, predicted] in sets.values() {
            *match (labelled.is_empty(), predicted.is_empty()) {
                (true, true) => &mut counts.true_negatives,
                (false, true) => &mut counts.false_negatives,
                (false, false) if labelled.is_subset(predicted) => &mut counts.true_positives,
                _ => &mut counts.false_positives,
            } += 1;
            counts.equal_sets += u64::from(labelled == predicted);
        }
        assert_eq!(core(&answer, &gold, 0).counts, counts, "instance {instance}: {answer:?} and {gold:?}");

        // Classes as sets that grow until no label leads out of them.
        let close = |id: &String| {
            let mut class = BTreeSet::from([id.clone()]);
            loop {
                let more: BTreeSet<String> = class.iter().flat_map(|id| sets[id][0].iter().cloned()).collect();
                if more.is_subset(&class) {
                    return class;
                }
                class.extend(more);
            }
        };
        let mut pairs = [0; 4];
        for (a, [_, predicted]) in &sets {
            let class = close(a);
            for b in sets.keys().filter(|b| *b > a) {
                let place = match (predicted.contains(b), class.contains(b)) {
                    (true, true) => 0,
                    (true, false) => 1,
                    (false, true) => 2,
                    (false, false) => 3,
                };
                pairs[place] += 1;
            }
        }
        let found = news_copy(&answer, &gold, 0).adjusted_rand_index;
        let expected = (!sets.is_empty()).then(|| rand_index(pairs));
        let close = found.zip(expected).map_or(found == expected, |(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "instance {instance}: {found:?} is not {expected:?} for {answer:?} and {gold:?}");
    }
}
