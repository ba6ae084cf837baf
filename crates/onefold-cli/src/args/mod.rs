//! The command line, as typed. Defaults are not here: they are [`onefold::Plan::default`].

mod experiments;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::words::Color;
pub use experiments::{BakeoffArgs, StudyArgs, TuneArgs};

/// Finds the documents of a collection that say the same thing, proves it, and keeps one of each.
#[derive(Debug, Parser)]
#[command(name = "onefold", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What onefold can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find exact and near-duplicates, and say which documents to keep (deletes nothing)
    Scan(ScanArgs),
    /// Give the answer for another threshold, from the pairs of a result: nothing is compared again
    Rethreshold(RethresholdArgs),
    /// Compare a result with what people say are duplicates
    Evaluate(EvaluateArgs),
    /// Show how alike two documents are, and where they differ
    Compare(CompareArgs),
    /// Say why a document was kept or removed
    Explain(ExplainArgs),
    /// Make a page of a result that opens in any browser, without network or scripts
    Report(ReportArgs),
    /// Print the pairs of a result as JSONL
    Pairs(PairsArgs),
    /// Find the passages that documents share, with their positions, and those that are repeated most
    Passages(PassagesArgs),
    /// Let methods compete on a collection: what each finds, misses and invents beside the exact answer
    Bakeoff(BakeoffArgs),
    /// Measure what sampling, thresholds and sizes do to the answer: the published parameter studies on your collection
    Study(StudyArgs),
    /// State a precision, get the cheapest sampling of shingles that keeps it, as a plan for 'scan --config'
    Tune(TuneArgs),
    /// List the methods: what they do, what they promise, where they come from
    Methods(MethodsArgs),
    /// Print the plan that a scan would follow, as a TOML file for --config
    Config(ConfigArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Write manual pages
    Man(ManArgs),
}

/// `onefold completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `onefold man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Where to put the pages
    #[arg(short, long, value_name = "DIR", default_value = "man")]
    pub out: PathBuf,
}

/// `onefold scan`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  onefold scan documents/ --out result
  onefold scan a.jsonl.gz b.jsonl --threshold 0.9 --out result
  onefold scan new.jsonl --against corpus/ --out result --exclude-list known.txt
  zcat crawl.jsonl.gz | onefold scan - --text-column content --out result --pairs star
  onefold scan corpus/ --estimate --memory 8GiB

Exit codes: 0 complete, 2 wrong usage, 3 complete but some inputs were skipped or cut (see
skipped.jsonl), 4 no document found, 5 cannot write, 6 damaged spill file, 7 output folder in use,
8 refused (too many pairs, too little memory), 130 interrupted.")]
pub struct ScanArgs {
    /// Folders, files, or - for JSONL on standard input
    ///
    /// Folders are read recursively: plain text, Markdown, source code and HTML, told by content. JSONL, CSV, TSV and Parquet are read
    /// row by row, WARC and ARC record by record; all but Parquet may be compressed with gzip or zstd.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<OsString>,
    /// Also compare with these folders or files (repeatable)
    ///
    /// Their documents are the reference: an input that one of them resembles is removable. They have no rows in the result, are never
    /// removed, and are not compared with one another. A file that is named on both sides belongs to the reference alone.
    #[arg(long, value_name = "REF")]
    pub against: Vec<OsString>,
    /// Where to put the result; must not exist yet, or be empty
    #[arg(short, long, value_name = "DIR", required_unless_present = "estimate")]
    pub out: Option<PathBuf>,
    /// Only say what the scan would take: memory, disk and time, from a sample of the inputs; writes nothing
    ///
    /// At most about 32 MB are read. Pairs are not among what is predicted: a sample does not tell how many there are. Inputs that can be
    /// read only once (standard input, pipes) are refused.
    #[arg(long)]
    pub estimate: bool,
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Also write the kept documents below DIR, in files like those they came from
    ///
    /// DIR must not exist yet, or be empty. Each input has a file of its own name there, packed as it is: whole files, lines of JSONL,
    /// records of CSV, TSV, WARC and ARC are byte for byte what they were, rows of Parquet value for value. Inputs that can be read only
    /// once (standard input, pipes) are refused.
    #[arg(long, value_name = "DIR")]
    pub write_kept: Option<PathBuf>,
    /// Worker threads; all cores without it, fewer if --memory is small. The result is the same for any number
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub room: RoomArgs,
    /// Print the summary, or the estimate, as JSON on standard output
    #[arg(long)]
    pub json: bool,
    /// Print no progress and no summary
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub plan: PlanArgs,
}

