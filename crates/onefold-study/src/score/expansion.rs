//! The expanded pairs against classes, counted and not listed.
//!
//! In: families × classes, and the joined families. Out: how many pairs there are, how many of them are right, and for
//! each family and class how many documents of that class are joined to it. Cost for each edge: the number of classes
//! in the family that has fewer, times a binary search.

use super::contingency::{Contingency, pairs_of};
use super::index::Edge;

/// Counts of the expanded pairs.
pub(super) struct Expansion {
    /// Families × classes.
    pub(super) table: Contingency,
    /// All expanded pairs.
    pub(super) predicted: u64,
    /// Those of documents of one class.
    pub(super) found: u64,
    /// The edges that make a wrong pair.
    pub(super) wrong_edges: Vec<Edge>,
    /// By cell: documents of the same class in families joined to this one.
    linked: Vec<u64>,
}

impl Expansion {
    pub(super) fn new(table: Contingency, edges: &[Edge]) -> Expansion {
        let mut expansion = Expansion {
            predicted: table.row_pairs(),
            found: table.cell_pairs(),
            wrong_edges: Vec::new(),
            linked: vec![0; table.cells.len()],
            table,
        };
        for edge in edges {
            let predicted = expansion.table.row_total(edge.first) * expansion.table.row_total(edge.second);
            let found = expansion.link(edge);
            expansion.predicted += predicted;
            expansion.found += found;
            if found < predicted {
                expansion.wrong_edges.push(*edge);
            }
        }
        expansion
    }

    /// Notes what an edge joins, and counts its pairs of one class.
    fn link(&mut self, edge: &Edge) -> u64 {
        let mut few = self.table.row(edge.first);
        let mut many = self.table.row(edge.second);
        if few.len() > many.len() {
            (few, many) = (many, few);
        }
        let mut found = 0;
        for here in few {
            let Some(there) = self.table.find(&many, self.table.cells[here].column) else {
                continue;
            };
            let (count_here, count_there) = (self.table.cells[here].count, self.table.cells[there].count);
            self.linked[here] += count_there;
            self.linked[there] += count_here;
            found += count_here * count_there;
        }
        found
    }

    /// How many documents of its class a document of this family and class is not paired with.
    pub(super) fn missing(&self, family: usize, class: usize) -> u64 {
        let row = self.table.row(family);
        self.table
            .find(&row, class)
            .map_or(0, |cell| self.table.column_total(class) - self.table.cells[cell].count - self.linked[cell])
    }
}

/// The number of expanded pairs of all documents.
pub(super) fn count_all(families: &[usize], edges: &[Edge]) -> u64 {
    let size = sizes(families);
    let inside: u64 = size.iter().copied().map(pairs_of).sum();
    let across: u64 = edges.iter().map(|edge| size[edge.first] * size[edge.second]).sum();
    inside + across
}

/// The number of documents of each group (cluster, family).
pub(super) fn sizes(groups: &[usize]) -> Vec<u64> {
    let mut size = vec![0; groups.len()];
    groups.iter().for_each(|&group| size[group] += 1);
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Families {0, 1}, {2, 3, 4}, {5}; the first two are joined; classes {0, 2, 3, 5} and {1, 4}.
    #[test]
    fn counts_by_hand() {
        let class = [0, 1, 0, 0, 1, 0].map(Some);
        let families = [0, 0, 2, 2, 2, 5];
        let edge = Edge { first: 0, second: 2, resemblance: 0.9 };
        let expansion = Expansion::new(Contingency::between(&families, &class), &[edge]);
        assert_eq!((expansion.predicted, expansion.found), (1 + 3 + 6, 1 + 2 + 1));
        assert_eq!(expansion.predicted, count_all(&families, &[edge]));
        assert_eq!(expansion.wrong_edges, [edge]);
        let missing = [(0, 0), (0, 1), (2, 0), (2, 1), (5, 0), (5, 1)].map(|(family, class)| expansion.missing(family, class));
        assert_eq!(missing, [1, 0, 1, 0, 3, 0]);
    }
}
