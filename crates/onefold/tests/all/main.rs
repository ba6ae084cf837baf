//! The library from outside: every answer is compared with an oracle that shares no code with it.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on should stop, and say why")]

mod against;
mod cases;
mod collisions;
mod compare;
mod corpus;
mod determinism;
mod edit;
mod floor;
mod generate;
mod generated;
mod idf;
mod ids;
mod invariants;
mod kept;
mod limits;
mod methods;
mod minhash;
mod oracle;
mod real;
mod rethreshold;
mod unicode;
mod whole;