/// What a run may take, and what becomes of it when it is interrupted.
#[derive(Debug, Args)]
pub struct RoomArgs {
    /// Most memory to take, such as 512MiB or 8GB; the rest goes to disk [default: half of what is free]
    ///
    /// The result is the same for any size. Less than 96 MiB is refused. What grows with the number of documents (about 500 bytes for each)
    /// stays in memory; a run that needs more than it may take says so and ends.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Where to put what does not fit in memory [default: the output folder]
    #[arg(long, value_name = "DIR")]
    pub temp_dir: Option<PathBuf>,
    /// Go on where an interrupted run of the same command stopped, and keep what is needed to do so again
    ///
    /// Inputs and settings must be the same. Without an interrupted run it begins anew. Runs that went to disk can always be resumed; one
    /// that fits in memory only if it was stopped with Ctrl-C while it read, or was begun with --resume.
    #[arg(long)]
    pub resume: bool,
}

/// How a result is written.
#[derive(Debug, Args)]
pub struct WritingArgs {
    /// Replace a former result in --out
    #[arg(long)]
    pub overwrite: bool,
    /// How to write the tables [default: parquet, or as the former result is written]
    #[arg(long, value_enum)]
    pub format: Option<TableFormat>,
    /// Also write the ids of removed documents to FILE, one a line
    #[arg(long, value_name = "FILE")]
    pub exclude_list: Option<PathBuf>,
    /// Make no report.html (it reads some texts again to show them)
    #[arg(long)]
    pub no_report: bool,
}

/// How tables are written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TableFormat {
    /// Typed columns, compressed
    Parquet,
    /// One JSON object a line
    Jsonl,
    /// Comma-separated with a header
    Csv,
}

