//! `rethreshold`: byte for byte what a scan with the other threshold gives.

use std::fs;
use std::path::Path;

use onefold::{Format, PairsMode, Plan, ResultFolder, SavedResult, Sink, Source, rethreshold, run};

use crate::corpus::{Record, exec, stream};
use crate::generate::{Random, collection};

fn scan(plan: &Plan, records: &[Record], out: &Path, format: Format) {
    let (against, inputs): (Vec<Record>, Vec<Record>) = records.iter().cloned().partition(|record| record.id.starts_with("ref-"));
    let against = if against.is_empty() { Vec::new() } else { stream(&against) };
    let mut folder = ResultFolder::new(out);
    folder.format = format;
    run(plan, &exec(2), Source { inputs: stream(&inputs), against }, &mut folder).unwrap();
}

fn compare(a: &Path, b: &Path, plan: &Plan) {
    let names = |folder: &Path| {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(a), names(b));
    for name in names(a).into_iter().filter(|name| name != "run.json") {
        assert!(fs::read(a.join(&name)).unwrap() == fs::read(b.join(&name)).unwrap(), "{name:?} differs: {plan:?}");
    }
    let manifest = |folder: &Path| SavedResult::open(folder).unwrap().manifest;
    let (a, b) = (manifest(a), manifest(b));
    assert_eq!((a.counts, a.warnings, a.plan_digest), (b.counts, b.warnings, b.plan_digest), "{plan:?}");
}

#[test]
fn equals_a_scan_with_the_other_threshold() {
    for seed in 0..120 {
        let mut random = Random(seed);
        let mut records = collection(seed + 3000, 60);
        if random.chance(40) {
            records.iter_mut().filter(|_| random.chance(30)).for_each(|record| record.id = format!("ref-{}", record.id));
        }
        let base = Plan {
            ngram_size: 1 + random.below(6) as u32,
            protect: if random.chance(30) { vec!["keep-*".into()] } else { Vec::new() },
            cluster: random.pick(&[onefold::ClusterMode::Conservative, onefold::ClusterMode::Transitive]),
            relation: random.pick(&[onefold::Relate::Resemblance, onefold::Relate::Containment]),
            min_contained: 3,
            ..Plan::default()
        };
        let (threshold, floor, other) = random.pick(&[
            ("0.5", None, "0.8"),
            ("0.8", Some("0.3"), "0.4"),
            ("0.7", Some("0.3"), "0.3"),
            ("0.6", Some("0.5"), "0.95"),
            ("0.8", None, "0.8"),
            ("0.3", None, "1"),
        ]);
        let typed = |decimal: &str| decimal.parse().unwrap();
        let first = Plan { threshold: typed(threshold), floor: floor.map(typed), ..base };
        let second = Plan { threshold: typed(other), ..first.clone() };
        let format = random.pick(&[Format::Parquet, Format::Jsonl, Format::Csv]);
        let folder = tempfile::tempdir().unwrap();
        let [old, new, fresh] = ["old", "new", "fresh"].map(|name| folder.path().join(name));
        scan(&first, &records, &old, format);
        scan(&second, &records, &fresh, format);
        let mut target = ResultFolder::new(&new);
        target.format = format;
        target.prepare().unwrap();
        let outcome = rethreshold(&SavedResult::open(&old).unwrap(), &exec(2), typed(other)).unwrap();
        target.accept(&outcome, &exec(2)).unwrap();
        compare(&new, &fresh, &second);
    }
}

#[test]
fn what_was_not_listed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let records = collection(3, 30);
    let answer = |plan: &Plan, name: &str, threshold: &str| {
        let out = folder.path().join(name);
        scan(plan, &records, &out, Format::Jsonl);
        rethreshold(&SavedResult::open(&out).unwrap(), &exec(1), threshold.parse().unwrap())
    };
    let below = answer(&Plan::default(), "below", "0.7").unwrap_err().to_string();
    assert!(below.contains("at least 0.8"), "{below}");
    let star = answer(&Plan { pairs: PairsMode::Star, ..Plan::default() }, "star", "0.9").unwrap_err().to_string();
    assert!(star.contains("star"), "{star}");
}
