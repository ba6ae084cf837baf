//! Against plain loops over all pairs, and on a real collection.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use onefold::{Collection, Input, Plan};

use super::*;
use crate::sampling::trials::close_pairs;

/// Families of sets that slide along, copies among them, boilerplate of every frequency, shingles of one document and a document without any.
fn shelf() -> Shelf {
    let mut shelf = Shelf::default();
    for at in 0..128u64 {
        let (family, step) = (at % 7, at / 14);
        let own = (step * 12..step * 12 + 40 + 12 * family).map(|n| family * 1000 + n);
        let boilerplate =
            (0..12).filter(|group| at * 37 % 128 < 3 + group * 11).flat_map(|group| (0..8).map(move |n| 10_000 + group * 8 + n));
        let alone = (0..at % 4).map(|n| 20_000 + at * 4 + n);
        let set: BTreeSet<u64> = own.chain(boilerplate).chain(alone).map(|n| onefold::sample_value(n, 3)).collect();
        shelf.sets.push(set);
        shelf.words.push(100);
    }
    shelf.sets.push([]);
    shelf.words.push(2);
    shelf
}

fn documents_with(shelf: &Shelf) -> HashMap<u64, u64> {
    let mut documents = HashMap::new();
    shelf.sets.iter().flatten().for_each(|&shingle| *documents.entry(shingle).or_default() += 1);
    documents
}

fn common(a: &[u64], b: &[u64]) -> usize {
    a.iter().filter(|shingle| b.binary_search(shingle).is_ok()).count()
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    let (x, y) = (mean(pairs.iter().map(|pair| pair.0)), mean(pairs.iter().map(|pair| pair.1)));
    let covariance = mean(pairs.iter().map(|pair| (pair.0 - x) * (pair.1 - y)));
    let spread = mean(pairs.iter().map(|pair| (pair.0 - x).powi(2))) * mean(pairs.iter().map(|pair| (pair.1 - y).powi(2)));
    (spread > 1e-20).then(|| covariance / spread.sqrt())
}

/// What a cut does, by the definitions, as seen from some documents.
fn by_definition(shelf: &Shelf, looked_at: &[u32], kept: Kept) -> Cut {
    let documents_with = documents_with(shelf);
    let survives = |shingle: &u64| match kept {
        Kept::OneIn(modulo) => shingle.is_multiple_of(modulo.into()),
        Kept::UpTo(limit) => limit.is_none_or(|limit| documents_with[shingle] <= limit.into()),
    };
    let left: Vec<Vec<u64>> = shelf.sets.iter().map(|set| set.iter().copied().filter(survives).collect()).collect();
    let mut pairs = Vec::new();
    let [mut right, mut found, mut truth] = [0; 3];
    let (mut full_best, mut left_best) = (Vec::new(), Vec::new());
    for &a in looked_at {
        let [mut best, mut best_left] = [0; 2];
        for b in (0..shelf.len()).filter(|&b| b != a as usize) {
            let (first, second) = (shelf.sets.get(a as usize), shelf.sets.get(b));
            let full = common(first, second);
            if full == 0 {
                continue;
            }
            let (left_a, left_b) = (&left[a as usize], &left[b]);
            let still = common(left_a, left_b);
            let union = first.len() + second.len() - full;
            let left_union = match kept {
                Kept::OneIn(_) => left_a.len() + left_b.len() - still,
                Kept::UpTo(_) => first.len() + second.len() - still,
            };
            let share = |common: usize, union: usize| if common == 0 { 0.0 } else { common as f64 / union as f64 };
            pairs.push((share(full, union), share(still, left_union)));
            let tenths = |common: usize, union: usize| if common == 0 { 0 } else { (10 * common / union).min(9) };
            let (tenths, tenths_left) = (tenths(full, union), tenths(still, left_union));
            truth += u64::from(tenths >= 5);
            found += u64::from(tenths_left >= 5);
            right += u64::from(tenths >= 5 && tenths_left >= 5);
            best = best.max(tenths);
            best_left = best_left.max(tenths_left);
        }
        full_best.push(best);
        left_best.push(best_left);
    }
    let near = |best: &[usize]| best.iter().filter(|&&tenths| tenths >= 5).count() as u64;
    let both = full_best.iter().zip(&left_best).filter(|(full, left)| **full >= 5 && **left >= 5).count() as u64;
    let prevalence = |tenth: usize| {
        let documents = left_best.iter().filter(|&&best| best >= tenth).count() as u64;
        let with_shingles = shelf.sets.iter().filter(|set| !set.is_empty()).count() as f64 / shelf.len() as f64;
        let percent = Some(100.0 * documents as f64 / looked_at.len() as f64 * with_shingles);
        Prevalence { rr_at_least: format!("0.{tenth}").parse().unwrap(), documents, percent }
    };
    let emitted = |kept: &dyn Fn(&u64) -> bool| -> u64 {
        documents_with.iter().filter(|(shingle, _)| kept(shingle)).map(|(_, documents)| documents * (documents - 1) / 2).sum()
    };
    Cut {
        kept,
        shingles_share: Some(left.iter().map(Vec::len).sum::<usize>() as f64 / shelf.sets.total() as f64),
        emitted_pairs: emitted(&survives),
        emitted_share: Some(emitted(&survives) as f64 / emitted(&|_| true) as f64),
        prevalence: (1..=9).rev().map(prevalence).collect(),
        average_error: Some(mean(pairs.iter().map(|(full, left)| (full - left).abs()))),
        correlation: pearson(&pairs),
        pairs: PairScore::new(right, found, truth),
        near_duplicates: PairScore::new(both, near(&left_best), near(&full_best)),
    }
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    a.zip(b).map_or(a == b, |(a, b)| (a - b).abs() < 1e-9)
}