/// Everything that can change the answer.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What counts as a duplicate, and what is kept")]
pub struct PlanArgs {
    /// Read settings from a TOML file; flags override it ('onefold config' prints one)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Resemblance from which two documents are near-duplicates; higher finds fewer [default: 0.8]
    #[arg(short, long, value_name = "T", allow_negative_numbers = true)]
    pub threshold: Option<String>,
    /// Words in a shingle; longer ones find fewer [default: 5]
    #[arg(short = 'w', long, value_name = "W")]
    pub ngram_size: Option<u32>,
    /// How candidates are found: a method, or a published work with all that it fixes; 'onefold methods' explains them [default: exact]
    #[arg(short, long, value_name = "NAME", value_parser = method_names())]
    pub method: Option<String>,
    /// Change any setting of the method or the plan, such as modulo=8 (repeatable); 'onefold config' prints them all
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What makes a candidate a pair: its resemblance on all shingles, its word edit distance, or the method's word as it was
    /// published [default: exact]
    #[arg(long, value_enum)]
    pub verify: Option<VerifyName>,
    /// With '--verify edit': the share of the longer document's words that may have to be inserted, deleted or replaced; higher finds
    /// more [default: 0.3]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub max_edit: Option<String>,
    /// Leave shingles that more than N documents have out of sketches; not with 'exact', which needs no limit
    #[arg(long, value_name = "N")]
    pub common_shingles: Option<u32>,
    /// What shingles are made of; --ngram-size says how many [default: words]
    #[arg(long, value_enum)]
    pub shingle: Option<UnitName>,
    /// How text is cut into words [default: words]
    #[arg(long, value_enum)]
    pub text: Option<TextName>,
    /// What becomes of numbers [default: keep]
    #[arg(long, value_enum)]
    pub numbers: Option<NumbersName>,
    /// Leave frequent words of a language out, such as en
    #[arg(long, value_name = "LANG")]
    pub stop_words: Option<String>,
    /// Take the endings of a language off words, such as en
    #[arg(long, value_name = "LANG")]
    pub stem: Option<String>,
    /// Leave out words that many documents have: those with ln(N/n) below X, where n of N documents have them; higher leaves out more
    ///
    /// The inputs are read twice, first to count words. 4 leaves out what one document in 55 has, 5 what one in 148 has.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub min_idf: Option<f64>,
    /// How shingles are hashed [default: fast]
    #[arg(long, value_enum)]
    pub hash: Option<HashName>,
    /// List rejected pairs, too, down to this resemblance [default: none]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub floor: Option<String>,
    /// What makes two documents belong together: that they say the same, or also that one lies inside the other [default: resemblance]
    ///
    /// With 'containment' such pairs are listed and clustered, but nothing more is removed without '--remove contained'.
    #[arg(long, value_enum)]
    pub relation: Option<RelationName>,
    /// With '--relation containment': the share of a document's shingles that another must have [default: 0.9]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub containment: Option<String>,
    /// A document with fewer shingles than this is too short to lie inside another, or to hold one [default: 20]
    #[arg(long, value_name = "N")]
    pub min_contained: Option<u32>,
    /// What is removable: duplicates, or also documents that lie inside the one kept for them [default: duplicates]
    #[arg(long, value_enum)]
    pub remove: Option<RemoveName>,
    /// Rules for which copy is kept, first rule first
    ///
    /// Of: protected, whole, score desc|asc, time newest|oldest, length longest|shortest, digest, id. A missing value ranks last.
    /// [default: "protected, whole, score desc, length longest, digest, id"]
    #[arg(short, long, value_name = "RULES")]
    pub keep: Option<String>,
    /// Never remove documents whose id or source matches (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub protect: Vec<String>,
    /// What cluster_id describes: a representative and what is near it, or everything connected [default: conservative]
    #[arg(long, value_enum)]
    pub cluster: Option<ClusterName>,
    /// Which pairs to list: all, or each document with its representative [default: all]
    #[arg(long, value_enum)]
    pub pairs: Option<PairsName>,
    /// Most pairs to list with '--pairs all' [default: the larger of 10 million and 200 × documents]
    #[arg(long, value_name = "N")]
    pub max_pairs: Option<u64>,
    #[command(flatten)]
    pub minhash: MinHashArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// Settings of `--method minhash`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "With --method minhash")]
pub struct MinHashArgs {
    /// Number of hash functions [default: 128]
    #[arg(long, value_name = "K")]
    pub num_perm: Option<u32>,
    /// Number of bands; more bands propose more [default: from the threshold]
    #[arg(long, value_name = "B")]
    pub bands: Option<u32>,
    /// Hashes in a band; more rows propose fewer [default: from the threshold]
    #[arg(long, value_name = "R")]
    pub rows: Option<u32>,
    /// Seed of the hash functions [default: 42]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// How inputs are read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadingArgs {
    /// Field of a JSONL row with the text; 'a.b' is b inside a [default: text]
    #[arg(long, value_name = "NAME")]
    pub text_column: Option<String>,
    /// Field with the id; rows without one are called FILE#LINE [default: id]
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    /// Field with the address [default: url]
    #[arg(long, value_name = "NAME")]
    pub url_column: Option<String>,
    /// Field with the time, ISO 8601 or seconds since 1970 [default: time]
    #[arg(long, value_name = "NAME")]
    pub time_column: Option<String>,
    /// Field with a score, higher is better [default: score]
    #[arg(long, value_name = "NAME")]
    pub score_column: Option<String>,
    /// Field with the name of the source [default: source; else the input as typed]
    #[arg(long, value_name = "NAME")]
    pub source_column: Option<String>,
    /// Follow symbolic links inside folders
    #[arg(long)]
    pub follow: bool,
    /// Skip files and rows larger than this many bytes [default: 268435456]
    #[arg(long, value_name = "BYTES")]
    pub max_document_bytes: Option<u64>,
}

/// The names of the methods, with what they do.
fn method_names() -> PossibleValuesParser {
    PossibleValuesParser::new(onefold::PRESETS.map(|preset| PossibleValue::new(preset.name).help(preset.about)))
}

/// How pairs may be verified where they are then compared by resemblance.
fn verify_by_resemblance() -> impl TypedValueParser<Value = VerifyName> {
    let names = [VerifyName::Exact, VerifyName::None].iter().filter_map(VerifyName::to_possible_value);
    PossibleValuesParser::new(names).try_map(|typed| VerifyName::from_str(&typed, false))
}

/// See `PlanArgs::verify`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum VerifyName {
    /// Its resemblance reaches the threshold
    Exact,
    /// Its word edit distance is at most --max-edit; the threshold says only what is proposed
    Edit,
    /// The method proposed it; the resemblance is shown, but decides nothing
    None,
}

