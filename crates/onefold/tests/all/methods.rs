//! Every method: what it reports is true, it is the same however it is computed, and it finds as much as the literature says.

use std::collections::{HashMap, HashSet};

use onefold::{
    ClusterMode, Guarantee, Members, Method, Outcome, PRESETS, PairsMode, Plan, Recipe, SampleSettings, SimHashSettings, Verify,
    preset, resemblance,
};

use crate::corpus::{Record, exec, memory, real, run_on, run_on_disk, said};

/// Resemblances by pair of documents.
type Listed = HashMap<(u32, u32), f64>;

fn listed(outcome: &Outcome) -> Listed {
    outcome.pairs.to_vec().unwrap().iter().map(|pair| ((pair.first, pair.second), pair.similarity.as_f64())).collect()
}

fn plan_of(name: &str) -> Plan {
    let mut plan = Plan::default();
    preset(name).unwrap().apply(&mut plan);
    plan
}

/// Some documents, small enough to be looked at by all methods.
fn some(name: &str, most: usize) -> Option<Vec<Record>> {
    let (_, mut records) = real(name)?;
    records.truncate(most);
    Some(records)
}

#[test]
fn what_any_method_reports_is_true_by_its_own_shingles() {
    for name in ["revisions_sitepolicy", "parkr_ndd", "webis_s3_terabyte"] {
        let Some(records) = some(name, 400) else { return };
        for preset in &PRESETS {
            let plan = plan_of(preset.name);
            let exact = Plan { method: Method::Exact, common_shingles: None, ..plan.clone() };
            let truth = listed(&run_on(&exact, memory(&records)));
            let outcome = run_on(&plan, memory(&records));
            let found = listed(&outcome);
            for (pair, similarity) in &found {
                assert_eq!(truth.get(pair), Some(similarity), "{name} {} {pair:?}", preset.name);
            }
            if plan.guarantee(500).unwrap() == Guarantee::Exact {
                assert_eq!(found.len(), truth.len(), "{name} {}", preset.name);
            }
            let equal = |pairs: &Listed| pairs.values().filter(|&&similarity| similarity == 1.0).count();
            assert_eq!(equal(&found), equal(&truth), "{name} {}: equal sets need no luck", preset.name);
            assert!(outcome.verdicts.iter().all(|verdict| verdict.similarity.reaches(plan.threshold)), "{name} {}", preset.name);
        }
    }
}

/// Without verification the method's word counts; verification takes away what is not true, and nothing else.
#[test]
fn verification_takes_away_what_is_not_true() {
    let Some(records) = some("revisions_sitepolicy", 300) else { return };
    for name in ["minhash", "clean-living", "fetterly2003", "pi-simhash", "i-match", "winnowing", "henzinger", "cosine", "scam"] {
        let verified = plan_of(name);
        let plain = Plan { verify: Verify::None, ..verified.clone() };
        let proposed = listed(&run_on(&plain, memory(&records)));
        let kept: HashSet<(u32, u32)> = listed(&run_on(&verified, memory(&records))).into_keys().collect();
        let threshold = verified.threshold.as_f64();
        let expected = proposed.iter().filter(|(_, similarity)| **similarity >= threshold).map(|(pair, _)| *pair);
        assert_eq!(kept, expected.collect(), "{name}");
    }
}

#[test]
fn threads_and_memory_change_nothing() {
    let Some(records) = some("revisions_sitepolicy", 150) else { return };
    for preset in &PRESETS {
        for pairs in [PairsMode::All, PairsMode::Star] {
            let plan = Plan { pairs, ..plan_of(preset.name) };
            let run = |threads| onefold::run(&plan, &exec(threads), memory(&records), &mut onefold::Discard).unwrap();
            let first = said(&run(1));
            assert!(said(&run(4)) == first, "{}: 4 threads", preset.name);
            let on_disk = run_on_disk(&plan, memory(&records), &mut onefold::Discard);
            assert!(said(&on_disk) == first, "{} {pairs:?}: on disk", preset.name);
        }
    }
}

