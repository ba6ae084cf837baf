//! Commands that measure: methods beside each other, samples beside the truth, plans from promises.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{PlanArgs, ReadingArgs, TextName, VerifyName, method_names, verify_by_resemblance};

/// `onefold bakeoff`
#[derive(Debug, Args)]
#[command(after_help = "\
The inputs are read once. True are the pairs whose resemblance, by shingles of --ngram-size words,
reaches the threshold; each method works with its own shingles and settings, at the same threshold.

Examples:
  onefold bakeoff pages.jsonl --methods exact,minhash,pi-simhash
  onefold bakeoff docs.jsonl --gold pairs.tsv --threshold 0.5 --out comparison.html")]
pub struct BakeoffArgs {
    /// Folders, files, or - for JSONL on standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<OsString>,
    /// The methods, with commas between [default: all]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',', value_parser = method_names())]
    pub methods: Vec<String>,
    /// Also score them by what people say are duplicates
    #[arg(long, value_name = "FILE")]
    pub gold: Option<PathBuf>,
    /// What makes a candidate of a method a pair: its word, as it was published, or its resemblance [default: none]
    #[arg(long, value_parser = verify_by_resemblance())]
    pub verify: Option<VerifyName>,
    /// Resemblance from which a pair is true [default: 0.8]
    #[arg(short, long, value_name = "T", allow_negative_numbers = true)]
    pub threshold: Option<String>,
    /// Words in a shingle of the exact answer [default: 5]
    #[arg(short = 'w', long, value_name = "W")]
    pub ngram_size: Option<u32>,
    /// Where to put the page
    #[arg(short, long, value_name = "FILE", default_value = "bakeoff.html")]
    pub out: PathBuf,
    /// Replace a page that is there
    #[arg(long)]
    pub overwrite: bool,
    /// Worker threads; all cores without it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Print the table as JSON on standard output
    #[arg(long)]
    pub json: bool,
    /// Print no progress and no table
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// `onefold study`
#[derive(Debug, Args)]
#[command(after_help = "\
Ye, Wen, Ma 2008: precision and recall of samples by remainder against the answer by all shingles,
for every ratio, every remainder and every threshold, by the size of documents; the effect of the
length of shingles, of the bits of hashes and of pieces; adaptive sampling. Nikkhoo 2010: how many
documents have a near-duplicate, by samples and by limits to common shingles. The result is a page
(report.html) and tables (CSV), with what was published beside what is found here.

Texts and shingles stay in memory, about ten times the size of the text.

Examples:
  onefold study pages.jsonl --out study
  onefold study pages.jsonl --ratios 4,16 --thresholds 0.5,0.85,0.95 --out quick")]
pub struct StudyArgs {
    /// Folders, files, or - for JSONL on standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<OsString>,
    /// Where to put page and tables; must not exist yet, or be empty
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace a study that is there
    #[arg(long)]
    pub overwrite: bool,
    /// Words at which a new group of sizes begins, with commas between [default: 500,1000,2000,...,9000]
    #[arg(short, long, value_name = "WORDS", value_delimiter = ',')]
    pub groups: Vec<u32>,
    /// One in N shingles is kept, for each of these N, with commas between [default: 2,4,8,16,25,32]
    #[arg(short, long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=1024))]
    pub ratios: Vec<u32>,
    /// Thresholds, with commas between [default: 0.5,0.6,0.7,0.8,0.85,0.9,0.95,0.99]
    #[arg(short, long, value_name = "T", value_delimiter = ',', allow_negative_numbers = true)]
    pub thresholds: Vec<String>,
    /// Words in a shingle [default: 10]
    #[arg(short = 'w', long, value_name = "W")]
    pub ngram_size: Option<u32>,
    /// Other lengths of shingles, with commas between [default: 3,5,8,15,20]
    #[arg(long, value_name = "W", value_delimiter = ',')]
    pub lengths: Vec<u32>,
    /// How text is cut into words [default: plain]
    #[arg(long, value_enum)]
    pub text: Option<TextName>,
    /// Worker threads; all cores without it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Print findings as JSON on standard output
    #[arg(long)]
    pub json: bool,
    /// Print no progress and no summary
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// `onefold tune`
#[derive(Debug, Args)]
#[command(after_help = "\
The collection is looked at once: all pairs near the threshold and above, and all partners of as
many documents as time allows for those far below. From these it is worked out what a sample of any
share would find, for small and for large documents, and the cheapest shares that keep the promise
are chosen. Trials with other samples then say what came of it.

With --precision samples have the last word, as in Ye, Wen, Ma 2008 (--verify none). Without it, or
with --verify exact, every proposal is verified: precision is 1, and the plan is made for recall.

Examples:
  onefold tune pages.jsonl --threshold 0.85 --precision 0.85 --out plan.toml
  onefold scan pages.jsonl --config plan.toml --out result
  onefold tune pages.jsonl --threshold 0.85 --precision 0.85 --confidence 0.95 --out surer.toml
  onefold tune pages.jsonl --recall 0.99 --out verified.toml
  onefold tune pages.jsonl --label answers.csv --out mine.toml")]
pub struct TuneArgs {
    /// Folders, files, or - for JSONL on standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<OsString>,
    /// Of the pairs that are found at least this share shall be true, for documents of every size
    #[arg(short, long, value_name = "P", allow_negative_numbers = true)]
    pub precision: Option<f64>,
    /// Of the true pairs at least this share shall be found, for documents of every size [default: 0.8; 0.95 with verification]
    #[arg(short, long, value_name = "R", allow_negative_numbers = true)]
    pub recall: Option<f64>,
    /// Of all runs this share shall keep the promise, for each size that has pairs enough to tell (20); without it runs keep it on average
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub confidence: Option<f64>,
    /// Show pairs near the threshold one by one, take y or n, and recommend settings; answers go to FILE, a gold file for 'evaluate'
    #[arg(long, value_name = "FILE", conflicts_with_all = ["precision", "recall", "confidence", "classes", "report", "json"])]
    pub label: Option<PathBuf>,
    /// With --label: so many answers [default: 20]
    #[arg(long, value_name = "N", requires = "label")]
    pub questions: Option<usize>,
    /// Numbers of shingles at which a new class of sizes begins, with commas between [default: 32,64,128,...,8192]
    #[arg(short, long, value_name = "SIZES", value_delimiter = ',')]
    pub classes: Vec<u32>,
    /// Where to put the plan
    #[arg(short, long, value_name = "FILE", default_value = "plan.toml")]
    pub out: PathBuf,
    /// Also make a page with the curves behind it
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long)]
    pub overwrite: bool,
    /// Worker threads; all cores without it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Print what was found as JSON on standard output
    #[arg(long)]
    pub json: bool,
    /// Print no progress and no table
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub plan: PlanArgs,
}
