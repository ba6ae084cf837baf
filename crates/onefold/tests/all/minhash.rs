//! The method `minhash`: what it finds is true, and it finds what it promises.

use std::collections::HashMap;

use onefold::{Guarantee, Method, MinHashSettings, Outcome, PairsMode, Plan};

use crate::compare::{Ask, Expected};
use crate::corpus::{Record, file, memory, real, run_on};
use crate::oracle::{Facts, Overlaps};

/// Resemblances by pair of documents.
type Listed = HashMap<(u32, u32), f64>;

fn listed(outcome: &Outcome) -> Listed {
    outcome.pairs.to_vec().unwrap().iter().map(|pair| ((pair.first, pair.second), pair.similarity.as_f64())).collect()
}

fn plan(ask: &Ask, seed: u64) -> Plan {
    Plan { method: Method::MinHash(MinHashSettings { seed, ..MinHashSettings::default() }), ..ask.plan(PairsMode::All) }
}

fn promised(plan: &Plan) -> f64 {
    match plan.guarantee(100).unwrap() {
        Guarantee::Probabilistic { miss_rate } => 1.0 - miss_rate,
        other => panic!("{other:?}"),
    }
}

#[test]
fn minhash_finds_true_pairs_and_as_many_as_it_promises() {
    for (name, width) in [("revisions_sitepolicy", 5), ("parkr_ndd", 3)] {
        let Some((path, records)) = real(name) else { return };
        let path = path.to_str().unwrap().to_string();
        let facts = Facts::new(&records, &path);
        let overlaps = Overlaps::new(&facts, width as usize, "0.5");
        for threshold in ["0.5", "0.8", "0.95"] {
            let ask = Ask::new(threshold, width);
            let rows = Expected::new(&ask, &facts, &overlaps).rows();
            let truth: Listed = rows.iter().map(|row| ((row.0 as u32, row.1 as u32), row.3)).collect();
            let outcomes = [42, 7].map(|seed| run_on(&plan(&ask, seed), vec![file(&path)]));
            outcomes.iter().for_each(|outcome| check(outcome, &truth, name));
            let found: usize = outcomes.iter().map(|outcome| near(&listed(outcome))).sum();
            let (recall, promise) = (found as f64 / (2 * near(&truth)).max(1) as f64, promised(&plan(&ask, 42)));
            // Pairs of one set share its sketch, so misses come in groups: a percent of slack on top of the promise.
            assert!(near(&truth) == 0 || recall >= promise - 0.01, "{name} {threshold}: {recall} of the promised {promise}");
        }
    }
}

/// Nothing that is not true, and of the equal sets, which need no luck, all.
fn check(outcome: &Outcome, truth: &Listed, name: &str) {
    let found = listed(outcome);
    for (pair, resemblance) in &found {
        assert_eq!(truth.get(pair), Some(resemblance), "{name} {pair:?}");
    }
    assert_eq!(found.len() - near(&found), truth.len() - near(truth), "{name}: equal sets");
    estimates_lie_near(outcome, name);
    let t = outcome.plan.threshold;
    assert!(outcome.verdicts.iter().all(|verdict| verdict.similarity.reaches(t)));
}

/// Pairs that the bands have to find.
fn near(pairs: &Listed) -> usize {
    pairs.values().filter(|&&resemblance| resemblance < 1.0).count()
}

/// Four standard deviations of 120 or more coin tosses.
fn estimates_lie_near(outcome: &Outcome, name: &str) {
    let mut far = 0;
    for pair in &outcome.pairs.to_vec().unwrap() {
        let (estimate, resemblance) = (pair.estimate.unwrap(), pair.similarity.as_f64());
        let deviation = (resemblance * (1.0 - resemblance) / 120.0).sqrt();
        assert!(resemblance < 1.0 || estimate == 1.0, "{name}: equal sets, estimate {estimate}");
        far += usize::from((estimate - resemblance).abs() > 4.0 * deviation + 1e-9);
    }
    assert!(far * 200 <= outcome.pairs.len(), "{name}: {far} of {} estimates are far off", outcome.pairs.len());
}

/// Only pairs right above the threshold are at risk, and each seed throws the dice again.
#[test]
fn pairs_at_the_threshold_are_missed_no_more_often_than_stated() {
    let words = |from: usize, count: usize| (from..from + count).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    // Two sets of 90 with 80 in common: 80 / 100. Every pair has words of its own.
    let pairs = 400;
    let sides = (0..pairs).flat_map(|n| [(format!("a{n}"), words(n * 200, 90)), (format!("b{n}"), words(n * 200 + 10, 90))]);
    let records: Vec<_> = sides.map(|(id, text)| Record::new(&id, &text)).collect();
    let ask = Ask::new("0.8", 1);
    let (mut found, seeds) = (0, 5);
    for seed in 0..seeds {
        found += run_on(&plan(&ask, seed), memory(&records)).pairs.len();
    }
    let tosses = (pairs as u64 * seeds) as f64;
    let promise = promised(&plan(&ask, 0));
    let deviation = (promise * (1.0 - promise) * tosses).sqrt();
    assert!(promise >= 0.98, "{promise}");
    assert!(found as f64 >= promise * tosses - 4.0 * deviation, "{found} of {tosses}, promised {promise}");
}
