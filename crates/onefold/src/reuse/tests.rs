//! Beside brute force: every diagonal of every two documents, every run counted by itself.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::document::Document;
use crate::shingle::hash::mix;
use crate::verify::passages::Passage;

/// A passage: documents, words, length.
type Found = (u32, u32, usize, usize, usize);

fn sequences(documents: &[Vec<u64>]) -> Sequences {
    let mut sequences = Sequences::default();
    documents.iter().for_each(|words| sequences.push(words));
    sequences
}

fn find(documents: &[Vec<u64>], words: u32, max_places: u32, top: usize) -> Reuse {
    let settings = ReuseSettings { words, max_places, top };
    reuse(&sequences(documents), &settings, &Exec { threads: 2, ..Exec::default() }).unwrap()
}

fn listed(reuse: &Reuse) -> Vec<Found> {
    let one = |shared: &SharedPassage| {
        let Passage { first, second, length } = shared.passage;
        (shared.first, shared.second, first, second, length)
    };
    reuse.passages.iter().map(one).collect()
}

/// Every run of `words` words with its places, as (document, word).
fn places(documents: &[Vec<u64>], words: usize) -> BTreeMap<&[u64], Vec<(u32, u32)>> {
    let mut places: BTreeMap<&[u64], Vec<(u32, u32)>> = BTreeMap::new();
    for (document, all) in (0..).zip(documents) {
        for (word, run) in (0..).zip(all.windows(words)) {
            places.entry(run).or_default().push((document, word));
        }
    }
    places
}

/// Runs of equal words on all diagonals, of at least `least` words.
fn maximal(a: &[u64], b: &[u64], least: usize) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    let starts = (0..a.len()).map(|first| (first, 0)).chain((1..b.len()).map(|second| (0, second)));
    for (first, second) in starts {
        let length = (a.len() - first).min(b.len() - second);
        let mut run = 0;
        for step in 0..=length {
            if step < length && a[first + step] == b[second + step] {
                run += 1;
            } else {
                if run >= least {
                    found.push((first + step - run, second + step - run, run));
                }
                run = 0;
            }
        }
    }
    found
}

/// What must be listed, and nothing else.
fn expected(documents: &[Vec<u64>], words: usize, max_places: usize) -> Vec<Found> {
    let places = places(documents, words);
    let mut all = Vec::new();
    for (i, a) in (0..).zip(documents) {
        for (j, b) in (0..).zip(documents).skip(i as usize + 1) {
            let few = |&(first, _, length): &(usize, usize, usize)| {
                a[first..first + length].windows(words).any(|run| places[run].len() <= max_places)
            };
            let found = maximal(a, b, words).into_iter().filter(few);
            all.extend(found.map(|(first, second, length)| (i, j, first, second, length)));
        }
    }
    all.sort_unstable();
    all
}

/// What is said of repeated passages holds, and runs that were not paired up lie in them.
fn check_repeated(documents: &[Vec<u64>], words: usize, max_places: usize, found: &Reuse) {
    let runs = places(documents, words);
    let mut seen = BTreeSet::new();
    for passage in &found.repeated {
        let first = passage.examples[0];
        let text = &documents[first.document as usize][first.word as usize..][..passage.words as usize];
        let all: Vec<(u32, u32)> = places(documents, text.len()).remove(text).unwrap();
        let distinct: BTreeSet<u32> = all.iter().map(|place| place.0).collect();
        assert_eq!((passage.places, passage.documents), (all.len() as u32, distinct.len() as u32));
        assert!(passage.documents > 1 && passage.words as usize >= words);
        assert!(passage.examples.iter().all(|example| all.contains(&(example.document, example.word))));
        assert_eq!(passage.paired, text.windows(words).all(|run| runs[run].len() <= max_places));
        for run in text.windows(words).collect::<BTreeSet<_>>() {
            assert!(seen.insert(run), "a run lies in two passages");
        }
    }
    let in_two = |places: &[(u32, u32)]| places.iter().any(|place| place.0 != places[0].0);
    let crowded = runs.iter().filter(|(_, places)| places.len() > max_places && in_two(places));
    let mut left_out = LeftOut::default();
    for (run, places) in crowded {
        assert!(seen.contains(run), "a run that was not paired up is not listed");
        left_out = LeftOut { runs: left_out.runs + 1, places: left_out.places + places.len() as u64 };
    }
    assert_eq!(found.left_out, left_out);
    let order: Vec<_> = found.repeated.iter().map(|passage| (passage.documents, passage.places)).collect();
    assert!(order.is_sorted_by(|a, b| a >= b), "{order:?}");
}

