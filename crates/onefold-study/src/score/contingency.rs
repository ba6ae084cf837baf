//! How many documents each row (cluster, family) has in common with each column (class).
//!
//! In: a row for each document, and a column for those that take part. Out: counts, and what follows from counts alone.
//! Cost: O(n log n) time, O(n) space: at most one cell for each document.

use std::ops::Range;

use super::measure::BCubed;

/// Documents that share a row and a column.
pub(super) struct Cell {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) count: u64,
}

/// A sparse table of counts.
pub(super) struct Contingency {
    /// Sorted by row, then column; none is empty. The fixed order keeps sums of floats the same from run to run.
    pub(super) cells: Vec<Cell>,
    rows: Vec<u64>,
    columns: Vec<u64>,
    documents: u64,
}

impl Contingency {
    /// Counts the documents that have a column.
    pub(super) fn between(row: &[usize], column: &[Option<usize>]) -> Contingency {
        let both = row.iter().zip(column);
        let mut places: Vec<(usize, usize)> = both.filter_map(|(&row, &column)| Some((row, column?))).collect();
        places.sort_unstable();
        let mut table = Contingency {
            cells: Vec::new(),
            // Rows and columns are numbered by one of their documents.
            rows: vec![0; row.len()],
            columns: vec![0; row.len()],
            documents: places.len() as u64,
        };
        for equal in places.chunk_by(|a, b| a == b) {
            let ((row, column), count) = (equal[0], equal.len() as u64);
            table.rows[row] += count;
            table.columns[column] += count;
            table.cells.push(Cell { row, column, count });
        }
        table
    }

    pub(super) fn row_total(&self, row: usize) -> u64 {
        self.rows[row]
    }

    pub(super) fn column_total(&self, column: usize) -> u64 {
        self.columns[column]
    }

    /// Where the cells of a row are.
    pub(super) fn row(&self, row: usize) -> Range<usize> {
        let start = self.cells.partition_point(|cell| cell.row < row);
        let width = self.cells[start..].partition_point(|cell| cell.row == row);
        start..start + width
    }

    /// Where in the cells of one row a column is.
    pub(super) fn find(&self, row: &Range<usize>, column: usize) -> Option<usize> {
        let cells = &self.cells[row.clone()];
        let found = cells.binary_search_by_key(&column, |cell| cell.column);
        found.ok().map(|at| row.start + at)
    }

    /// Pairs of documents that share row and column.
    pub(super) fn cell_pairs(&self) -> u64 {
        self.cells.iter().map(|cell| pairs_of(cell.count)).sum()
    }

    /// Pairs of documents that share a row.
    pub(super) fn row_pairs(&self) -> u64 {
        self.rows.iter().copied().map(pairs_of).sum()
    }

    /// Pairs of documents that share a column.
    pub(super) fn column_pairs(&self) -> u64 {
        self.columns.iter().copied().map(pairs_of).sum()
    }

    /// The Rand index, adjusted for chance; none for no documents.
    ///
    /// The fraction is kept in integers until the end: with n documents its terms are below n⁴ / 2, which fits for
    /// three billion documents. It is 0 / 0 only where both partitions are all singletons or both one block (or there
    /// is one document), hence equal: then 1.
    pub(super) fn adjusted_rand_index(&self) -> Option<f64> {
        let both = i128::from(self.cell_pairs());
        let (rows, columns) = (i128::from(self.row_pairs()), i128::from(self.column_pairs()));
        let all = i128::from(pairs_of(self.documents));
        let above_chance = 2 * (all * both - rows * columns);
        let possible = all * (rows + columns) - 2 * rows * columns;
        match (self.documents, possible) {
            (0, _) => None,
            (_, 0) => Some(1.0),
            _ => Some(above_chance as f64 / possible as f64),
        }
    }

    /// B³ precision, recall and their harmonic mean; none for no documents.
    pub(super) fn b_cubed(&self) -> Option<BCubed> {
        if self.documents == 0 {
            return None;
        }
        let mean = |total: &dyn Fn(&Cell) -> u64| {
            let shares = self.cells.iter().map(|cell| square(cell.count) / total(cell) as f64);
            shares.sum::<f64>() / self.documents as f64
        };
        let precision = mean(&|cell| self.rows[cell.row]);
        let recall = mean(&|cell| self.columns[cell.column]);
        let f1 = 2.0 * precision * recall / (precision + recall);
        Some(BCubed { precision, recall, f1 })
    }
}

/// Unordered pairs among so many documents.
pub(super) fn pairs_of(count: u64) -> u64 {
    count * count.saturating_sub(1) / 2
}

fn square(count: u64) -> f64 {
    count as f64 * count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[usize], columns: &[usize]) -> Contingency {
        let columns: Vec<_> = columns.iter().copied().map(Some).collect();
        Contingency::between(rows, &columns)
    }

    fn rand_index(rows: &[usize], columns: &[usize]) -> Option<f64> {
        table(rows, columns).adjusted_rand_index()
    }

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-12
    }

    #[test]
    fn textbook_values_of_the_adjusted_rand_index() {
        assert!(rand_index(&[0, 0, 1, 1], &[0, 0, 1, 2]).is_some_and(|found| close(found, 4.0 / 7.0)));
        assert_eq!(rand_index(&[0, 0, 1, 1], &[3, 3, 2, 2]), Some(1.0));
        assert_eq!(rand_index(&[0, 0, 1, 1], &[0, 1, 0, 1]), Some(-0.5));
        assert_eq!(rand_index(&[0, 0, 0, 0], &[0, 1, 2, 3]), Some(0.0));
    }

    #[test]
    fn trivial_partitions() {
        assert_eq!(rand_index(&[0, 0, 0], &[1, 1, 1]), Some(1.0));
        assert_eq!(rand_index(&[0, 1, 2], &[2, 1, 0]), Some(1.0));
        assert_eq!(rand_index(&[0], &[0]), Some(1.0));
        assert_eq!(rand_index(&[], &[]), None);
        assert_eq!(table(&[], &[]).b_cubed(), None);
    }

    #[test]
    fn b_cubed_by_hand() {
        let found = table(&[0, 0, 0, 0, 0, 1, 1], &[0, 0, 0, 0, 1, 1, 1]).b_cubed().unwrap();
        // Precision: 4 × 4/5, 1 × 1/5, 2 × 1. Recall: 4 × 1, 1 × 1/3, 2 × 2/3.
        assert!(close(found.precision, 5.4 / 7.0));
        assert!(close(found.recall, 17.0 / 21.0));
        assert!(close(found.f1, 2.0 / (7.0 / 5.4 + 21.0 / 17.0)));
        let equal = table(&[0, 0, 1], &[1, 1, 0]).b_cubed().unwrap();
        assert_eq!((equal.precision, equal.recall, equal.f1), (1.0, 1.0, 1.0));
    }

    #[test]
    fn terms_of_a_billion_documents_fit() {
        let blocks = |size: u64| Contingency {
            cells: vec![Cell { row: 0, column: 0, count: size }, Cell { row: 1, column: 1, count: size }],
            rows: vec![size, size],
            columns: vec![size, size],
            documents: 2 * size,
        };
        assert_eq!(blocks(1_000_000_000).adjusted_rand_index(), Some(1.0));
    }
}