/// See `PlanArgs::shingle`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum UnitName {
    /// Consecutive words
    Words,
    /// Consecutive characters, from the beginning of each word
    Chars,
    /// Consecutive bytes, from each byte
    Bytes,
    /// Consecutive lines that are not empty
    Lines,
    /// A frequent short word and the words after it
    Spots,
}

/// See `PlanArgs::text`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TextName {
    /// Words of any script, folded, without punctuation
    Words,
    /// Between white space, in small letters, with punctuation
    Plain,
    /// Between white space, in small letters, without punctuation
    Letters,
}

/// See `PlanArgs::numbers`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum NumbersName {
    /// They stay
    Keep,
    /// They are left out
    Drop,
    /// They all look the same
    Mask,
}

/// See `PlanArgs::hash`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum HashName {
    /// 61 bits, rolling over words
    Fast,
    /// Rabin fingerprint of 32 bits
    Rabin32,
    /// Rabin fingerprint of 40 bits
    Rabin40,
    /// Rabin fingerprint of 64 bits
    Rabin64,
    /// MD5
    Md5,
    /// SHA-1
    Sha1,
}

/// See `PlanArgs::relation`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RelationName {
    /// They say the same
    Resemblance,
    /// They say the same, or one lies inside the other
    Containment,
}

/// See `PlanArgs::remove`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RemoveName {
    /// Documents that resemble the one kept for them
    Duplicates,
    /// Also documents that lie inside the one kept for them
    Contained,
}

/// See `PlanArgs::cluster`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ClusterName {
    /// A representative and the documents near it
    Conservative,
    /// Everything connected; what is removed stays the same
    Transitive,
}

/// See `PlanArgs::pairs`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PairsName {
    /// Every pair that reaches the threshold
    All,
    /// Each removed document with its representative
    Star,
}

/// `onefold rethreshold`
#[derive(Debug, Args)]
#[command(after_help = "\
A scan lists the pairs from its threshold on, or from its --floor on: as far down a result can be
taken. The answer is the one that a scan with the new threshold would give.

Examples:
  onefold scan documents/ --threshold 0.8 --floor 0.5 --out result
  onefold rethreshold result --threshold 0.6
  onefold rethreshold result --threshold 0.9 --out stricter")]
pub struct RethresholdArgs {
    /// A result of 'onefold scan'
    #[arg(value_name = "DIR")]
    pub result: PathBuf,
    /// The new threshold
    #[arg(short, long, value_name = "T", allow_negative_numbers = true)]
    pub threshold: String,
    /// Where to put the new result; without it only the summary is printed
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Print the summary as JSON on standard output
    #[arg(long)]
    pub json: bool,
    /// Print no summary
    #[arg(short, long)]
    pub quiet: bool,
}

