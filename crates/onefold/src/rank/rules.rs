//! Keep rules: what they are called, and how they are read.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::Error;

/// One rule: of two documents the one it prefers is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Documents of the reference before others. Always asked first; never typed.
    Reference,
    /// Protected before others.
    Protected,
    /// Whole before cut or lossily read.
    Whole,
    /// Higher score, or lower.
    Score(Preference),
    /// Newer, or older.
    Time(Preference),
    /// More tokens, or fewer.
    Length(Preference),
    /// Earlier in the inputs: the order of files, then of records.
    Order,
    /// By digest: arbitrary, but the same everywhere.
    Digest,
    /// The smaller id.
    Id,
}

/// Which end of a scale is preferred. A missing value ranks last either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    /// The larger value.
    Large,
    /// The smaller value.
    Small,
}

use Preference::{Large, Small};

/// Every rule with the way it is written; the first spelling of a rule is the one that is printed.
const SPELLINGS: [(&str, Rule); 15] = [
    ("protected", Rule::Protected),
    ("whole", Rule::Whole),
    ("score desc", Rule::Score(Large)),
    ("score asc", Rule::Score(Small)),
    ("score", Rule::Score(Large)),
    ("time newest", Rule::Time(Large)),
    ("time oldest", Rule::Time(Small)),
    ("time", Rule::Time(Large)),
    ("length longest", Rule::Length(Large)),
    ("length shortest", Rule::Length(Small)),
    ("length", Rule::Length(Large)),
    ("order first", Rule::Order),
    ("order", Rule::Order),
    ("digest", Rule::Digest),
    ("id", Rule::Id),
];

impl Rule {
    /// One word for tables.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Reference => "reference",
            Rule::Protected => "protected",
            Rule::Whole => "whole",
            Rule::Score(_) => "score",
            Rule::Time(_) => "time",
            Rule::Length(_) => "length",
            Rule::Order => "order",
            Rule::Digest => "digest",
            Rule::Id => "id",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelling = SPELLINGS.iter().find(|(_, rule)| rule == self);
        f.write_str(spelling.map_or(self.name(), |(text, _)| text))
    }
}

/// Rules in the order in which they are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepRules(pub Vec<Rule>);

impl Default for KeepRules {
    fn default() -> Self {
        KeepRules(vec![Rule::Protected, Rule::Whole, Rule::Score(Large), Rule::Length(Large), Rule::Digest, Rule::Id])
    }
}

impl FromStr for KeepRules {
    type Err = Error;

    fn from_str(typed: &str) -> Result<Self, Error> {
        let rule = |text: &str| {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            SPELLINGS.iter().find(|(spelling, _)| *spelling == words).map(|(_, rule)| *rule)
        };
        let allowed = || {
            let all: Vec<_> = SPELLINGS.iter().map(|(text, _)| *text).collect();
            format!("a comma-separated list of: {}", all.join(", "))
        };
        let rules = typed.split(',').map(|text| rule(text).ok_or_else(|| Error::setting("keep", allowed(), text.trim())));
        rules.collect::<Result<Vec<_>, _>>().map(KeepRules)
    }
}

impl fmt::Display for KeepRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(Rule::to_string).collect();
        f.write_str(&all.join(", "))
    }
}

impl Serialize for KeepRules {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeepRules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_back_as_they_print() {
        let typed = "protected, score desc, time newest, length longest, id";
        let rules: KeepRules = typed.parse().unwrap();
        assert_eq!(rules.to_string(), typed);
        assert_eq!("  Score ,time   OLDEST".parse::<KeepRules>().unwrap().to_string(), "score desc, time oldest");
        for (text, rule) in SPELLINGS {
            assert_eq!(text.parse::<KeepRules>().unwrap().0, [rule]);
        }
    }

    #[test]
    fn unknown_rules_are_named() {
        for bad in ["", "newest", "score desc,", "score sideways"] {
            assert!(bad.parse::<KeepRules>().is_err(), "{bad}");
        }
    }
}