/// Y24, Y45: what is found inside groups of lengths is what is found without them, less the pairs between groups.
#[test]
fn groups_of_lengths_lose_the_pairs_between_them() {
    let Some(records) = some("revisions_sitepolicy", 400) else { return };
    let with = |groups: bool| {
        let mut plan = plan_of("ye2008");
        plan.method = Method::Sample(SampleSettings { groups, ..SampleSettings::default() });
        run_on(&plan, memory(&records))
    };
    let group = |outcome: &Outcome, document: u32| match outcome.collection.documents[document as usize].tokens {
        ..500 => 0,
        500..1000 => 1,
        tokens => 2 + tokens.min(9000) / 1000,
    };
    let all = with(false);
    let (inside, between): (Listed, Listed) =
        listed(&all).into_iter().partition(|((a, b), similarity)| *similarity == 1.0 || group(&all, *a) == group(&all, *b));
    assert_eq!(listed(&with(true)), inside);
    assert!(!inside.is_empty() && !between.is_empty(), "{} inside, {} between", inside.len(), between.len());
}

/// The same words are an exact copy, wherever lines end.
#[test]
fn exact_copies_are_found_by_any_shingles() {
    let words: Vec<String> = (0..24).map(|n| format!("w{n}")).collect();
    let layout = |per_line: usize| words.chunks(per_line).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n");
    let records: Vec<Record> = [2, 3, 24].map(|per_line| Record::new(&format!("d{per_line}"), &layout(per_line))).to_vec();
    for preset in &PRESETS {
        let outcome = run_on(&plan_of(preset.name), memory(&records));
        assert_eq!((outcome.counts.kept, outcome.counts.exact), (1, 2), "{}", preset.name);
    }
}

/// W12: one cluster by chains; by leaders in the order of arrival {A, B}, {C, D, E, F}, {G}.
#[test]
fn leaders_by_order_of_arrival() {
    let edges = [("A", "B"), ("B", "C"), ("C", "D"), ("C", "E"), ("C", "F"), ("F", "G")];
    let text = |name: &str| {
        let of = edges.iter().filter(|(a, b)| *a == name || *b == name);
        of.flat_map(|(a, b)| (0..10).map(move |n| format!("{a}{b}{n}"))).collect::<Vec<_>>().join(" ")
    };
    let records: Vec<Record> = ["A", "B", "C", "D", "E", "F", "G"].map(|name| Record::new(name, &text(name))).to_vec();
    let plan = Plan {
        keep: "order".parse().unwrap(),
        members: Members::First,
        ngram_size: 1,
        threshold: "0.2".parse().unwrap(),
        ..Plan::default()
    };
    let representatives = |plan: &Plan| {
        let outcome = run_on(plan, memory(&records));
        let id = |document: u32| outcome.collection.documents[document as usize].id.clone();
        let all: Vec<String> = outcome.verdicts.iter().map(|verdict| id(verdict.cluster)).collect();
        all.concat()
    };
    assert_eq!(representatives(&plan), "AACCCCG");
    assert_eq!(representatives(&Plan { cluster: ClusterMode::Transitive, ..plan }), "AAAAAAA");
}

/// Pairs of real documents that are not equal, with their resemblance and the number of shingles in either.
fn real_pairs(records: &[Record], recipe: Recipe) -> Vec<((u32, u32), f64, u32)> {
    let plan = Plan { ngram_size: recipe.size, threshold: "0.4".parse().unwrap(), ..Plan::default() };
    let outcome = run_on(&plan, memory(records));
    let pairs = outcome.pairs.to_vec().unwrap();
    let near = pairs.iter().filter(|pair| pair.similarity.overlap as u64 != pair.similarity.union);
    near.map(|pair| ((pair.first, pair.second), pair.similarity.as_f64(), pair.similarity.union as u32)).collect()
}

