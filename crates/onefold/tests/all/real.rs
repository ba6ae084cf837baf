//! Equal to brute force on collections that other people wrote.

use onefold::PairsMode;

use crate::compare::{Ask, Expected};
use crate::corpus::{file, real, run_on};
use crate::oracle::{Facts, Overlaps};

const THRESHOLDS: [&str; 4] = ["0.5", "0.8", "0.95", "1.0"];
const WIDTHS: [u32; 3] = [3, 5, 10];

fn compare(name: &str) {
    let Some((path, records)) = real(name) else { return };
    let path = path.to_str().unwrap().to_string();
    let facts = Facts::new(&records, &path);
    for width in WIDTHS {
        let overlaps = Overlaps::new(&facts, width as usize, "0.5");
        for threshold in THRESHOLDS {
            let ask = Ask::new(threshold, width);
            let expected = Expected::new(&ask, &facts, &overlaps);
            let all = run_on(&ask.plan(PairsMode::All), vec![file(&path)]);
            expected.check_verdicts(&all);
            expected.check_pairs(&all);
            let star = run_on(&ask.plan(PairsMode::Star), vec![file(&path)]);
            expected.check_verdicts(&star);
            expected.check_star(&star);
        }
    }
}

#[test]
fn debian_manuals_equal_brute_force() {
    compare("debdocs_slice");
}

#[test]
fn policy_revisions_equal_brute_force() {
    compare("revisions_sitepolicy");
}

#[test]
fn judged_web_pages_equal_brute_force() {
    compare("webis_s3_terabyte");
}

#[test]
fn short_articles_equal_brute_force() {
    compare("parkr_ndd");
}

#[test]
fn long_tracts_equal_brute_force() {
    compare("textreuse_ats");
}