/// Words that another document has as well, in a run of `words`.
fn shared_words(documents: &[Vec<u64>], words: usize) -> u64 {
    let mut shared = BTreeSet::new();
    for places in places(documents, words).values().filter(|places| places.iter().any(|place| place.0 != places[0].0)) {
        places.iter().for_each(|&(document, word)| shared.extend((word..word + words as u32).map(|word| (document, word))));
    }
    shared.len() as u64
}

#[track_caller]
fn check(documents: &[Vec<u64>], words: u32, max_places: u32, top: usize) -> Reuse {
    let found = find(documents, words, max_places, top);
    assert_eq!(listed(&found), expected(documents, words as usize, max_places as usize), "{words} {max_places} {documents:?}");
    check_repeated(documents, words as usize, max_places as usize, &found);
    assert_eq!(found.shared_words, shared_words(documents, words as usize));
    let pairs: BTreeSet<(u32, u32)> = found.passages.iter().map(|shared| (shared.first, shared.second)).collect();
    assert_eq!((found.pairs, found.documents), (pairs.len() as u64, documents.len() as u64));
    found
}

/// Numbers that look random, and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 += 1;
        (mix(self.0) % limit as u64) as usize
    }
}

/// Documents of few different words, with passages of others planted in them; some are empty or short.
fn planted(dice: &mut Dice, kinds: usize) -> Vec<Vec<u64>> {
    let mut documents: Vec<Vec<u64>> = Vec::new();
    for _ in 0..2 + dice.below(7) {
        let mut words: Vec<u64> = (0..dice.below(60)).map(|_| mix(dice.below(kinds) as u64)).collect();
        for _ in 0..dice.below(4) {
            let Some(other) = (!documents.is_empty()).then(|| &documents[dice.below(documents.len())]) else { break };
            let from = dice.below(other.len() + 1);
            let passage = other[from..from + dice.below(other.len() - from + 1)].to_vec();
            let at = dice.below(words.len() + 1);
            words.splice(at..at, passage);
        }
        words.truncate(200);
        documents.push(words);
    }
    documents
}

#[test]
fn as_brute_force_on_planted_passages() {
    let mut found = (0, 0);
    for round in 0..600u64 {
        let mut dice = Dice(round << 32);
        let kinds = [1, 2, 3, 5, 20, 1000][dice.below(6)];
        let documents = planted(&mut dice, kinds);
        let words = 1 + dice.below(14) as u32;
        let max_places = [2, 3, 5, 20, 10_000][dice.below(5)];
        let top = [0, 1, 5, 1000][dice.below(4)];
        let reuse = check(&documents, words, max_places, top);
        found = (found.0 + reuse.passages.len(), found.1 + reuse.left_out.runs);
    }
    assert!(found.0 > 10_000 && found.1 > 1000, "the cases are not empty: {found:?}");
}

#[test]
fn a_passage_of_just_enough_words_is_found() {
    for words in 1..60u64 {
        let passage: Vec<u64> = (0..words).map(|n| mix(n + 1_000_000)).collect();
        let around = |name: u64, count: u64| (0..count).map(|n| mix(name << 32 | n)).collect::<Vec<u64>>();
        let documents = [
            [around(1, words * 3), passage.clone(), around(2, words)].concat(),
            [around(3, words), passage, around(4, words * 2)].concat(),
        ];
        let found = check(&documents, words as u32, 100, 1);
        assert_eq!(listed(&found), [(0, 1, 3 * words as usize, words as usize, words as usize)]);
        assert_eq!((found.shared_words, found.repeated.len()), (2 * words, 1));
        assert!(find(&documents, words as u32 + 1, 100, 1).passages.is_empty(), "one word more is too many");
    }
}

#[test]
fn boilerplate_is_a_passage_of_many_documents_and_no_pairs() {
    let unique = |document: u64, part: u64| (0..30).map(move |n| mix(document << 16 | part << 8 | n));
    let footer = |document: u64| (0..60).map(move |n| if document % 50 == 7 && n == 40 { mix(document) } else { mix(n << 40) });
    let document = |d: u64| unique(d, 1).chain(footer(d)).chain(unique(d, 2)).collect::<Vec<u64>>();
    let mut documents: Vec<Vec<u64>> = (0..3000).map(document).collect();
    // Two of them share more than the footer.
    let more: Vec<u64> = (0..40).map(|n| mix(n << 41 | 1)).collect();
    documents[5].extend(&more);
    documents[9].extend(&more);
    let found = find(&documents, 25, 100, 5);
    // One word of some footers differs: what comes before it and after it stands in all of them, or is too short.
    let shapes: Vec<_> = found.repeated.iter().map(|p| (p.documents, p.places, p.words, p.paired)).collect();
    assert_eq!(shapes, [(2940, 2940, 60, false), (2, 2, 40, true)]);
    assert_eq!(listed(&found), [(5, 9, 120, 120, 40)]);
    assert_eq!(found.left_out.runs, 36);
    assert_eq!(found.shared_words, 2940 * 60 + 60 * 40 + 80);
}

