//! Connected components of near-duplicates, for `--cluster transitive`.

use crate::join::SetIndex;

/// Who is connected with whom so far (union–find).
pub struct Components {
    parents: Vec<SetIndex>,
}

impl Components {
    /// Everyone alone.
    pub fn new(sets: usize) -> Self {
        Components { parents: (0..sets as SetIndex).collect() }
    }

    /// The end of each one's way from parent to parent.
    pub fn ends(parents: Vec<SetIndex>) -> Vec<SetIndex> {
        Components { parents }.roots()
    }

    /// The same from several views of the same sets.
    pub fn unite(sets: usize, views: Vec<Components>) -> Vec<SetIndex> {
        let mut connected = Components::new(sets);
        for mut view in views {
            for set in 0..sets as SetIndex {
                let root = view.root(set);
                connected.join(set, root);
            }
        }
        connected.roots()
    }

    /// Connects two sets.
    pub fn join(&mut self, a: SetIndex, b: SetIndex) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// The root, without shortening the way to it.
    pub fn peek(&self, mut set: SetIndex) -> SetIndex {
        while self.parents[set as usize] != set {
            set = self.parents[set as usize];
        }
        set
    }

    /// The root, halving the path on the way.
    fn root(&mut self, mut set: SetIndex) -> SetIndex {
        while self.parents[set as usize] != set {
            let grandparent = self.parents[self.parents[set as usize] as usize];
            self.parents[set as usize] = grandparent;
            set = grandparent;
        }
        set
    }

    /// For each set the smallest set of its component.
    pub fn roots(mut self) -> Vec<SetIndex> {
        (0..self.parents.len() as SetIndex).map(|set| self.root(set)).collect()
    }
}
