//! Edit distance by bit vectors (Myers 1999, Hyyrö 2003), block row by block row inside a band: for many differences.
//!
//! In: two interned documents, the first not the longer, and the band's width. Out: the distance if it is at most the width.
//! Invariant: a cell inside the band is the cost of a real alignment, and exact where the cost is within the width. Cost:
//! (n / 128) · width steps of a dozen operations. Row by row, not column by column, because a row of blocks needs the masks of
//! 128 words only: the table for all blocks of two 100,000-word documents would take a gigabyte. Drops nothing.

use super::super::intern::Interned;

/// Cells of a column that one step computes. 128 bits cost 2 to 10 % less than 64; four chains of 64 side
/// by side, each a column behind, were no faster.
type Bits = u128;
const ROWS: usize = Bits::BITS as usize;

/// The distance, if it is at most `width`.
pub fn distance_at_most(words: &Interned, width: u32) -> Option<u32> {
    let (rows, columns) = (words.first.len(), words.second.len());
    let spare = (width as usize).checked_sub(columns - rows)? / 2;
    // An alignment within the width leaves the two corner diagonals by no more than this.
    let (below, above) = (spare, columns - rows + spare);
    let absent = words.first_distinct;
    let symbols: Vec<u32> = words.second.iter().map(|&word| word.min(absent)).collect();
    let mut masks: Vec<Bits> = vec![0; absent as usize + 1];
    // What a cell of the row above adds to its left neighbour. Outside the band: 1, an insertion.
    let mut steps: Vec<i8> = vec![1; columns];
    let (mut corner, mut start) = (0, 0);
    for top in (0..rows).step_by(ROWS) {
        let block = &words.first[top..rows.min(top + ROWS)];
        let left = top.saturating_sub(below);
        corner += total(&steps[start..left]);
        start = left;
        let end = columns.min(top + block.len() + above);
        set_masks(&mut masks, block);
        cross(&masks, block.len(), &symbols[start..end], &mut steps[start..end]);
        clear_masks(&mut masks, block);
        corner += block.len() as i64;
    }
    let distance = (corner + total(&steps[start..])) as u32;
    (distance <= width).then_some(distance)
}

fn total(steps: &[i8]) -> i64 {
    steps.iter().map(|&step| i64::from(step)).sum()
}

/// For each word of the block, the rows where it stands.
fn set_masks(masks: &mut [Bits], block: &[u32]) {
    for (row, &word) in block.iter().enumerate() {
        masks[word as usize] |= 1 << row;
    }
}

fn clear_masks(masks: &mut [Bits], block: &[u32]) {
    for &word in block {
        masks[word as usize] = 0;
    }
}

/// Carries a block of `height` rows over the columns; `steps` comes in from the row above and leaves as the block's last row.
fn cross(masks: &[Bits], height: usize, symbols: &[u32], steps: &mut [i8]) {
    let last: Bits = 1 << (height - 1);
    // Left of the band each row costs one more than the row above it: a deletion.
    let (mut up, mut down): (Bits, Bits) = (Bits::MAX, 0);
    for (&symbol, step) in symbols.iter().zip(steps) {
        let (rises, falls) = (Bits::from(*step > 0), Bits::from(*step < 0));
        let equal = masks[symbol as usize];
        let vertical = equal | down;
        let equal = equal | falls;
        let horizontal = ((equal & up).wrapping_add(up) ^ up) | equal;
        let right_up = down | !(horizontal | up);
        let right_down = up & horizontal;
        *step = i8::from(right_up & last != 0) - i8::from(right_down & last != 0);
        let right_up = (right_up << 1) | rises;
        let right_down = (right_down << 1) | falls;
        up = right_down | !(vertical | right_up);
        down = right_up & vertical;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::intern::intern;
    use super::*;

    #[test]
    fn a_band_holds_distances_up_to_its_width() {
        let first: Vec<u64> = (0..1000).collect();
        let second: Vec<u64> = (0..1000).map(|i| if i % 4 == 0 { 5000 + i } else { i }).collect();
        let words = intern(&first, &second);
        assert_eq!(distance_at_most(&words, 250), Some(250));
        assert_eq!(distance_at_most(&words, 249), None);
        assert_eq!(distance_at_most(&words, 1000), Some(250));
    }

    #[test]
    fn a_shift_needs_the_lengths_to_fit() {
        let first: Vec<u64> = (0..300).collect();
        let second: Vec<u64> = (0..700).map(|i| i + 1_000 * u64::from(i >= 300)).collect();
        let words = intern(&first, &second);
        assert_eq!(distance_at_most(&words, 399), None);
        assert_eq!(distance_at_most(&words, 400), Some(400));
    }
}