/// `onefold evaluate`
#[derive(Debug, Args)]
#[command(after_help = "\
Gold files: pairs 'id_a,id_b[,label]' (CSV or TSV with a header), classes 'class_id doc_id', one
class a line (TSV), or JSONL {\"hash\",\"ids\"}.

Examples:
  onefold evaluate result --gold pairs.csv
  onefold evaluate result --gold-column lineage
  onefold evaluate result --gold pairs.csv --scorer core")]
pub struct EvaluateArgs {
    /// A result of 'onefold scan'
    #[arg(value_name = "DIR")]
    pub result: PathBuf,
    /// What people say are duplicates
    #[arg(long, value_name = "FILE", required_unless_present = "gold_column", conflicts_with = "gold_column")]
    pub gold: Option<PathBuf>,
    /// Field of the JSONL inputs that is equal for duplicates
    #[arg(long, value_name = "NAME")]
    pub gold_column: Option<String>,
    /// What to measure: what is right and wrong, or what text-dedup publishes for a collection
    ///
    /// The published measures are there to be compared with published numbers; the output says what is odd about each. They look at
    /// clusters alone, and take a document that the gold does not name for one without duplicates.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = ScorerName::Honest)]
    pub scorer: ScorerName,
    /// How many errors of each kind to list; published measures come without
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub worst: usize,
    /// Print the scores as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// See `EvaluateArgs::scorer`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ScorerName {
    /// Pairs and clusters that are right, invented and missed; precision, recall, F1, ARI and B³
    Honest,
    /// As text-dedup scores CORE: documents with all their duplicates in one cluster; "macro F1" and accuracy
    Core,
    /// As text-dedup scores NEWS-COPY: the adjusted Rand index (ARI) of all documents
    NewsCopy,
}

/// `onefold compare`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  onefold compare draft.txt final.html
  onefold compare --result result ID-A ID-B")]
pub struct CompareArgs {
    /// A file, or with --result the id of a document
    #[arg(value_name = "A")]
    pub first: String,
    /// The other
    #[arg(value_name = "B")]
    pub second: String,
    /// A result of 'onefold scan' whose documents are meant; their texts are read from its inputs
    #[arg(long, value_name = "DIR")]
    pub result: Option<PathBuf>,
    /// Words in a shingle [default: that of the result, else 5]
    #[arg(short = 'w', long, value_name = "W")]
    pub ngram_size: Option<u32>,
    /// When to colour the differences
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// Print the numbers as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// `onefold report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A result of 'onefold scan'; the texts that are shown are read from its inputs
    #[arg(value_name = "DIR")]
    pub result: PathBuf,
    /// Where to write the page [default: report.html in the result]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print where the page is as JSON
    #[arg(long)]
    pub json: bool,
}

/// `onefold pairs`
#[derive(Debug, Args)]
pub struct PairsArgs {
    /// A result of 'onefold scan'
    #[arg(value_name = "DIR")]
    pub result: PathBuf,
    /// Write out every pair: those inside groups of equal documents, and those of all members of two groups
    #[arg(long)]
    pub expand: bool,
    /// JSONL is what is printed; accepted for the sake of scripts
    #[arg(long, hide = true)]
    pub json: bool,
}

/// `onefold passages`
#[derive(Debug, Args)]
#[command(after_help = "\
A passage of two documents is as long as it can be: the words before it differ, and those after
it. Every one of at least --words words is found, unless all runs of that many words in it stand
in more than --max-places places; such boilerplate is listed as repeated passages instead.
With --out: passages.jsonl (two documents, the positions of their words from 0, the first words),
repeated.jsonl (the most repeated, with documents, places and examples) and summary.json.

Examples:
  onefold passages reports/
  onefold passages pages.jsonl --words 10 --top 50
  onefold passages books.jsonl --words 40 --out shared --json")]
pub struct PassagesArgs {
    /// Folders, files, or - for JSONL on standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<OsString>,
    /// The fewest words of a passage; more words find fewer [default: 25]
    #[arg(long, value_name = "N")]
    pub words: Option<u32>,
    /// How many of the most repeated passages to list [default: 20]
    #[arg(long, value_name = "K")]
    pub top: Option<usize>,
    /// Runs of N words in more places than this are not paired up, but listed as repeated; more places list more pairs [default: 100]
    #[arg(long, value_name = "M")]
    pub max_places: Option<u32>,
    /// Where to put the files; without it only the summary is printed
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace a former result in --out
    #[arg(long)]
    pub overwrite: bool,
    /// Worker threads; all cores without it. The result is the same for any number
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Print the summary as JSON on standard output
    #[arg(long)]
    pub json: bool,
    /// Print no progress and no summary
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// `onefold explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The id of a document
    #[arg(value_name = "ID")]
    pub id: String,
    /// A result of 'onefold scan'
    #[arg(long, value_name = "DIR")]
    pub result: PathBuf,
    /// Print the same as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// `onefold methods`
#[derive(Debug, Args)]
#[command(after_help = "\
The chance that a pair is proposed is worked out from the literature's formulas, for documents that
have 500 shingles between them. What is proposed is then verified, so nothing false comes of it,
unless --verify none is given.

Examples:
  onefold methods
  onefold methods ye2008
  onefold scan pages.jsonl --method ye2008 --set modulo=8 --out result")]
pub struct MethodsArgs {
    /// Say all about one of them
    #[arg(value_name = "NAME", value_parser = method_names())]
    pub name: Option<String>,
    /// The threshold that promises are made for [default: that of the method]
    #[arg(short, long, value_name = "T", allow_negative_numbers = true)]
    pub threshold: Option<String>,
    /// Print the same as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// `onefold config`
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Print the plan as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub plan: PlanArgs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use onefold::{MinHashSettings, Plan};

