//! The command as its users meet it: the built binary, real files, real signals, real full disks.
//!
//! Rows of the project's fault tables (F1, X12, S11, …) are named in the tests that provoke them. Everything runs in a folder of
//! its own; what needs rights or tools that a machine may lack is skipped aloud, and fails where `CI=true`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop where it finds a surprise, and says aloud what it skips"
)]

mod against;
mod archives;
mod bytes;
mod columns;
mod compare;
mod compression;
mod config;
mod determinism;
mod direction;
mod estimate;
mod evaluate;
mod full_disk;
mod gold;
mod hostile_parquet;
mod hostile_parquet_delta;
mod ids;
mod inputs;
mod kept;
mod kept_archives;
mod kept_faults;
mod kept_parquet;
mod links;
mod lock;
mod machine;
mod manifest;
mod memory;
mod messages;
mod methods;
mod names;
mod overwrite;
mod pairs;
mod passages;
mod permissions;
mod place;
mod program;
mod ranges;
mod report;
mod resume;
mod rows;
mod shell;
mod short;
mod signals;
mod snapshots;
mod special_files;
mod streams;
mod study;
mod summary;
