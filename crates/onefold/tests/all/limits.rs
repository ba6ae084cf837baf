//! Edges of the settings: thresholds (D9), widths, and the number of pairs.

use onefold::{ClusterMode, Discard, Error, ErrorKind, Outcome, PairsMode, Plan, Threshold, run};

use crate::corpus::{Record, exec, memory, run_on};

#[test]
fn what_is_no_threshold_is_a_usage_error() {
    for typed in [
        "0",
        "0.0",
        "-1",
        "-0.5",
        "1.0000001",
        "1.1",
        "2",
        "NaN",
        "nan",
        "inf",
        "-inf",
        "",
        " ",
        ".",
        "0,8",
        "80%",
        "1e-1",
        "+0.5",
        "0.5 ",
        "٠.٥",
    ] {
        let error = typed.parse::<Threshold>().expect_err(typed);
        assert_eq!(error.kind(), ErrorKind::Usage, "{typed}");
    }
}

#[test]
fn thresholds_are_the_decimals_that_were_typed() {
    for (typed, printed) in [
        ("0.8", "0.8"),
        (".5", "0.5"),
        ("1", "1"),
        ("1.000", "1"),
        ("0.10", "0.1"),
        ("0.000000001", "0.000000001"),
        ("01.0", "1"),
    ] {
        assert_eq!(typed.parse::<Threshold>().unwrap().to_string(), printed);
    }
    // Half of 0.55 of 100 shingles would be decided wrongly in floating point.
    let t: Threshold = "0.55".parse().unwrap();
    assert!(t.reached(55, 100) && !t.reached(54, 100));
    let t: Threshold = "0.999999999".parse().unwrap();
    assert!(!t.reached(u32::MAX - 5, u64::from(u32::MAX)) && t.reached(u32::MAX - 4, u64::from(u32::MAX)));
}

fn words(range: std::ops::Range<usize>) -> String {
    range.map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ")
}

fn pair_accepted(common: usize, alone: usize, threshold: &str) -> bool {
    let records = [Record::new("a", &words(0..common)), Record::new("b", &words(0..common + alone))];
    let plan = Plan { threshold: threshold.parse().unwrap(), ngram_size: 1, ..Plan::default() };
    !run_on(&plan, memory(&records)).pairs.is_empty()
}

#[test]
fn a_resemblance_equal_to_the_threshold_is_enough() {
    for (typed, percent) in [("0.55", 55), ("0.07", 7), ("0.29", 29), ("0.57", 57), ("0.8", 80), ("0.95", 95), ("0.99", 99)] {
        assert!(pair_accepted(percent, 100 - percent, typed), "{typed} is inclusive");
        assert!(!pair_accepted(percent - 1, 101 - percent, typed), "{typed} is a limit");
    }
    assert!(!pair_accepted(1_000, 1, "1.0") && pair_accepted(1_000, 1, "0.999"));
}

#[test]
fn widths_outside_the_range_are_usage_errors_and_wide_ones_only_find_equal_texts() {
    for ngram_size in [0, 1001, u32::MAX] {
        let error = run(&Plan { ngram_size, ..Plan::default() }, &exec(1), memory(&[Record::new("a", "text")]), &mut Discard)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
    let records =
        [Record::new("a", "one two three"), Record::new("b", "One, two, three!"), Record::new("c", "one two three four")];
    let outcome = run_on(&Plan { ngram_size: 1000, ..Plan::default() }, memory(&records));
    assert_eq!((outcome.counts.exact, outcome.counts.near), (1, 0));
    assert_eq!(outcome.counts.flagged_by_reason["too_short"], 3);
}

/// Twelve sets, each with a twin, all near one another: 12 rows inside families and 66 between them.
fn template() -> Vec<Record> {
    let text = |n: usize| format!("{} own{n}", words(0..99));
    (0..24).map(|n| Record::new(&format!("d{n:02}"), &text(n / 2))).collect()
}

fn limited(max_pairs: u64, pairs: PairsMode, cluster: ClusterMode) -> Result<Outcome, Error> {
    let plan = Plan { max_pairs: Some(max_pairs), ngram_size: 1, pairs, cluster, ..Plan::default() };
    run(&plan, &exec(2), memory(&template()), &mut Discard)
}

#[test]
fn one_pair_over_the_limit_stops_the_run_and_the_limit_itself_does_not() {
    assert_eq!(limited(78, PairsMode::All, ClusterMode::Conservative).unwrap().pairs.len(), 78);
    for limit in [77, 13, 12, 11, 1, 0] {
        match limited(limit, PairsMode::All, ClusterMode::Conservative) {
            Err(error @ Error::TooManyPairs { limit: told }) => {
                assert_eq!((told, error.kind()), (limit, ErrorKind::Refused));
                assert!(error.hint().unwrap().contains("star"));
            }
            other => panic!("{limit}: {other:?}"),
        }
    }
}

/// The advice of the error is `--pairs star`, so that must never stop.
#[test]
fn a_star_has_no_limit() {
    let star = limited(0, PairsMode::Star, ClusterMode::Conservative).unwrap();
    assert_eq!((star.pairs.len(), star.counts.kept), (23, 1));
}

#[test]
fn a_star_has_no_limit_with_transitive_clusters_either() {
    let star = limited(0, PairsMode::Star, ClusterMode::Transitive).unwrap();
    assert_eq!((star.pairs.len(), star.counts.largest_cluster), (23, 24));
}
