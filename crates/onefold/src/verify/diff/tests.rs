use super::*;
use proptest::prelude::*;

/// Words changed by the shortest diff: all but a longest common subsequence, twice.
fn fewest_changed(first: &[u64], second: &[u64]) -> usize {
    let mut row = vec![0; second.len() + 1];
    for a in first {
        let mut diagonal = 0;
        for (j, b) in second.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if a == b { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    first.len() + second.len() - 2 * row[second.len()]
}

fn changed(diff: &Diff) -> usize {
    let changed = diff.changes.iter().filter(|change| change.kind != Kind::Equal);
    changed.map(|change| change.first.len() + change.second.len()).sum()
}

/// Turns the first document into the second, and checks the order of the runs on the way.
fn check_applies(first: &[u64], second: &[u64], diff: &Diff) -> Result<(), TestCaseError> {
    let (mut row, mut column, mut previous) = (0, 0, None);
    let mut result = Vec::new();
    for change in &diff.changes {
        prop_assert_eq!((change.first.start, change.second.start), (row, column));
        prop_assert_ne!(previous, Some(change.kind));
        match change.kind {
            Kind::Equal => {
                prop_assert_eq!(change.first.len(), change.second.len());
                result.extend_from_slice(&first[change.first.clone()]);
            }
            Kind::Removed => prop_assert!(change.second.is_empty() && previous != Some(Kind::Added)),
            Kind::Added => {
                prop_assert!(change.first.is_empty());
                result.extend_from_slice(&second[change.second.clone()]);
            }
        }
        prop_assert!(change.first.len() + change.second.len() > 0);
        (row, column, previous) = (change.first.end, change.second.end, Some(change.kind));
    }
    prop_assert_eq!((row, column), (first.len(), second.len()));
    prop_assert_eq!(result, second);
    Ok(())
}

proptest! {
    #[test]
    fn small_diffs_are_minimal(first in prop::collection::vec(0u64..4, 0..60), second in prop::collection::vec(0u64..4, 0..60)) {
        let found = diff(&first, &second);
        check_applies(&first, &second, &found)?;
        prop_assert!(!found.approximate);
        prop_assert_eq!(changed(&found), fewest_changed(&first, &second));
    }

    #[test]
    fn longer_diffs_are_minimal(first in prop::collection::vec(0u64..30, 0..300), second in prop::collection::vec(0u64..30, 0..200)) {
        let found = diff(&first, &second);
        check_applies(&first, &second, &found)?;
        prop_assert_eq!(changed(&found), fewest_changed(&first, &second));
    }

    #[test]
    fn approximate_diffs_apply(first in prop::collection::vec(0u64..3, 0..200), second in prop::collection::vec(0u64..3, 0..200), steps in 0usize..2000) {
        let found = diff_within(&first, &second, steps);
        check_applies(&first, &second, &found)?;
        prop_assert!(found.approximate || changed(&found) == fewest_changed(&first, &second));
    }

    #[test]
    fn chains_hold_most_words(blocks in Just((0usize..9).collect::<Vec<_>>()).prop_shuffle(), lengths in prop::collection::vec(1usize..9, 9)) {
        // Nine blocks of ten words each, in another order in the second document.
        let all: Vec<Passage> =
            blocks.iter().enumerate().map(|(i, &block)| Passage { first: 10 * i, second: 10 * block, length: lengths[i] }).collect();
        let rises = |chosen: &[usize]| chosen.windows(2).all(|pair| all[pair[0]].second < all[pair[1]].second);
        let words = |chosen: &[usize]| chosen.iter().map(|&i| all[i].length).sum::<usize>();
        let subsets = (0..1u32 << 9).map(|set| (0..9).filter(|i| set >> i & 1 == 1).collect::<Vec<usize>>());
        let most = subsets.filter(|chosen| rises(chosen)).map(|chosen| words(&chosen)).max();
        let found = in_order(all.clone());
        prop_assert!(found.windows(2).all(|pair| pair[0].first < pair[1].first && pair[0].second < pair[1].second));
        prop_assert_eq!(Some(found.iter().map(|passage| passage.length).sum::<usize>()), most);
    }
}

#[test]
fn runs_are_named() {
    let found = diff(&[1, 2, 3, 4, 5], &[1, 9, 3, 4, 5, 6]);
    let expected = [
        (Kind::Equal, 0..1, 0..1),
        (Kind::Removed, 1..2, 1..1),
        (Kind::Added, 2..2, 1..2),
        (Kind::Equal, 2..5, 2..5),
        (Kind::Added, 5..5, 5..6),
    ];
    assert_eq!(found.changes, expected.map(|(kind, first, second)| Change { kind, first, second }));
    assert_eq!(diff(&[], &[]), Diff::default());
}

#[test]
fn documents_without_a_common_word_are_one_replaced_block() {
    let (first, second): (Vec<u64>, Vec<u64>) = ((0..20_000).collect(), (20_000..40_000).collect());
    let found = diff(&first, &second);
    assert_eq!(found.changes.iter().map(|change| change.kind).collect::<Vec<_>>(), [Kind::Removed, Kind::Added]);
    assert!(found.approximate);
}

#[test]
fn cut_documents_keep_their_common_passages() {
    // Every second block of ten words is replaced: far too many changes for the minimal diff.
    let first: Vec<u64> = (0..40_000).collect();
    let second: Vec<u64> = (0..40_000).map(|i| if i / 10 % 2 == 0 { i } else { 100_000 + i }).collect();
    let found = diff(&first, &second);
    assert!(found.approximate);
    assert_eq!(changed(&found), 40_000);
}
