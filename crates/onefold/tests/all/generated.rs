//! Equal to brute force on thousands of generated documents, with every setting at random.

use onefold::{Discard, PairsMode};

use crate::compare::{Ask, Expected};
use crate::corpus::{Record, STREAM, run_on, run_on_disk, stream};
use crate::generate::{Random, collection};
use crate::oracle::{Facts, Key, Overlaps};

/// Rules, protection and clusters that have nothing to do with the pairs.
fn vary(random: &mut Random, mut ask: Ask) -> Ask {
    let mut keys = Key::ALL;
    random.shuffle(&mut keys);
    ask.keep = random.chance(60).then(|| keys[..1 + random.below(3)].to_vec());
    ask.protect = match random.below(4) {
        0 => vec!["keep-".into()],
        1 => vec!["kept-".into(), "doc-1".into()],
        _ => Vec::new(),
    };
    ask.transitive = random.chance(40);
    ask
}

fn check(ask: &Ask, records: &[Record], facts: &Facts, overlaps: &Overlaps) {
    let expected = Expected::new(ask, facts, overlaps);
    let all = run_on(&ask.plan(PairsMode::All), stream(records));
    expected.check_verdicts(&all);
    expected.check_pairs(&all);
    let all_on_disk = run_on_disk(&ask.plan(PairsMode::All), stream(records), &mut Discard);
    expected.check_verdicts(&all_on_disk);
    expected.check_pairs(&all_on_disk);
    let star = run_on(&ask.plan(PairsMode::Star), stream(records));
    expected.check_verdicts(&star);
    expected.check_star(&star);
}

#[test]
fn three_thousand_documents_equal_brute_force() {
    let records = collection(1, 3000);
    let facts = Facts::new(&records, STREAM);
    let mut random = Random(2);
    for width in [3, 5, 10] {
        let overlaps = Overlaps::new(&facts, width as usize, "0.5");
        for threshold in ["0.5", "0.8", "0.95", "1.0"] {
            let ask = Ask::new(threshold, width);
            check(&ask, &records, &facts, &overlaps);
            check(&vary(&mut random, ask), &records, &facts, &overlaps);
        }
    }
}

/// Small collections meet settings that the large one has no time for.
#[test]
fn hundreds_of_small_collections_equal_brute_force() {
    let thresholds =
        ["0.01", "0.1", "0.25", "0.333333333", "0.5", "0.6", "0.666666667", "0.75", "0.8", "0.9", "0.99", "0.999999999", "1"];
    for seed in 0..400 {
        let mut random = Random(seed);
        let records = collection(seed + 1000, 2 + random.below(60));
        let facts = Facts::new(&records, STREAM);
        let width = 1 + random.below(12) as u32;
        let overlaps = Overlaps::new(&facts, width as usize, "0");
        let ask = Ask::new(random.pick(&thresholds), width);
        check(&vary(&mut random, ask), &records, &facts, &overlaps);
    }
}
