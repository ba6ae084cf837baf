//! What becomes of an answer when only a sample of the shingles is looked at: the experiments of Ye, Wen, Ma and of Nikkhoo, and plans that
//! keep a promise.
//!
//! `shelf` holds the sets of a collection, `trials` compares samples by remainder with the truth (Y18–Y34), `rows` looks at all partners of
//! some documents, however little they share, `commonality` does Nikkhoo's experiments with it (N10–N25), `density` knows how alike pairs are
//! and what a sample would make of them (§8), `planner` chooses shares by that (Y35–Y40).

mod classes;
pub mod commonality;
mod rows;
mod shelf;
mod tally;
mod trials;

pub use classes::Classes;
pub use rows::{Partner, Rows};
pub use shelf::{Shelf, Summary};
pub use tally::Tally;
pub use trials::{Counted, Design, Mean, Trial, Trials, Truth, trials};
