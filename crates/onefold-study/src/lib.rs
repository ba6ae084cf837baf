//! Measures what onefold finds: gold files and scores.
//!
//! `gold` reads what people or other programs say is a duplicate, `score` compares a result with it, `evaluate` does both for a
//! result folder, `bakeoff` lets methods compete on one
//! collection, `judge` finds the measure that agrees with labels. `sampling` is about samples of shingles, `study` does all its experiments.

pub mod bakeoff;
pub mod evaluate;
pub mod gold;
pub mod judge;
pub mod labelling;
pub mod sampling;
pub mod score;
pub mod study;