/// That all figures of all cuts are as defined.
fn check(shelf: &Shelf, result: &Commonality, looked_at: &[u32]) {
    let kept = MODULI.map(Kept::OneIn).into_iter().chain(LIMITS.map(Kept::UpTo));
    assert_eq!((result.samples.len(), result.limits.len()), (10, 11));
    for (cut, kept) in result.samples.iter().chain(&result.limits).zip(kept) {
        let expected = by_definition(shelf, looked_at, kept);
        let exact = |cut: &Cut| (cut.kept, cut.emitted_pairs, cut.pairs, cut.near_duplicates);
        assert_eq!(exact(cut), exact(&expected));
        let shares = |cut: &Cut| [cut.shingles_share, cut.emitted_share, cut.average_error, cut.correlation];
        let pairs = shares(cut).into_iter().zip(shares(&expected));
        assert!(pairs.into_iter().all(|(a, b)| near(a, b)), "{cut:?}\n{expected:?}");
        for (level, expected) in cut.prevalence.iter().zip(&expected.prevalence) {
            assert_eq!((level.rr_at_least, level.documents), (expected.rr_at_least, expected.documents), "{kept:?}");
            assert!(near(level.percent, expected.percent));
        }
    }
}

#[test]
fn figures_are_those_of_all_pairs() {
    let shelf = shelf();
    let result = commonality(&shelf, u64::MAX, &Exec::default()).unwrap();
    assert_eq!((result.documents, result.with_shingles, result.looked_at, result.complete), (129, 128, 128, true));
    assert_eq!(result.shingles, shelf.sets.total() as u64);
    check(&shelf, &result, &(0..128).collect::<Vec<u32>>());
    let whole = &result.samples[0];
    assert!(whole.near_duplicates.recall == Some(1.0) && whole.average_error == Some(0.0) && near(whole.correlation, Some(1.0)));
    assert!(result.samples[3].pairs.precision < Some(1.0), "samples invent pairs");
    for limit in &result.limits {
        assert_eq!(limit.pairs.precision, Some(1.0), "N23: limits never do");
    }
    assert!(result.limits[10].pairs.recall < result.limits[1].pairs.recall);
}

#[test]
fn threads_change_nothing() {
    let on = |threads: usize| commonality(&shelf(), u64::MAX, &Exec { threads, ..Exec::default() }).unwrap();
    assert_eq!(on(1), on(4));
}

#[test]
fn a_budget_looks_at_some() {
    let shelf = shelf();
    let documents_with = documents_with(&shelf);
    let steps: u64 = documents_with.values().filter(|&&documents| documents > 1).map(|documents| documents.pow(2)).sum();
    let exec = Exec::default();
    let rows = Rows::new(&shelf.sets, steps / 3, &exec).unwrap();
    let result = commonality(&shelf, steps / 3, &exec).unwrap();
    assert!(!result.complete && (20..70).contains(&result.looked_at), "{}", result.looked_at);
    check(&shelf, &result, rows.chosen());
    let whole = commonality(&shelf, steps, &exec).unwrap();
    assert!(whole.complete && whole.most_common == result.most_common);
    let none = commonality(&shelf, 0, &exec).unwrap();
    let cut = &none.samples[0];
    assert_eq!((none.looked_at, cut.average_error, cut.prevalence[0].percent), (0, None, None));
}

