//! The few best of many, where a key may only get better.

/// The `most` names with the smallest keys, exactly, in memory for `most` names.
///
/// A name that belongs to the final list is in it after its best key was offered: the last place only ever gets harder to
/// reach. So the order of offers does not matter.
#[derive(Debug)]
pub struct Top<K> {
    most: usize,
    /// Sorted.
    best: Vec<(K, String)>,
}

impl<K: PartialOrd + Copy> Top<K> {
    /// An empty list.
    pub fn new(most: usize) -> Self {
        Top { most, best: Vec::with_capacity(most + 1) }
    }

    /// Offers a key for a name.
    pub fn offer(&mut self, key: K, name: &str) {
        let precedes = |a: (&K, &str), b: (&K, &str)| a.0 < b.0 || (a.0 == b.0 && a.1 < b.1);
        let full = self.best.len() >= self.most;
        if full && self.best.last().is_none_or(|(last, other)| !precedes((&key, name), (last, other))) {
            return;
        }
        if let Some(at) = self.best.iter().position(|(_, known)| known == name) {
            if self.best[at].0 <= key {
                return;
            }
            self.best.remove(at);
        }
        let at = self.best.partition_point(|(other, known)| precedes((other, known), (&key, name)));
        self.best.insert(at, (key, name.into()));
        self.best.truncate(self.most);
    }

    /// The names, best first.
    pub fn into_names(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_best_are_found_in_any_order(offers in prop::collection::vec((0u8..50, 0u8..30), 0..200), most in 1usize..8) {
            let mut top = Top::new(most);
            let mut least: BTreeMap<String, u8> = BTreeMap::new();
            for (key, name) in offers {
                let name = format!("{name:02}");
                top.offer(key, &name);
                least.entry(name).and_modify(|known| *known = key.min(*known)).or_insert(key);
            }
            let mut expected: Vec<(u8, String)> = least.into_iter().map(|(name, key)| (key, name)).collect();
            expected.sort();
            expected.truncate(most);
            prop_assert_eq!(top.into_names(), expected.into_iter().map(|(_, name)| name).collect::<Vec<_>>());
        }
    }
}
