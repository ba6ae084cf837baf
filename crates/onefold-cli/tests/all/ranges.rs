//! D9: settings outside their range are refused, with the range, before anything is created.

use crate::place::Place;

#[track_caller]
fn refused(options: &str, words: &[&str]) {
    let place = Place::with_documents();
    place.onefold(["scan", "in", "--out", "out"]).args(options.split(' ')).run().exits(2).says(words);
    assert!(!place.at("out").exists(), "nothing is created: {options}");
    place.onefold(["config"]).args(options.split(' ')).run().exits(2);
}

#[test]
fn d9_thresholds() {
    for bad in ["0", "0.0", "NaN", "nan", "-1", "-0.5", "1.0000001", "2", "inf", "eight", "0,8"] {
        refused(&format!("--threshold {bad}"), &["threshold", "above 0 and up to 1", bad]);
    }
    let place = Place::with_documents();
    place.onefold(["scan", "in", "--out", "out", "--threshold", ""]).run().exits(2).says(&["above 0 and up to 1"]);
}

#[test]
fn d9_the_floor_is_named_as_the_floor() {
    refused("--floor 2", &["floor", "above 0 and up to 1"]);
    refused("--floor 0.9", &["floor", "at most the threshold (0.8)"]);
    refused("--floor 0.5 --pairs star", &["pairs", "'all' where a floor is given"]);
}

#[test]
fn d9_a_threshold_of_one_is_equality_of_sets() {
    let place = Place::with_documents();
    place.write("in/d.txt", crate::place::text("a", 41));
    place.scan("in --threshold 1.0").exits(0);
    assert_eq!(place.removed().len(), 1, "the copy, not the near one: {:?}", place.removed());
    place.scan("in --threshold 0.9 --overwrite").exits(0);
    assert_eq!(place.removed().len(), 2);
}

#[test]
fn d9_words_in_a_shingle() {
    refused("--ngram-size 0", &["ngram-size", "from 1 to 1000", "'0'"]);
    refused("--ngram-size 1001", &["ngram-size", "from 1 to 1000", "'1001'"]);
}

#[test]
fn d9_bands_and_rows() {
    refused("--method minhash --bands 20 --rows 20", &["bands", "rows", "from 1 to num-perm (128)", "20 × 20"]);
    refused("--method minhash --bands 0", &["bands", "from 1 to num-perm (128)"]);
    refused("--method minhash --rows 129", &["rows", "from 1 to num-perm (128)"]);
    refused("--method minhash --bands 4294967295 --rows 4294967295", &["from 1 to num-perm (128)"]);
    refused("--method minhash --num-perm 0", &["num-perm", "from 1 to 4096"]);
    refused("--method minhash --num-perm 4097", &["num-perm", "from 1 to 4096"]);
    refused("--bands 4", &["--bands", "--method minhash"]);
}

#[test]
fn d9_more_words_than_a_document_has_is_no_error() {
    let place = Place::with_documents();
    place.scan("in --ngram-size 1000").exits(0);
    assert_eq!(place.flags("in/c.txt"), "too_short");
    assert_eq!(place.removed().len(), 1, "an exact copy is still one");
}

#[test]
fn other_ranges() {
    refused("--max-document-bytes 0", &["max-document-bytes", "at least 1"]);
    refused("--keep nonsense", &["keep", "nonsense"]);
    refused("--protect a[", &["protect"]);
    refused("--text-column=", &["text-column"]);
    let place = Place::with_documents();
    for bad in ["0", "1025"] {
        place.scan(&format!("in --threads {bad}")).exits(2).says(&["threads", "from 1 to 1024", bad]);
    }
    assert!(!place.at("out").exists());
}

/// "No limit" is what the largest number means, not "read nothing".
#[test]
fn the_largest_limit_is_no_limit() {
    let place = Place::with_documents();
    place.scan("in --max-document-bytes 18446744073709551615").exits(0);
    assert_eq!(place.removed().len(), 1);
    assert!(place.documents().values().all(|row| row.text("flags").is_empty()), "read as empty");
}

#[test]
fn more_true_pairs_than_allowed_are_refused_with_advice() {
    let place = Place::with_documents();
    place.write("in/d.txt", crate::place::text("a", 40));
    place.scan("in --max-pairs 1").exits(8).says(&["more than 1 pairs", "--pairs star"]);
    assert!(!place.at("out").exists());
    place.scan("in --max-pairs 1 --pairs star").exits(0);
    assert_eq!(place.removed().len(), 2);
}
