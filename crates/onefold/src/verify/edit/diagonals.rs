//! Edit distance by furthest-reaching cells (Ukkonen 1985; Landau and Vishkin 1989): for few differences.
//!
//! In: two word sequences and the greatest distance of interest. Out: the distance, or up to where it is excluded. Invariant:
//! after round d the entry of diagonal k is the last row that distance d reaches there. Cost: d² steps and the words slid
//! over, both on one allowance, so that periodic text cannot make it O(n·d). Drops nothing.

/// What the diagonals found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The distance.
    Distance(u32),
    /// The distance is greater than this.
    Above(u32),
}

/// Words slid over without charge: some passes over both documents.
const FREE_PASSES: usize = 4;

/// A row before the first: nothing reaches the diagonal yet.
const UNREACHED: i64 = -2;

/// The distance of two sequences, neither of them empty, if it is at most `deepest`.
pub fn distance(first: &[u64], second: &[u64], deepest: u32) -> Outcome {
    let (rows, columns) = (first.len() as i64, second.len() as i64);
    let deepest_diagonal = i64::from(deepest);
    let mut allowance = FREE_PASSES * (first.len() + second.len()) + (deepest as usize).pow(2);
    // Diagonal k = column − row lives at index k + deepest + 1, with one unreached neighbour at each end.
    let index = |diagonal: i64| (diagonal + deepest_diagonal + 1) as usize;
    let mut reached = vec![UNREACHED; 2 * deepest as usize + 3];
    for round in 0..=deepest {
        let span = i64::from(round);
        let mut left = UNREACHED;
        for diagonal in (-span).max(-rows)..=span.min(columns) {
            let at = index(diagonal);
            let start = if round == 0 { 0 } else { left.max(reached[at] + 1).max(reached[at + 1] + 1) };
            let start = start.min(rows).min(columns - diagonal);
            left = reached[at];
            let slid = common_prefix(&first[start as usize..], &second[(start + diagonal) as usize..]);
            reached[at] = start + slid as i64;
            if reached[at] == rows && diagonal == columns - rows {
                return Outcome::Distance(round);
            }
            allowance = allowance.saturating_sub(slid);
        }
        if allowance == 0 {
            return Outcome::Above(round);
        }
    }
    Outcome::Above(deepest)
}

fn common_prefix(first: &[u64], second: &[u64]) -> usize {
    first.iter().zip(second).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_up_to_where_it_looked() {
        let (first, second) = ([1, 2, 3, 4, 5], [9, 2, 8, 4, 7]);
        assert_eq!(distance(&first, &second, 2), Outcome::Above(2));
        assert_eq!(distance(&first, &second, 3), Outcome::Distance(3));
        assert_eq!(distance(&first, &second, 100), Outcome::Distance(3));
    }

    #[test]
    fn gives_up_where_sliding_costs_too_much() {
        // Every second diagonal slides from one odd word to the next.
        let first: Vec<u64> = (0..20_000).map(|i| if i % 1000 == 999 { 2 } else { i % 2 }).collect();
        let second: Vec<u64> = (0..20_000).map(|i| if i % 1000 == 499 { 3 } else { i % 2 }).collect();
        let Outcome::Above(reached) = distance(&first, &second, 39) else { panic!("the distance is 40") };
        assert!(reached < 39, "{reached}");
    }
}
