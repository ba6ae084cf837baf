//! The most common shingles, and what they say (N25).

use std::cmp::Reverse;

use onefold::{Recipe, text_of_shingle};
use serde::Serialize;

use super::Commonality;
use crate::sampling::rows::Rows;

/// A shingle that many documents have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommonShingle {
    /// Its hash.
    pub shingle: u64,
    /// How many documents have it.
    pub documents: u64,
    /// The first of them, by number.
    pub first: u32,
    /// What it says, once [`Commonality::find_texts`] was asked.
    pub text: Option<String>,
}

impl Commonality {
    /// Finds out what the most common shingles say. `texts` are those of the documents of the shelf, shingled as the recipe says.
    pub fn find_texts(&mut self, texts: &[String], recipe: Recipe) {
        for common in &mut self.most_common {
            common.text = texts.get(common.first as usize).and_then(|text| text_of_shingle(text, recipe, common.shingle));
        }
    }
}

/// So many of the shingles that most documents have; of two in as many documents the smaller hash comes first.
pub(super) fn most_common(rows: &Rows, most: usize) -> Vec<CommonShingle> {
    let mut lists: Vec<usize> = (0..rows.shared()).collect();
    lists.sort_unstable_by_key(|&list| (Reverse(rows.list(list).len()), rows.shingle(list)));
    let common = |list: usize| {
        let documents = rows.list(list);
        CommonShingle { shingle: rows.shingle(list), documents: documents.len() as u64, first: documents[0], text: None }
    };
    lists.into_iter().take(most).map(common).collect()
}
