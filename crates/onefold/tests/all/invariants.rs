//! The promises of reliability.md: partition (I1), one kept (I2), no chains (I3, D3), a second run changes nothing (I5).

use std::collections::{BTreeSet, HashMap};

use onefold::{ClusterMode, Outcome, PairsMode, Plan};

use crate::compare::Ask;
use crate::corpus::{Record, memory, real, run_on, stream};
use crate::generate::{Random, collection};
use crate::oracle::{Key, Share, tokens};

fn id(outcome: &Outcome, document: u32) -> &str {
    &outcome.collection.documents[document as usize].id
}

/// Resemblance from the text, by sets of word lists.
fn measured(a: &str, b: &str, width: usize) -> (u64, u64) {
    let (a, b) = (tokens(a), tokens(b));
    if a == b {
        return (1, 1);
    }
    let (a, b): (BTreeSet<&[String]>, BTreeSet<&[String]>) = (a.windows(width).collect(), b.windows(width).collect());
    (a.intersection(&b).count() as u64, a.union(&b).count() as u64)
}

fn check(outcome: &Outcome, records: &[Record], ask: &Ask) {
    let texts: HashMap<&str, &Record> = records.iter().map(|record| (record.id.as_str(), record)).collect();
    let mut clusters: HashMap<u32, Vec<u32>> = HashMap::new();
    assert_eq!(outcome.verdicts.len(), records.len(), "I1: one verdict each");
    for (at, verdict) in outcome.verdicts.iter().enumerate() {
        clusters.entry(verdict.cluster).or_default().push(at as u32);
        let keeper = &outcome.verdicts[verdict.representative as usize];
        assert!(keeper.kept && keeper.representative == verdict.representative, "a representative stands for itself");
        let (mine, its) = (texts[id(outcome, at as u32)], texts[id(outcome, verdict.representative)]);
        if verdict.kept {
            continue;
        }
        let (overlap, union) = measured(&mine.text, &its.text, ask.width as usize);
        assert!(
            Share::typed(&ask.threshold).reached(overlap, union),
            "I3: '{}' → '{}': {overlap}/{union}, {ask:?}",
            mine.id,
            its.id
        );
        assert_eq!(verdict.similarity.as_f64(), overlap as f64 / union as f64, "{ask:?}");
        assert!(!its.lossy || mine.lossy, "D11: lossy '{}' stands for whole '{}'", its.id, mine.id);
        assert!(!ask.protect.iter().any(|start| mine.id.starts_with(start)), "protected '{}' is removed", mine.id);
    }
    for (name, members) in &clusters {
        assert!(members.iter().all(|&member| outcome.verdicts[member as usize].cluster_size as usize == members.len()), "I1");
        let kept: Vec<u32> = members.iter().copied().filter(|&member| outcome.verdicts[member as usize].kept).collect();
        assert!(kept.contains(name), "a cluster is named by a survivor");
        assert!(ask.transitive || kept == [*name], "I2: one survivor");
    }
    let counts = &outcome.counts;
    assert_eq!(counts.seen, counts.kept + counts.removed + counts.skipped);
}

/// I5: what is left is left as it is.
fn check_again(outcome: &Outcome, records: &[Record], ask: &Ask) {
    let kept: BTreeSet<&str> =
        (0..).zip(&outcome.verdicts).filter(|(_, verdict)| verdict.kept).map(|(at, _)| id(outcome, at)).collect();
    let survivors: Vec<Record> = records.iter().filter(|record| kept.contains(record.id.as_str())).cloned().collect();
    let again = run_on(&ask.plan(PairsMode::Star), stream(&survivors));
    assert_eq!(again.counts.removed, 0, "{ask:?}");
    assert_eq!(again.counts.kept as usize, survivors.len());
}

#[test]
fn generated_collections_keep_the_promises() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let records = collection(seed + 5000, 150);
        let protect = if random.chance(50) { vec!["keep-".to_string()] } else { Vec::new() };
        let keep = random.chance(50).then(|| vec![random.pick(&Key::ALL), random.pick(&Key::ALL)]);
        let ask = Ask {
            protect,
            keep,
            transitive: random.chance(30),
            ..Ask::new(random.pick(&["0.4", "0.7", "0.85", "1"]), random.pick(&[1, 2, 4, 8]))
        };
        let outcome = run_on(&ask.plan(random.pick(&[PairsMode::All, PairsMode::Star])), stream(&records));
        check(&outcome, &records, &ask);
        check_again(&outcome, &records, &ask);
    }
}

#[test]
fn real_collections_keep_the_promises() {
    for name in ["parkr_ndd", "webis_s3_terabyte"] {
        let Some((_, records)) = real(name) else { continue };
        for threshold in ["0.3", "0.8"] {
            let ask = Ask::new(threshold, 5);
            let outcome = run_on(&ask.plan(PairsMode::All), stream(&records));
            check(&outcome, &records, &ask);
            check_again(&outcome, &records, &ask);
        }
    }
}

/// D3: a window of 104 words moves by 8; neighbours share 92 of 108 shingles, documents 13 apart share none.
#[test]
fn a_chain_is_never_removed_end_to_end() {
    let text = |n: usize| (n * 8..n * 8 + 104).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let records: Vec<Record> = (0..1000).map(|n| Record::new(&format!("{n:03}"), &text(n))).collect();
    assert_eq!(measured(&records[0].text, &records[1].text, 5), (92, 108));
    assert_eq!(measured(&records[0].text, &records[999].text, 5).0, 0);
    for keep in [None, Some(vec![Key::Id]), Some(vec![Key::Digest])] {
        let ask = Ask { keep, ..Ask::new("0.85", 5) };
        let outcome = run_on(&ask.plan(PairsMode::All), memory(&records));
        check(&outcome, &records, &ask);
        check_again(&outcome, &records, &ask);
        assert!((334..=500).contains(&outcome.counts.kept), "each survivor has two neighbours: {}", outcome.counts.kept);
        let transitive = run_on(&Plan { cluster: ClusterMode::Transitive, ..ask.plan(PairsMode::All) }, memory(&records));
        assert_eq!((transitive.counts.clusters, transitive.counts.largest_cluster), (1, 1000), "one chain");
        assert_eq!(transitive.counts.kept, outcome.counts.kept, "removal never follows it");
    }
}

#[test]
fn skipped_rows_are_accounted_for() {
    let rows = "{\"id\":\"a\",\"text\":\"one\"}\nnot json\n\n{\"id\":\"b\"}\n{\"id\":\"c\",\"text\":3}\n{\"id\":\"d\",\"text\":\"one\"}\n";
    let reader = Box::new(std::io::Cursor::new(rows.as_bytes().to_vec()));
    let outcome = run_on(&Plan::default(), vec![onefold::Input::Stream { name: "rows".into(), reader }]);
    let counts = &outcome.counts;
    assert_eq!((counts.seen, counts.kept, counts.removed, counts.skipped), (5, 1, 1, 3));
    assert_eq!(counts.skipped_by_reason.values().sum::<u64>(), 3);
    let lines: BTreeSet<&str> =
        outcome.collection.skipped.iter().filter(|s| s.reason != "too_short").map(|s| s.input.as_str()).collect();
    assert_eq!(lines, BTreeSet::from(["rows:2", "rows:4", "rows:5"]));
    assert!(outcome.is_partial());
}