    /// Help states defaults that live in the library: none may drift.
    #[test]
    fn help_states_the_defaults_of_the_plan() {
        let plan = Plan::default();
        let minhash = MinHashSettings::default();
        let columns = &plan.columns;
        let expected = [
            ("threshold", plan.threshold.to_string()),
            ("ngram-size", plan.ngram_size.to_string()),
            ("method", plan.method.name().to_string()),
            ("containment", plan.containment.to_string()),
            ("max-edit", plan.max_edit.to_string()),
            ("min-contained", plan.min_contained.to_string()),
            ("keep", format!("\"{}\"", plan.keep)),
            ("max-document-bytes", plan.max_document_bytes.to_string()),
            ("num-perm", minhash.num_perm.to_string()),
            ("seed", minhash.seed.to_string()),
            ("text-column", columns.text.clone()),
            ("id-column", columns.id.clone()),
            ("url-column", columns.url.clone()),
            ("time-column", columns.time.clone()),
            ("score-column", columns.score.clone()),
        ];
        let mut command = Cli::command();
        let scan = command.find_subcommand_mut("scan").unwrap();
        for (name, default) in expected {
            let argument = scan.get_arguments().find(|a| a.get_long() == Some(name)).unwrap();
            let help = argument.get_long_help().or(argument.get_help()).unwrap().to_string();
            assert!(help.contains(&format!("[default: {default}]")), "--{name}: {help}");
        }
        assert_eq!((plan.cluster, plan.pairs), (onefold::ClusterMode::Conservative, onefold::PairsMode::All));
    }

    #[test]
    fn help_states_the_defaults_of_passages() {
        let settings = onefold::ReuseSettings::default();
        let mut command = Cli::command();
        let passages = command.find_subcommand_mut("passages").unwrap();
        let expected = [("words", settings.words as usize), ("top", settings.top), ("max-places", settings.max_places as usize)];
        for (name, default) in expected {
            let argument = passages.get_arguments().find(|a| a.get_long() == Some(name)).unwrap();
            assert!(argument.get_help().unwrap().to_string().contains(&format!("[default: {default}]")), "--{name}");
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
