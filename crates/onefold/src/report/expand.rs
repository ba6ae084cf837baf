//! All pairs of a result, from the table that lists each group of equal shingle sets once.

use std::collections::{HashMap, HashSet};

use super::format::Row;
use super::saved::SavedResult;
use crate::error::{Error, Result};
use crate::plan::PairsMode;

/// A pair of documents.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpandedPair<'a> {
    /// The smaller id, bytewise.
    pub first: &'a str,
    /// The other.
    pub second: &'a str,
    /// Common shingles over all.
    pub resemblance: f64,
    /// Share of the first document's shingles that the second has.
    pub containment_first: f64,
    /// Share of the second document's shingles that the first has.
    pub containment_second: f64,
    /// Whether it reaches the threshold.
    pub accepted: bool,
}

impl<'a> ExpandedPair<'a> {
    /// A row of the pairs table, as it stands.
    pub fn of_row(row: &'a Row) -> Self {
        let number = |column: &str| row.number(column).unwrap_or(0.0);
        ExpandedPair {
            first: row.text("first_id"),
            second: row.text("second_id"),
            resemblance: number("resemblance"),
            containment_first: number("containment_first"),
            containment_second: number("containment_second"),
            accepted: row.truth("accepted"),
        }
    }
}

/// The pairs table with its groups.
#[derive(Debug)]
pub struct PairsTable {
    rows: Vec<Row>,
    /// Members of each group, the smallest id first.
    groups: Vec<Vec<String>>,
    /// The group of a document.
    group_of: HashMap<String, usize>,
    /// Documents that are not compared with one another.
    reference: HashSet<String>,
}

impl PairsTable {
    /// Reads the table of a result that lists all pairs.
    pub fn read(result: &SavedResult) -> Result<PairsTable> {
        if result.manifest.plan.pairs == PairsMode::Star {
            return Err(Error::setting("pairs", "'all' in the scan whose pairs are asked for", "star"));
        }
        let reference = result.reference()?.iter().map(|row| row.text("id").to_string()).collect();
        let mut table = PairsTable { rows: result.pairs()?, groups: Vec::new(), group_of: HashMap::new(), reference };
        for row in table.rows.iter().filter(|row| is_inside_group(row)) {
            let ids = [row.text("first_id"), row.text("second_id")];
            // Each of these rows names the head of its group, which the others name, too.
            let group = ids.iter().find_map(|id| table.group_of.get(*id).copied()).unwrap_or(table.groups.len());
            if group == table.groups.len() {
                table.groups.push(Vec::new());
            }
            for id in ids {
                if table.group_of.insert(id.into(), group).is_none() {
                    table.groups[group].push(id.into());
                }
            }
        }
        table.groups.iter_mut().for_each(|members| members.sort_unstable());
        Ok(table)
    }

    /// The rows of the table as they stand.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The groups of documents with equal shingle sets, two or more in each.
    pub fn groups(&self) -> &[Vec<String>] {
        &self.groups
    }

    /// The rows that are not inside a group.
    pub fn between_groups(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !is_inside_group(row))
    }

    /// Calls `each` with every pair: inside the groups first, then between groups, row by row. It may stop with an error of its own.
    pub fn for_each<E>(
        &self,
        mut each: impl FnMut(ExpandedPair<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut groups: Vec<&Vec<String>> = self.groups.iter().collect();
        groups.sort_unstable();
        for members in groups {
            for (at, first) in members.iter().enumerate() {
                for second in members[at + 1..].iter().filter(|second| self.comparable(first, second)) {
                    each(pair(first, second, [1.0; 3], true))?;
                }
            }
        }
        for row in self.between_groups() {
            let listed = ExpandedPair::of_row(row);
            let shares = [listed.resemblance, listed.containment_first, listed.containment_second];
            for first in self.members(listed.first) {
                for second in self.members(listed.second).filter(|second| self.comparable(first, second)) {
                    each(pair(first, second, shares, listed.accepted))?;
                }
            }
        }
        Ok(())
    }

    fn comparable(&self, a: &str, b: &str) -> bool {
        !(self.reference.contains(a) && self.reference.contains(b))
    }

    fn members<'a>(&'a self, head: &'a str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        match self.group_of.get(head) {
            Some(&group) => Box::new(self.groups[group].iter().map(String::as_str)),
            None => Box::new(std::iter::once(head)),
        }
    }
}

/// Only documents with equal shingle sets have resemblance 1; where words decide, a group has the same words as well.
fn is_inside_group(row: &Row) -> bool {
    row.number("resemblance") == Some(1.0) && row.number("edit_distance").is_none_or(|distance| distance == 0.0)
}

fn pair<'a>(a: &'a str, b: &'a str, [resemblance, of_a, of_b]: [f64; 3], accepted: bool) -> ExpandedPair<'a> {
    let (first, second, containment_first, containment_second) = if a <= b { (a, b, of_a, of_b) } else { (b, a, of_b, of_a) };
    ExpandedPair { first, second, resemblance, containment_first, containment_second, accepted }
}
