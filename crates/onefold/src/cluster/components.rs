//! Connected components of near-duplicates, for `--cluster transitive`.

use crate::join::{SetIndex, SetPair, Sets};

/// For each set the smallest set of its component.
pub fn components(sets: &Sets, pairs: impl Iterator<Item = SetPair>) -> Vec<SetIndex> {
    let mut parents: Vec<SetIndex> = (0..sets.len() as SetIndex).collect();
    for pair in pairs {
        let (a, b) = (root(&mut parents, pair.first), root(&mut parents, pair.second));
        parents[a.max(b) as usize] = a.min(b);
    }
    (0..sets.len() as SetIndex).map(|set| root(&mut parents, set)).collect()
}

/// The root, halving the path on the way.
fn root(parents: &mut [SetIndex], mut set: SetIndex) -> SetIndex {
    while parents[set as usize] != set {
        let grandparent = parents[parents[set as usize] as usize];
        parents[set as usize] = grandparent;
        set = grandparent;
    }
    set
}
