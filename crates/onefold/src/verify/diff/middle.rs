//! The middle of a shortest edit script (Myers 1986, linear-space variant).
//!
//! In: two sequences that differ in their first and in their last word. Out: a point that some shortest script of insertions
//! and deletions passes, with half the changes on each side; nothing where the allowance ends first. Invariant: the point is
//! neither corner. Cost: d² / 2 steps and the words slid over, about the allowance at most. Drops nothing.

/// For each diagonal (row − column) the last row reached, from one corner of the table.
#[derive(Debug, Default)]
struct Frontier {
    rows: Vec<isize>,
    zero: isize,
}

impl Frontier {
    /// Diagonals from −`widest` to `widest`; those that a round reads were written by the round before.
    fn reset(&mut self, widest: usize) {
        self.zero = widest as isize + 1;
        if self.rows.len() < 2 * widest + 3 {
            self.rows.resize(2 * widest + 3, 0);
        }
        self.set(1, 0);
    }

    fn row(&self, diagonal: isize) -> isize {
        self.rows[(self.zero + diagonal) as usize]
    }

    fn set(&mut self, diagonal: isize, row: isize) {
        self.rows[(self.zero + diagonal) as usize] = row;
    }

    /// The row that one more change reaches before words slide.
    fn next_row(&self, diagonal: isize, round: isize) -> isize {
        if diagonal == -round || (diagonal != round && self.row(diagonal - 1) < self.row(diagonal + 1)) {
            self.row(diagonal + 1)
        } else {
            self.row(diagonal - 1) + 1
        }
    }

    /// Spends one change on every diagonal; words slid over are counted. Returns the slide (diagonal, from row, to row) after
    /// which `met` holds.
    fn advance(
        &mut self,
        round: isize,
        slid: &mut usize,
        slide: impl Fn(usize, usize) -> usize,
        met: impl Fn(isize, isize) -> bool,
    ) -> Option<(isize, usize, usize)> {
        for diagonal in (-round..=round).step_by(2) {
            let start = self.next_row(diagonal, round);
            let length = slide(start as usize, (start - diagonal) as usize);
            let end = start + length as isize;
            *slid += length;
            self.set(diagonal, end);
            if met(diagonal, end) {
                return Some((diagonal, start as usize, end as usize));
            }
        }
        None
    }
}

/// Finds middles, with buffers kept from call to call.
#[derive(Debug, Default)]
pub struct Middle {
    forward: Frontier,
    backward: Frontier,
}

impl Middle {
    /// The point, as words of each sequence before it, if it is found in about `allowance` steps.
    pub fn find(&mut self, first: &[u64], second: &[u64], allowance: usize) -> Option<(usize, usize)> {
        let (rows, columns) = (first.len(), second.len());
        let corner = rows as isize - columns as isize;
        let odd = corner % 2 != 0;
        let rounds = (rows + columns).div_ceil(2).min(allowance.isqrt());
        self.forward.reset(rounds);
        self.backward.reset(rounds);
        let mut slid = 0;
        for round in 0..=rounds as isize {
            let reach = |diagonal: isize, round: isize| (diagonal - corner).abs() <= round;
            let other = &self.backward;
            let met = |diagonal, row| odd && reach(diagonal, round - 1) && row + other.row(corner - diagonal) >= rows as isize;
            let slide = |row: usize, column: usize| common_start(first.get(row..), second.get(column..));
            if let Some((diagonal, start, _)) = self.forward.advance(round, &mut slid, slide, met) {
                return Some((start, (start as isize - diagonal) as usize));
            }
            let other = &self.forward;
            let met = |diagonal, row| !odd && reach(diagonal, round) && row + other.row(corner - diagonal) >= rows as isize;
            let slide = |row: usize, column: usize| common_end(first, second, row, column);
            if let Some((diagonal, _, end)) = self.backward.advance(round, &mut slid, slide, met) {
                return Some((rows - end, columns - (end as isize - diagonal) as usize));
            }
            if slid > allowance {
                return None;
            }
        }
        None
    }
}

/// Common words at the start; none outside the table.
fn common_start(first: Option<&[u64]>, second: Option<&[u64]>) -> usize {
    first.unwrap_or_default().iter().zip(second.unwrap_or_default()).take_while(|(a, b)| a == b).count()
}

/// Common words at the end, without so many words there.
fn common_end(first: &[u64], second: &[u64], row: usize, column: usize) -> usize {
    let rest = |words: &'_ [u64], without: usize| words.len().saturating_sub(without);
    let (first, second) = (&first[..rest(first, row)], &second[..rest(second, column)]);
    first.iter().rev().zip(second.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_halves_the_changes() {
        // Two words replaced: four changes, two on each side of the kept middle.
        assert_eq!(Middle::default().find(&[1, 5, 6, 7, 2], &[3, 5, 6, 7, 4], 1000), Some((1, 1)));
    }

    #[test]
    fn an_allowance_ends_the_search() {
        let (first, second): (Vec<u64>, Vec<u64>) = ((0..100).collect(), (100..200).collect());
        assert_eq!(Middle::default().find(&first, &second, 1000), None);
        assert!(Middle::default().find(&first, &second, 100_000).is_some());
    }
}