/// Compares how many pairs of each step of similarity a method proposes with what its formula expects. Pairs share documents, so chance
/// does not strike them one by one: the spread is that between seeds.
fn check_recall(name: &str, pairs: &[((u32, u32), f64, u32)], seeded: impl Fn(u64) -> Plan, records: &[Record]) {
    const SEEDS: u64 = 24;
    let found: Vec<Listed> = (1..=SEEDS).map(|seed| listed(&run_on(&seeded(seed), memory(records)))).collect();
    let mut looked_at = 0;
    for step in 8..20 {
        let (low, high) = (f64::from(step) / 20.0, f64::from(step + 1) / 20.0);
        let inside: Vec<_> = pairs.iter().filter(|(_, similarity, _)| (low..high).contains(similarity)).collect();
        if inside.len() < 20 {
            continue;
        }
        let plan = seeded(1);
        let expected: f64 = inside.iter().map(|(_, similarity, union)| plan.recall(*similarity, *union).unwrap().unwrap()).sum();
        let counts: Vec<f64> =
            found.iter().map(|found| inside.iter().filter(|(pair, ..)| found.contains_key(pair)).count() as f64).collect();
        let mean = counts.iter().sum::<f64>() / SEEDS as f64;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
        // Four standard errors; and never less than chance would give if pairs were independent.
        let share = (expected / inside.len() as f64).clamp(0.0, 1.0);
        let least = (inside.len() as f64 * share * (1.0 - share) / SEEDS as f64).sqrt();
        let band = 4.0 * (variance / SEEDS as f64).sqrt().max(least) + 0.01;
        assert!(
            (mean - expected).abs() <= band,
            "{name} at {low}: {mean:.2} of {} pairs, {expected:.2} expected, band {band:.2}",
            inside.len()
        );
        looked_at += 1;
    }
    assert!(looked_at >= 6, "{name}: only {looked_at} steps have pairs");
}

fn seeded(name: &str, seed: u64) -> Plan {
    let mut plan = Plan { verify: Verify::None, ..plan_of(name) };
    match &mut plan.method {
        Method::MinHash(settings) => settings.seed = seed,
        Method::Supershingles(settings) => settings.seed = seed,
        Method::SimHash(settings) => settings.seed = seed,
        other => panic!("{other:?} has no seed"),
    }
    plan
}

#[test]
fn recall_over_resemblance_is_that_of_the_formulas() {
    let Some(records) = some("revisions_sitepolicy", 500) else { return };
    let pairs = real_pairs(&records, Recipe::of_words(5));
    for name in ["minhash", "clean-living", "fetterly2003"] {
        check_recall(name, &pairs, |seed| seeded(name, seed), &records);
    }
}

#[test]
fn recall_of_simhash_over_the_cosine_is_that_of_the_formula() {
    let Some(records) = some("revisions_sitepolicy", 250) else { return };
    let mut ids: Vec<&Record> = records.iter().collect();
    ids.sort_by(|a, b| a.id.cmp(&b.id));
    // Features are the distinct runs of 3 and 5 words, so products and lengths are counts.
    let count = |a: &str, b: &str| [3, 5].map(|words| resemblance(a, b, Recipe::of_words(words)).map_or(0, |s| s.overlap));
    let sum = |counts: [u32; 2]| f64::from(counts[0] + counts[1]);
    let lengths: Vec<f64> = ids.iter().map(|record| sum(count(&record.text, &record.text)).sqrt()).collect();
    let cosine = |a: u32, b: u32| {
        let (x, y) = (a as usize, b as usize);
        sum(count(&ids[x].text, &ids[y].text)) / (lengths[x] * lengths[y])
    };
    let pairs: Vec<_> =
        real_pairs(&records, Recipe::of_words(5)).into_iter().map(|(pair, ..)| (pair, cosine(pair.0, pair.1), 0)).collect();
    for k in [3, 7, 12] {
        let plan = |seed: u64| {
            let mut plan = seeded("pi-simhash", seed);
            plan.method = Method::SimHash(SimHashSettings { k, seed, ..SimHashSettings::default() });
            plan
        };
        check_recall(&format!("simhash k = {k}"), &pairs, plan, &records);
    }
}
