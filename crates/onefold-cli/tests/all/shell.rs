//! Completions and manual pages.

use std::fs;

use crate::place::Place;

#[test]
fn completions_know_the_flags() {
    for shell in ["bash", "zsh", "fish"] {
        let script = Place::new().onefold(["completions", shell]).run().exits(0).stdout;
        assert!(script.contains("threshold") && script.contains("evaluate"), "{shell}");
    }
    Place::new().onefold(["completions", "dos"]).run().exits(2).says(&["dos"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    place.onefold(["man", "--out", "pages"]).run().exits(0);
    let pages = place.listing("pages");
    for name in
        ["onefold", "onefold-scan", "onefold-evaluate", "onefold-compare", "onefold-explain", "onefold-pairs", "onefold-report"]
    {
        assert!(pages.contains(&format!("{name}.1")), "{name}: {pages:?}");
    }
    let scan = fs::read_to_string(place.at("pages/onefold-scan.1")).unwrap();
    assert!(scan.contains(".TH onefold-scan") && scan.contains("threshold"), "{}", &scan[..300]);
}
