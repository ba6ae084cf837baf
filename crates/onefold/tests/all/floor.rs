//! `floor`: pairs below the threshold are listed as rejected, and nothing else changes.

use onefold::{PairsMode, Plan};

use crate::compare::{Ask, Expected};
use crate::corpus::{STREAM, run_on, stream};
use crate::generate::collection;
use crate::oracle::{Facts, Overlaps};

#[test]
fn rejected_pairs_are_listed_down_to_the_floor_and_nothing_else_changes() {
    let records = collection(31, 800);
    let facts = Facts::new(&records, STREAM);
    let overlaps = Overlaps::new(&facts, 4, "0.3");
    for (threshold, floor) in [("0.8", "0.5"), ("0.8", "0.3"), ("0.95", "0.8"), ("1.0", "0.6"), ("0.5", "0.5")] {
        let without = Ask { transitive: threshold == "0.8", protect: vec!["keep-".into()], ..Ask::new(threshold, 4) };
        let with = Ask { floor: Some(floor.into()), ..without.clone() };
        let expected = Expected::new(&with, &facts, &overlaps);
        let listed = run_on(&with.plan(PairsMode::All), stream(&records));
        expected.check_verdicts(&listed);
        expected.check_pairs(&listed);
        let plain = run_on(&without.plan(PairsMode::All), stream(&records));
        let accepted: Vec<_> = listed.pairs.to_vec().unwrap().iter().filter(|pair| pair.accepted).copied().collect();
        assert_eq!(accepted, plain.pairs.to_vec().unwrap(), "{with:?}");
        assert_eq!(listed.counts, plain.counts, "{with:?}");
        assert_eq!(threshold == floor, accepted.len() == listed.pairs.len(), "no rejected pair to look at: {with:?}");
    }
}

#[test]
fn a_floor_above_the_threshold_or_without_a_list_is_refused() {
    let typed = |decimal: &str| decimal.parse().unwrap();
    let above = Plan { threshold: typed("0.8"), floor: Some(typed("0.800000001")), ..Plan::default() };
    let unlisted = Plan { floor: Some(typed("0.5")), pairs: PairsMode::Star, ..Plan::default() };
    assert!(above.validate().is_err());
    assert!(unlisted.validate().is_err());
}