#[test]
fn nothing_is_no_error() {
    let result = commonality(&Shelf::default(), BUDGET, &Exec::default()).unwrap();
    assert!(result.complete && result.most_common.is_empty());
    assert!(result.table(Table::LimitQuality).contains("\n100,,,,,0.0433,0.8511,0.9127,1.0000\n"));
}

#[test]
fn the_most_common_come_first() {
    let shelf = shelf();
    let mut expected: Vec<(u64, u64)> = documents_with(&shelf).into_iter().collect();
    expected.sort_by_key(|&(shingle, documents)| (std::cmp::Reverse(documents), shingle));
    let result = commonality(&shelf, BUDGET, &Exec::default()).unwrap();
    assert_eq!(result.most_common.len(), MOST_COMMON);
    for (common, (shingle, documents)) in result.most_common.iter().zip(expected) {
        let first = shelf.sets.iter().position(|set| set.contains(&shingle)).unwrap() as u32;
        assert_eq!(*common, CommonShingle { shingle, documents, first, text: None });
    }
}

/// Every published cell has one of ours beside it.
#[test]
fn tables_have_both() {
    let result = commonality(&shelf(), BUDGET, &Exec::default()).unwrap();
    for table in Table::ALL {
        let ours = result.table(table);
        assert_eq!(ours.lines().count(), table.published().lines().count());
        for (line, published) in ours.lines().zip(table.published().lines()) {
            let (cells, published): (Vec<&str>, Vec<&str>) = (line.split(',').collect(), published.split(',').collect());
            let keys = 2 * published.len() - cells.len();
            assert_eq!(cells[..keys], published[..keys], "{table:?}");
            let values = &cells[published.len()..];
            assert!(
                values.iter().zip(&published[keys..]).all(|(value, cell)| value.trim_start_matches("published_") == *cell),
                "{line}"
            );
        }
    }
    let percent = result.samples[5].prevalence[4].percent.unwrap();
    assert!(result.table(Table::SamplePrevalence).contains(&format!("\n0.5,3.13,{percent:.4},17.88\n")));
    let cut = &result.limits[4];
    let values = [cut.average_error, cut.correlation, cut.pairs.recall].map(|value| format!("{:.6}", value.unwrap())).join(",");
    let table = result.table(Table::LimitQuality);
    assert!(table.contains(&format!("\n70,{values},1.000000,0.0628,0.7756,0.8982,1.0000\n")), "{table}");
    assert!(table.starts_with("sct,average_error,correlation,recall,precision,published_average_error,published_correlation,"));
    assert!(Table::ALL.iter().all(|table| table.file_name().ends_with(".csv")));
}

/// A real collection, or nothing where the data is not there.
fn real(plan: &Plan) -> Option<Collection> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/revisions_sitepolicy/docs.jsonl"));
    if !path.exists() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no data at {}", path.display());
        return None;
    }
    let exec = Exec { keep_texts: true, ..Exec::default() };
    Some(onefold::ingest(plan, &exec, vec![Input::Path(path)].into(), &onefold::Discard).unwrap())
}

/// Revisions of policies: the pairs are those of the exact join, and common shingles are found in their documents.
#[test]
fn revisions_of_policies() {
    let mut plan = Plan::default();
    onefold::preset("nikkhoo2010").unwrap().apply(&mut plan);
    let Some(collection) = real(&plan) else { return };
    let shelf = Shelf::new(&collection, true).unwrap();
    let exec = Exec::default();
    let mut result = commonality(&shelf, BUDGET, &exec).unwrap();
    assert!(result.complete && result.documents == 1030);

    let pairs = close_pairs(&shelf.sets, Threshold::HALF, &exec).unwrap();
    let whole = &result.samples[0];
    assert_eq!(whole.pairs.true_positives, 2 * pairs.len() as u64, "each from both sides");
    let near: BTreeSet<u32> = pairs.iter().flat_map(|pair| [pair.first, pair.second]).collect();
    assert_eq!(whole.prevalence[4].documents, near.len() as u64);

    assert!(result.limits.iter().all(|limit| limit.pairs.precision == Some(1.0)), "N23");
    let errors = |cuts: &[Cut]| cuts.iter().map(|cut| cut.average_error.unwrap()).collect::<Vec<_>>();
    assert!(errors(&result.samples).is_sorted() && errors(&result.limits).is_sorted(), "{result:#?}");
    assert!((result.samples[1].shingles_share.unwrap() - 0.5).abs() < 0.01);

    result.find_texts(&collection.texts, plan.recipe());
    for common in &result.most_common {
        let text = common.text.as_ref().unwrap();
        assert_eq!(text.chars().count(), 64, "{text}");
    }
}
