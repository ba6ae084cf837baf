//! Who is near whom, for clustering: from a list of pairs, or by probing the index for one leader at a time.

use crate::cluster::Neighbours;
use crate::error::Result;
use crate::exec::Exec;
use crate::fingerprint::Fingerprint;
use crate::join::{Join, SetIndex, SetPair, Sets};
use crate::verify::Similarity;

type Near = (SetIndex, Similarity);

/// Pairs, by set.
pub(crate) struct Adjacent {
    near: Vec<Near>,
    starts: Vec<usize>,
}

impl Adjacent {
    pub(crate) fn new<'a>(sets: &Sets, pairs: impl Iterator<Item = &'a SetPair> + Clone) -> Self {
        let mut starts = vec![0usize; sets.len() + 1];
        for pair in pairs.clone() {
            starts[pair.first as usize + 1] += 1;
            starts[pair.second as usize + 1] += 1;
        }
        for set in 0..sets.len() {
            starts[set + 1] += starts[set];
        }
        let mut next = starts.clone();
        let mut near = vec![(0, Similarity::ONE); starts[sets.len()]];
        for pair in pairs {
            for (from, to) in [(pair.first, pair.second), (pair.second, pair.first)] {
                near[next[from as usize]] = (to, pair.similarity(sets));
                next[from as usize] += 1;
            }
        }
        Adjacent { near, starts }
    }
}

impl Neighbours for Adjacent {
    fn of(&self, leaders: &[SetIndex], _useful: &(dyn Fn(SetIndex, SetIndex) -> bool + Sync)) -> Result<Vec<Vec<Near>>> {
        Ok(leaders.iter().map(|&set| self.near[self.starts[set as usize]..self.starts[set as usize + 1]].to_vec()).collect())
    }
}

/// The index itself: only leaders are ever looked up, so a template with a million copies costs a million comparisons.
pub(crate) struct Probing<'a, F> {
    pub(crate) join: &'a Join<'a, F>,
    pub(crate) exec: &'a Exec<'a>,
}

impl<F: Fingerprint> Neighbours for Probing<'_, F> {
    fn of(&self, leaders: &[SetIndex], useful: &(dyn Fn(SetIndex, SetIndex) -> bool + Sync)) -> Result<Vec<Vec<Near>>> {
        let found = self.join.partners_of(self.exec, leaders, useful);
        self.exec.check()?;
        Ok(found)
    }
}
