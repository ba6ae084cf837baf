//! The tables of the work, ours beside what was published.

use std::fmt::Write;

use super::{Commonality, Cut, Kept};

/// A published table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Table 3.1: % of documents at each resemblance, by the share of shingles that is kept (N15).
    SamplePrevalence,
    /// Table 3.2: error, correlation, recall and precision by that share (N17).
    SampleQuality,
    /// Table 3.3: % of documents at each resemblance, by the limit to documents that have a shingle (N21).
    LimitPrevalence,
    /// Table 3.4: error, correlation, recall and precision by that limit (N22).
    LimitQuality,
}

/// Shares are printed with two decimals, rounded.
const ROUNDED: f64 = 0.0051;

impl Table {
    /// All of them, in order.
    pub const ALL: [Table; 4] = [Table::SamplePrevalence, Table::SampleQuality, Table::LimitPrevalence, Table::LimitQuality];

    /// The name of its file.
    pub fn file_name(self) -> &'static str {
        self.file().0
    }

    /// As it was published.
    pub fn published(self) -> &'static str {
        self.file().1
    }

    fn file(self) -> (&'static str, &'static str) {
        macro_rules! file {
            ($name:literal) => {
                ($name, include_str!(concat!("../../../published/", $name)))
            };
        }
        match self {
            Table::SamplePrevalence => file!("nikkhoo2010-table3.1-hash-sampling-prevalence.csv"),
            Table::SampleQuality => file!("nikkhoo2010-table3.2-hash-sampling-quality.csv"),
            Table::LimitPrevalence => file!("nikkhoo2010-table3.3-sct-prevalence.csv"),
            Table::LimitQuality => file!("nikkhoo2010-table3.4-sct-quality.csv"),
        }
    }

    /// So many columns say which cell it is.
    fn keys(self) -> usize {
        match self {
            Table::SamplePrevalence | Table::LimitPrevalence => 2,
            Table::SampleQuality | Table::LimitQuality => 1,
        }
    }
}

impl Commonality {
    /// A table as CSV: the columns as published with the values of this collection, then what was published. What is undefined is empty.
    pub fn table(&self, table: Table) -> String {
        let mut lines = table.published().lines();
        let header = lines.next().unwrap_or_default();
        let names: Vec<String> = header.split(',').skip(table.keys()).map(|name| format!("published_{name}")).collect();
        let mut csv = format!("{header},{}\n", names.join(","));
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            let (keys, published) = cells.split_at(table.keys());
            let ours = self.ours(table, keys);
            // Writing to a string cannot fail.
            let _ = writeln!(csv, "{},{},{}", keys.join(","), ours.join(","), published.join(","));
        }
        csv
    }

    fn ours(&self, table: Table, keys: &[&str]) -> Vec<String> {
        let cut = self.cut(table, keys[keys.len() - 1]);
        let cells = |values: &[Option<f64>], decimals: usize| {
            values.iter().map(|value| value.map_or_else(String::new, |value| format!("{value:.decimals$}"))).collect()
        };
        match table {
            Table::SamplePrevalence | Table::LimitPrevalence => cells(&[cut.and_then(|cut| cut.percent(keys[0]))], 4),
            Table::SampleQuality | Table::LimitQuality => cells(&cut.map_or([None; 4], Cut::quality), 6),
        }
    }

    /// The cut of a row, as it is printed there.
    fn cut(&self, table: Table, printed: &str) -> Option<&Cut> {
        let cuts = match table {
            Table::SamplePrevalence | Table::SampleQuality => &self.samples,
            Table::LimitPrevalence | Table::LimitQuality => &self.limits,
        };
        cuts.iter().find(|cut| match cut.kept {
            Kept::OneIn(modulo) => {
                printed.parse().is_ok_and(|percent: f64| (100.0 / f64::from(modulo) - percent).abs() < ROUNDED)
            }
            Kept::UpTo(None) => printed == "inf",
            Kept::UpTo(Some(limit)) => printed.parse() == Ok(limit),
        })
    }
}

impl Cut {
    /// Near-duplicates in % of documents, at a resemblance as it is printed.
    fn percent(&self, printed: &str) -> Option<f64> {
        let threshold = printed.parse().ok()?;
        self.prevalence.iter().find(|level| level.rr_at_least == threshold)?.percent
    }

    /// Error, correlation, recall and precision, over pairs (N16b).
    fn quality(&self) -> [Option<f64>; 4] {
        [self.average_error, self.correlation, self.pairs.recall, self.pairs.precision]
    }
}
