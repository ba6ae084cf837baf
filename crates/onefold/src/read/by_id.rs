//! The order of ids.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::document::Entry;

/// So few are compared as they are.
const FEW: usize = 16;
/// So many are worth a thread.
const MANY: usize = 1 << 12;

/// A document to be sorted: eight bytes of its id, and its number.
type Key = (u64, u32);

/// Sorts documents by their ids, bytewise; `tie` decides between those of one id.
///
/// Ids have long beginnings in common and lie anywhere in memory, so a comparison of two is dear. Here eight bytes of each are
/// looked at, then eight more among those that were equal, and the documents themselves are moved only at the end.
pub(super) fn sort_by_id(documents: &mut [Entry], tie: impl Fn(&Entry, &Entry) -> Ordering) {
    let mut keys: Vec<Key> = (0..documents.len() as u32).map(|number| (0, number)).collect();
    let mut unsorted = vec![(0..keys.len(), 0)];
    while let Some((some, known)) = unsorted.pop() {
        let (first, keys) = (some.start, &mut keys[some]);
        let document = |key: &Key| &documents[key.1 as usize];
        if keys.len() <= FEW || keys.iter().any(|key| document(key).id.len() < known) {
            let compare = |a: &Entry, b: &Entry| a.id.cmp(&b.id).then_with(|| tie(a, b));
            keys.sort_unstable_by(|a, b| compare(document(a), document(b)));
            continue;
        }
        let fill = |key: &mut Key| key.0 = eight_bytes(&document(key).id.as_bytes()[known..]);
        keys.par_iter_mut().with_min_len(MANY).for_each(fill);
        keys.par_sort_unstable_by_key(|key| key.0);
        let mut start = first;
        for equal in keys.chunk_by(|a, b| a.0 == b.0) {
            if equal.len() > 1 {
                unsorted.push((start..start + equal.len(), known + 8));
            }
            start += equal.len();
        }
    }
    put_in_order(documents, keys);
}

/// The first eight bytes as a number that sorts like them; zeros stand for those that are missing.
fn eight_bytes(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    let length = bytes.len().min(8);
    eight[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(eight)
}

/// Moves each document to the place of its key.
fn put_in_order(documents: &mut [Entry], mut keys: Vec<Key>) {
    for start in 0..keys.len() {
        let mut place = start;
        // Whoever belongs here lies where another belongs, and so on, until the way ends where it began.
        loop {
            let from = std::mem::replace(&mut keys[place].1, place as u32) as usize;
            if from == start {
                break;
            }
            documents.swap(place, from);
            place = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(id: String, number: u32) -> Entry {
        Entry {
            id,
            source: number,
            locator: Default::default(),
            url: None,
            time: None,
            score: None,
            flags: Default::default(),
            tokens: 0,
            digest: Default::default(),
            shingles: Default::default(),
            features: 0,
        }
    }

    proptest! {
        #[test]
        fn ids_come_in_order_and_ties_too(ids in prop::collection::vec("(in/the/same/folder/)?[ab\0]{0,20}", 0..300)) {
            let mut documents: Vec<Entry> = ids.iter().cloned().zip(0..).map(|(id, number)| entry(id, number)).collect();
            sort_by_id(&mut documents, |a, b| b.source.cmp(&a.source));
            let mut expected: Vec<(String, std::cmp::Reverse<u32>)> = ids.into_iter().zip((0..).map(std::cmp::Reverse)).collect();
            expected.sort();
            let found: Vec<_> = documents.into_iter().map(|document| (document.id, std::cmp::Reverse(document.source))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
