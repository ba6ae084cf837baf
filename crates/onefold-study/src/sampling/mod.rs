//! What becomes of an answer when only a sample of the shingles is looked at: the experiments of Ye, Wen, Ma and of Nikkhoo, and plans that
//! keep a promise.
//!
//! `shelf` holds the sets of a collection, `trials` compares samples by remainder with the truth (Y18–Y34), `findings` looks for
//! what they found, `effects` for what other settings change (Y7, Y12, Y17), `rows` looks at all partners of
//! some documents, however little they share, `commonality` does Nikkhoo's experiments with it (N10–N25), `density` knows how alike pairs are
//! and what a sample would make of them (§8), `counted` what samples really make of them, `planner` chooses shares by a `table` of either, `tuning`
//! makes a plan of it (Y35–Y40), `model` says whether that arithmetic can be believed.

mod classes;
pub mod commonality;
mod counted;
mod density;
mod effects;
mod findings;
mod model;
mod planner;
mod rows;
mod shelf;
mod table;
mod tally;
mod trials;
mod tuning;

pub use classes::Classes;
pub use density::{Bin, Density};
pub use effects::{Agreement, DocumentPairs, Effect, distinct, effect};
pub use findings::{Finding, findings};
pub use model::{Comparison, compare_model};
pub use planner::{Goal, cheapest};
pub use rows::{Partner, Rows};
pub use shelf::{Shelf, Summary};
pub use table::{GRID, Outlook, Table};
pub use tally::Tally;
pub use trials::{Counted, Design, Mean, Trial, Trials, Truth, trials};
pub use tuning::{Advice, ClassAdvice, CurvePoint, Forecast, Wish, plan_for, tune};

#[cfg(test)]
mod real {
    use super::Shelf;
    use onefold::{Discard, Exec, Input, Plan};

    /// The shingles of real revisions of documents; nothing where they are not at hand, which is well outside of CI only.
    pub(super) fn revisions(exec: &Exec<'_>) -> Option<Shelf> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/revisions_sitepolicy/docs.jsonl");
        let path = std::path::PathBuf::from(path);
        if !path.exists() {
            assert!(std::env::var_os("CI").is_none(), "{} is missing", path.display());
            return None;
        }
        let plan = Plan { ngram_size: 10, ..Plan::default() };
        let collection = onefold::ingest(&plan, exec, vec![Input::Path(path)].into(), &Discard).unwrap();
        Some(Shelf::new(&collection, false).unwrap())
    }
}
