//! onefold finds the documents of a collection that say the same thing, proves it, and keeps one of each.
//!
//! All near-duplicate detection follows one path, and the modules are its stages:
//!
//! | stage | from → to |
//! |---|---|
//! | 1 `read` | inputs → bytes with identity |
//! | 2 `extract` | bytes → text |
//! | 3 `normalize` | text → tokens |
//! | 4 `shingle` | tokens → sets of hashed w-word shingles |
//! | 5 `learn` | shingle sets → statistics of the collection |
//! | 6 `fingerprint` | shingle set → join keys |
//! | 7 `join` | join keys → candidate pairs |
//! | 8 `verify` | candidate → measured pair |
//! | 9 `rank` | who would be kept |
//! | 10 `cluster` | pairs and ranks → stars around the kept |
//! | 11 `report` | the outcome → a result folder |
//!
//! Hashes propose, verification decides: no document is called a duplicate on a signature alone, and every removed
//! document reaches the threshold with the very document that is kept for it.
//!
//! ```
//! use onefold::{Discard, Document, Exec, Input, Plan, run};
//!
//! let text = "the quick brown fox jumps over the lazy dog and runs into the deep dark wood";
//! let document = |id: &str, text: &str| Document { id: Some(id.into()), text: text.into(), ..Document::default() };
//! let documents = vec![document("a", text), document("b", &text.to_uppercase()), document("c", "something else entirely, one of a kind")];
//!
//! let outcome = run(&Plan::default(), &Exec::default(), vec![Input::Documents(documents)], &mut Discard)?;
//!
//! assert_eq!(outcome.counts.kept, 2);
//! assert_eq!(outcome.counts.exact, 1);
//! # Ok::<(), onefold::Error>(())
//! ```

mod arenas;
mod cluster;
mod document;
mod error;
mod estimate;
mod exec;
mod extract;
mod fingerprint;
mod hash_sets;
mod join;
mod learn;
mod neighbours;
mod normalize;
mod outcome;
mod plan;
mod presets;
mod rank;
mod read;
mod reference;
mod report;
mod rethreshold;
mod reuse;
mod run;
mod shingle;
mod threshold;
mod verify;
#[cfg(target_arch = "x86_64")]
mod wide;

pub use cluster::{ClusterMode, Members};
pub use document::{
    Collection, CollisionCounts, Counted, Digest, DocIndex, Document, Entry, Flags, InputFile, Locator, WordCounts,
};
pub use error::{Error, ErrorKind, Result, SkipKind, Skipped, printable};
pub use estimate::{Estimate, estimate};
pub use exec::{Exec, Memory, Observer, Silent, Spill, parse_size};
pub use fingerprint::{
    AdaptiveSettings, BottomKSettings, Compare, Detection, Guarantee, HenzingerSettings, IMatchSettings, Method, MinHashSettings,
    Minima, SampleSettings, SampleSizes, SimHashFeatures, SimHashSettings, SizeClass, SupershinglesSettings, TermsSettings,
    Weights, WinnowingSettings, sample_bound, sample_value,
};
pub use hash_sets::{CloseSets, HashSets};
pub use normalize::{Filtering, Language, Numbers, TextRules, Tokenizer, Tokens};
pub use plan::{Columns, PairsMode, Plan, Relate, Remove, Verify};
pub use presets::{PRESETS, Preset, preset};
pub use rank::{KeepRules, Preference, Rule};
#[cfg(feature = "parquet")]
pub use read::panic_is_caught;
pub use read::warc;
pub use read::{FieldReader, Input, Parsed, Source, TextPlace, ingest, read_column, read_file, read_texts};
pub use report::{
    Discard, ExpandedPair, FileDigest, Format, KeptFolder, Manifest, PairsTable, ResultFolder, Row, SavedResult, Sink,
    check_out_folder, replace_file, replace_file_with,
};
pub use rethreshold::rethreshold;
pub use reuse::{LeftOut, Place, RepeatedPassage, Reuse, ReuseSettings, Sequences, SharedPassage, reuse};
pub use run::{Counts, Outcome, Pair, PairRows, Reason, ReferenceCounts, Relation, SourceCounts, Stage, Verdict, Warning, run};
pub use shingle::hash::FINGERPRINT_VERSION;
pub use shingle::{Hash, Recipe, Shingler, Unit, text_of_shingle};
pub use threshold::{Threshold, Tolerance};
pub use verify::diff::{Change, Diff, Kind, diff};
pub use verify::edit::{Normalizer, edit_distance, edit_distance_at_most};
pub use verify::passages::Passage;
pub use verify::simhash::SimHash;
pub use verify::{Comparison, Similarity, resemblance};
