//! Hashes of few bits: how many different shingles look the same, counted and not guessed.

use std::collections::{BTreeMap, BTreeSet};

use onefold::{CollisionCounts, Discard, Hash, Plan, Recipe, Shingler, Tokenizer, Tokens, run};

use crate::corpus::{Record, exec, memory, real, run_on, run_on_disk};

/// All different shingles, as text.
fn shingles(records: &[Record], words: usize) -> BTreeSet<String> {
    let mut tokens = Tokens::default();
    let mut all = BTreeSet::new();
    for record in records {
        Tokenizer::default().tokenize(&record.text, &mut tokens);
        let text = String::from_utf8(tokens.canonical().to_vec()).unwrap();
        let list: Vec<&str> = text.split_terminator(' ').collect();
        all.extend(list.windows(words).map(|run| run.join(" ")));
    }
    all
}

/// How many of these texts have each hash.
fn by_hash(shingles: &BTreeSet<String>, recipe: Recipe) -> BTreeMap<u64, u64> {
    let (mut shingler, mut tokenizer, mut tokens) = (Shingler::new(recipe), Tokenizer::default(), Tokens::default());
    let mut with_hash = BTreeMap::new();
    for shingle in shingles {
        let mut hashes = Vec::new();
        tokenizer.tokenize(shingle, &mut tokens);
        shingler.shingle_into(shingle, &tokens, recipe, &mut hashes);
        *with_hash.entry(hashes[0]).or_default() += 1;
    }
    with_hash
}

fn counted(plan: &Plan, records: &[Record]) -> Option<CollisionCounts> {
    run_on(plan, memory(records)).counts.collisions
}

#[test]
fn what_is_counted_is_what_there_is() {
    let mut all = Vec::new();
    for name in ["revisions_sitepolicy", "textreuse_ats", "parkr_ndd", "webis_s3_terabyte"] {
        let Some((_, mut records)) = real(name) else { return };
        records.truncate(300);
        all.extend(records.into_iter().map(|record| Record { id: format!("{name}/{}", record.id), ..record }));
    }
    let plan = Plan { hash: Hash::Rabin32, ..Plan::default() };
    let different = shingles(&all, 5);
    let with_hash = by_hash(&different, plan.recipe());
    let pairs = |n: u64| n * (n - 1) / 2;
    let outcome = run_on(&plan, memory(&all));
    let found = outcome.counts.collisions.unwrap();
    // What is sampled is counted exactly.
    let sampled: Vec<u64> = with_hash.iter().filter(|(hash, _)| *hash % found.one_in == 0).map(|(_, n)| *n).collect();
    assert_eq!(found.shingles, found.one_in * sampled.iter().sum::<u64>());
    assert_eq!(found.measured, found.one_in * sampled.iter().map(|n| pairs(*n)).sum::<u64>());
    assert!(found.one_in > 1 && (found.shingles as f64 / different.len() as f64 - 1.0).abs() < 0.02, "{found:?}");
    // And the formula is about right for all of them.
    let really = with_hash.values().map(|n| pairs(*n)).sum::<u64>() as f64;
    assert!((really - found.expected).abs() < 5.0 * found.expected.sqrt(), "{really} pairs, {found:?}");
    assert!(outcome.warnings.iter().any(|warning| warning.code == "few_bits"));
    // Few enough to count them all.
    let few = counted(&plan, &all[..20]).unwrap();
    assert_eq!((few.bits, few.one_in, few.shingles), (32, 1, shingles(&all[..20], 5).len() as u64));
}

#[test]
fn who_counts_makes_no_difference_and_enough_bits_are_not_counted() {
    let Some((_, mut records)) = real("revisions_sitepolicy") else { return };
    records.truncate(300);
    for ngram_size in [1, 5] {
        let plan = Plan { hash: Hash::Rabin40, ngram_size, ..Plan::default() };
        let one = run(&plan, &exec(1), memory(&records), &mut Discard).unwrap().counts.collisions;
        assert!(one.is_some() && one == counted(&plan, &records));
        assert_eq!(one, run_on_disk(&plan, memory(&records), &mut Discard).counts.collisions);
    }
    for hash in [Hash::Fast, Hash::Rabin64, Hash::Md5, Hash::Sha1] {
        assert_eq!(counted(&Plan { hash, ..Plan::default() }, &records[..20]), None);
    }
}
