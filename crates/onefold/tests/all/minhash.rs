//! The method `minhash`: what it finds is true, and it finds what it promises.

use std::collections::HashMap;

use onefold::{Guarantee, Input, Method, MinHashSettings, Outcome, PairsMode, Plan};

use crate::compare::{Ask, Expected};
use crate::corpus::{real, run_on};
use crate::oracle::{Facts, Overlaps};

/// Resemblances by pair of documents, as listed.
fn listed(outcome: &Outcome) -> HashMap<(u32, u32), f64> {
    outcome.pairs.iter().map(|pair| ((pair.first, pair.second), pair.similarity.as_f64())).collect()
}

fn plan(ask: &Ask, seed: u64) -> Plan {
    Plan { method: Method::MinHash(MinHashSettings { seed, ..MinHashSettings::default() }), ..ask.plan(PairsMode::All) }
}

fn promised(plan: &Plan) -> f64 {
    match plan.method.guarantee(plan.threshold).unwrap() {
        Guarantee::Probabilistic { miss_rate } => 1.0 - miss_rate,
        Guarantee::Exact => 1.0,
    }
}

#[test]
fn minhash_finds_true_pairs_and_as_many_as_it_promises() {
    for (name, width) in [("revisions_sitepolicy", 5), ("parkr_ndd", 3), ("webis_s3_terabyte", 5)] {
        let Some((path, records)) = real(name) else { return };
        let path = path.to_str().unwrap().to_string();
        let facts = Facts::new(&records, &path);
        let overlaps = Overlaps::new(&facts, width as usize, "0.5");
        for threshold in ["0.5", "0.8", "0.95"] {
            let ask = Ask::new(threshold, width);
            let expected = Expected::new(&ask, &facts, &overlaps);
            let exact = run_on(&ask.plan(PairsMode::All), vec![Input::Path(path.clone())]);
            expected.check_pairs(&exact);
            let truth = listed(&exact);
            let (mut looked_for, mut found) = (0, 0);
            for seed in [42, 7] {
                let plan = plan(&ask, seed);
                let outcome = run_on(&plan, vec![Input::Path(path.clone())]);
                let seen = listed(&outcome);
                for (pair, resemblance) in &seen {
                    assert_eq!(truth.get(pair), Some(resemblance), "{name} {ask:?} {pair:?}");
                }
                looked_for += truth.values().filter(|&&resemblance| resemblance < 1.0).count();
                found += seen.values().filter(|&&resemblance| resemblance < 1.0).count();
                // Equal sets need no luck.
                assert_eq!(truth.values().filter(|&&r| r == 1.0).count(), seen.values().filter(|&&r| r == 1.0).count());
                estimates_lie_near(&outcome, name);
                removed_reach_the_threshold(&outcome);
            }
            // Pairs of one set share its sketch, so misses come in groups: a percent of slack on top of the promise.
            let (recall, promise) = (found as f64 / looked_for.max(1) as f64, promised(&plan(&ask, 42)));
            assert!(looked_for == 0 || recall >= promise - 0.01, "{name} {threshold}: {recall} of the promised {promise}");
        }
    }
}

/// Four standard deviations of 120 or more coin tosses.
fn estimates_lie_near(outcome: &Outcome, name: &str) {
    let mut far = 0;
    for pair in &outcome.pairs {
        let (estimate, resemblance) = (pair.estimate.unwrap(), pair.similarity.as_f64());
        let deviation = (resemblance * (1.0 - resemblance) / 120.0).sqrt();
        assert!(resemblance < 1.0 || estimate == 1.0, "{name}: equal sets, estimate {estimate}");
        far += usize::from((estimate - resemblance).abs() > 4.0 * deviation + 1e-9);
    }
    assert!(far * 200 <= outcome.pairs.len(), "{name}: {far} of {} estimates are far off", outcome.pairs.len());
}

fn removed_reach_the_threshold(outcome: &Outcome) {
    let t = outcome.plan.threshold;
    assert!(outcome.verdicts.iter().all(|verdict| verdict.similarity.reaches(t)));
}

/// Only pairs right above the threshold are at risk, and each seed throws the dice again.
#[test]
fn pairs_at_the_threshold_are_missed_no_more_often_than_stated() {
    let words = |from: usize, count: usize| (from..from + count).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    // Two sets of 90 with 80 in common: 80 / 100. Every pair has words of its own.
    let pairs = 400;
    let sides = (0..pairs).flat_map(|n| [(format!("a{n}"), words(n * 200, 90)), (format!("b{n}"), words(n * 200 + 10, 90))]);
    let records: Vec<_> = sides.map(|(id, text)| crate::corpus::Record::new(&id, &text)).collect();
    let ask = Ask::new("0.8", 1);
    let (mut found, seeds) = (0, 5);
    for seed in 0..seeds {
        found += run_on(&plan(&ask, seed), crate::corpus::memory(&records)).pairs.len();
    }
    let tosses = (pairs as u64 * seeds) as f64;
    let promise = promised(&plan(&ask, 0));
    let deviation = (promise * (1.0 - promise) * tosses).sqrt();
    assert!(promise >= 0.98, "{promise}");
    assert!(found as f64 >= promise * tosses - 4.0 * deviation, "{found} of {tosses}, promised {promise}");
}
