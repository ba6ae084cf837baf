//! What each step of stages 1–4 costs on a JSONL file, in MB of file per CPU-second:
//!
//! ```text
//! cargo run --release -p onefold --example stages -- corpus.jsonl [rounds]
//! ```
//!
//! Each figure is the best of some rounds, since other work on the machine only ever makes them worse. The checksum covers ids, digests
//! and shingles of all rows: a change that keeps it keeps the fingerprints.
#![expect(clippy::print_stdout, reason = "a program for people")]

use std::error::Error;

use onefold::{Discard, Exec, FieldReader, Input, Parsed, Plan, Recipe, Shingler, Tokenizer, Tokens, ingest};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file?")?;
    let rounds: usize = arguments.next().map_or(Ok(3), |n| n.parse())?;
    let bytes = std::fs::read(&path)?;
    let rows: Vec<&[u8]> = bytes.split(|&b| b == b'\n').filter(|row| !row.is_empty()).collect();
    let steps = Steps::default();
    let report = |name: &str, step: &mut dyn FnMut()| {
        let best = (0..rounds).map(|_| cpu_seconds_of(&mut *step)).fold(f64::INFINITY, f64::min);
        println!("{name:<44} {:>8.0} MB per CPU-second", bytes.len() as f64 / 1e6 / best.max(0.01));
    };
    println!("{} rows, {:.1} MB", rows.len(), bytes.len() as f64 / 1e6);
    report("read the file", &mut || _ = std::fs::read(&path));
    report("JSON", &mut || steps.run(&rows, &mut |_| ()));
    let mut tokenizer = Tokenizer::default();
    let mut tokens = Tokens::default();
    report("JSON, tokenise", &mut || steps.run(&rows, &mut |text| tokenizer.tokenize(text, &mut tokens)));
    report("JSON, tokenise, digest", &mut || {
        steps.run(&rows, &mut |text| {
            tokenizer.tokenize(text, &mut tokens);
            std::hint::black_box(tokens.digest());
        });
    });
    let (mut shingler, mut set) = (Shingler::default(), Vec::new());
    report("JSON, tokenise, digest, shingle, sort", &mut || {
        steps.run(&rows, &mut |text| {
            tokenizer.tokenize(text, &mut tokens);
            std::hint::black_box(tokens.digest());
            set.clear();
            shingler.shingle_into(text, &tokens, Recipe::of_words(5), &mut set);
            std::hint::black_box(&set);
        });
    });
    let exec = Exec { threads: 1, ..Exec::default() };
    let plan = Plan::default();
    let collect = || ingest(&plan, &exec, vec![Input::Path(path.clone().into())].into(), &Discard);
    report("all of stages 1-4", &mut || _ = std::hint::black_box(collect()));
    let collection = collect()?;
    let (mut all, mut buffer) = (blake3::Hasher::new(), Vec::new());
    for document in &collection.documents {
        all.update(document.id.as_bytes()).update(&document.digest.0).update(&document.tokens.to_le_bytes());
        for shingle in collection.shingles(document.shingles, &mut buffer)? {
            all.update(&shingle.to_le_bytes());
        }
    }
    println!("checksum {}", all.finalize().to_hex());
    Ok(())
}

struct Steps {
    fields: FieldReader,
}

impl Default for Steps {
    fn default() -> Self {
        Steps { fields: FieldReader::new(&["text", "id", "url", "time", "score", "source"]) }
    }
}

impl Steps {
    fn run(&self, rows: &[&[u8]], each: &mut dyn FnMut(&str)) {
        for row in rows {
            if let Ok(values) = self.fields.read(row)
                && let Parsed::Text(text) = &values[0]
            {
                each(text);
            }
        }
    }
}

/// CPU time of all threads, user and system; Linux counts it in hundredths of a second.
fn cpu_seconds_of(step: &mut dyn FnMut()) -> f64 {
    let before = cpu_ticks();
    step();
    (cpu_ticks() - before) / 100.0
}

fn cpu_ticks() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum()
}