#[test]
fn a_passage_through_boilerplate_is_found_once() {
    // Two documents are the same; in the middle of each are two runs that many others have.
    let part = |name: u64| (0..12).map(move |n| mix(name << 20 | n));
    let whole: Vec<u64> = part(1).chain(part(2)).chain(part(3)).chain(part(4)).chain(part(5)).collect();
    let mut documents = vec![whole.clone(), whole];
    documents.extend((0..10).map(|other| part(100 + other).chain(part(2)).chain(part(200 + other)).chain(part(4)).collect()));
    let found = check(&documents, 6, 4, 5);
    assert_eq!(listed(&found), [(0, 1, 0, 0, 60)]);
}

#[test]
fn the_same_for_any_number_of_threads() {
    let documents: Vec<Vec<u64>> = (0..40).flat_map(|round| planted(&mut Dice(round << 40), 30)).collect();
    let settings = ReuseSettings { words: 4, max_places: 9, top: 50 };
    let said = |threads| {
        let found = reuse(&sequences(&documents), &settings, &Exec { threads, ..Exec::default() }).unwrap();
        assert!(found.passages.len() > 100 && found.repeated.len() > 20);
        (listed(&found), found.repeated)
    };
    assert_eq!(said(1), said(2));
    assert_eq!(said(1), said(7));
}

#[test]
fn settings_have_bounds() {
    let valid = |change: fn(&mut ReuseSettings)| {
        let mut settings = ReuseSettings::default();
        change(&mut settings);
        settings.validate().is_ok()
    };
    assert!(valid(|_| ()) && valid(|s| s.words = 1) && valid(|s| s.words = 10_000) && valid(|s| s.top = 0));
    assert!(!valid(|s| s.words = 0) && !valid(|s| s.words = 10_001) && !valid(|s| s.max_places = 1));
    assert!(find(&[], 5, 10, 5).passages.is_empty());
}

/// The words of a real collection, or nothing where it is not there.
fn real(name: &str) -> Option<(Vec<String>, Vec<Vec<u64>>)> {
    let path =
        std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(name).join("docs.jsonl");
    let Ok(rows) = std::fs::read_to_string(&path) else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no data at {}", path.display());
        return None;
    };
    let rows: Vec<serde_json::Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let text = |row: &serde_json::Value| Document { text: row["text"].as_str().unwrap().into(), ..Document::default() };
    let documents: Vec<Document> = rows.iter().map(text).collect();
    let words = Sequences::of_documents(&documents, &Exec::default()).unwrap();
    let ids = rows.iter().map(|row| row["id"].as_str().unwrap().to_string()).collect();
    Some((ids, (0..documents.len() as u32).map(|document| words.of(document).to_vec()).collect()))
}

#[test]
fn as_brute_force_on_news() {
    let Some((_, documents)) = real("parkr_ndd") else { return };
    // Among these are four pairs of near-duplicates.
    let documents = &documents[23..64];
    for (words, max_places) in [(25, 100), (8, 100), (4, 6)] {
        let found = check(documents, words, max_places, 20);
        assert!(found.pairs > 3, "{}", found.pairs);
    }
}

#[test]
fn as_brute_force_on_two_editions() {
    let Some((ids, documents)) = real("textreuse_ats") else { return };
    let cut = |id: &str| documents[ids.iter().position(|other| other == id).unwrap()].iter().copied().take(6000).collect();
    let editions: Vec<Vec<u64>> =
        ["remember00palm.txt", "remembermeorholy00palm.txt", "ca1851-match.txt", "ny1850-match.txt"].map(cut).into();
    let found = check(&editions, 25, 100, 20);
    assert!(found.passages.len() > 50, "{}", found.passages.len());
    // The longest passage is the one that comparing two documents shows first.
    let longest = crate::verify::passages::passages(&editions[0], &editions[1], 25)[0];
    assert!(found.passages.iter().any(|shared| (shared.first, shared.second, shared.passage) == (0, 1, longest)));
    assert!(found.passages.iter().all(|shared| shared.passage.length <= longest.length));
    check(&editions, 10, 100, 20);
}
