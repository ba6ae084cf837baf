//! Leaders and members: the deterministic form of conservative (leader) clustering.
//!
//! Families are looked at in the order of their rank. One that no earlier leader may cover becomes a leader and offers itself to
//! all its neighbours; a member joins the most similar leader that may cover it, the better-ranked of equals. What a family
//! becomes depends on better ranks alone, so there is one answer, however the work is divided.

use crate::document::{DocIndex, Entry, Flags};
use crate::error::Result;
use crate::join::{SetIndex, Sets};
use crate::rank::Ranking;
use crate::verify::Similarity;

/// Who is near whom.
pub trait Neighbours {
    /// For each of `leaders` the sets that reach the threshold with it. `useful(leader, set)` tells which ones matter.
    fn of(
        &self,
        leaders: &[SetIndex],
        useful: &(dyn Fn(SetIndex, SetIndex) -> bool + Sync),
    ) -> Result<Vec<Vec<(SetIndex, Similarity)>>>;
}

type FamilyIndex = u32;

/// Documents of one set that share their fate. Protected ones don't: each is its own leader, but the best of them covers whatever the
/// others could, so one family stands for them here.
struct Family {
    set: SetIndex,
    forced: bool,
    whole: bool,
    best: DocIndex,
    rank: u32,
}

/// The leader that covers a family so far.
#[derive(Clone, Copy)]
struct Cover {
    leader: FamilyIndex,
    similarity: Similarity,
}

/// The representative of every document.
#[derive(Debug)]
pub struct Stars {
    /// By document; a document that is kept represents itself.
    pub representative: Vec<DocIndex>,
    /// With the representative.
    pub similarity: Vec<Similarity>,
}

/// Most leaders whose neighbours are looked up at a time.
const MAX_BATCH: usize = 4096;
/// Batches that find more neighbours than this are made smaller, for the sake of memory.
const MAX_NEIGHBOURS: usize = 1 << 20;

impl Stars {
    /// Settles who leads and who follows.
    pub fn settle(documents: &[Entry], sets: &Sets, ranking: &Ranking<'_>, neighbours: &dyn Neighbours) -> Result<Stars> {
        let families = Families::new(documents, sets, ranking);
        let covers = families.settle(neighbours)?;
        Ok(families.assign(documents, sets, &covers))
    }
}

struct Families {
    all: Vec<Family>,
    /// Families of a set: `all[starts[set]..starts[set + 1]]`.
    starts: Vec<usize>,
}

impl Families {
    fn new(documents: &[Entry], sets: &Sets, ranking: &Ranking<'_>) -> Families {
        let mut all: Vec<Family> = Vec::with_capacity(sets.len());
        let mut starts = Vec::with_capacity(sets.len() + 1);
        for set in 0..sets.len() as SetIndex {
            let first = all.len();
            starts.push(first);
            for &document in sets.documents(set) {
                let (forced, whole) = state(&documents[document as usize]);
                let rank = ranking.position(document);
                match all[first..].iter_mut().find(|f| f.forced == forced && f.whole == whole) {
                    Some(family) if family.rank > rank => (family.best, family.rank) = (document, rank),
                    Some(_) => (),
                    None => all.push(Family { set, forced, whole, best: document, rank }),
                }
            }
        }
        starts.push(all.len());
        Families { all, starts }
    }

    fn of_set(&self, set: SetIndex) -> std::ops::Range<FamilyIndex> {
        self.starts[set as usize] as FamilyIndex..self.starts[set as usize + 1] as FamilyIndex
    }

    fn get(&self, family: FamilyIndex) -> &Family {
        &self.all[family as usize]
    }

    fn settle(&self, neighbours: &dyn Neighbours) -> Result<Vec<Option<Cover>>> {
        let mut order: Vec<FamilyIndex> = (0..self.all.len() as FamilyIndex).collect();
        order.sort_unstable_by_key(|&f| self.get(f).rank);
        let worst_rank: Vec<u32> =
            self.starts.windows(2).map(|w| self.all[w[0]..w[1]].iter().map(|f| f.rank).max().unwrap_or(0)).collect();
        let best_rank: Vec<u32> =
            self.starts.windows(2).map(|w| self.all[w[0]..w[1]].iter().map(|f| f.rank).min().unwrap_or(0)).collect();
        let useful = |leader: SetIndex, set: SetIndex| worst_rank[set as usize] > best_rank[leader as usize];
        let mut covers = vec![None; self.all.len()];
        let mut at = 0;
        let mut batch = 1;
        while at < order.len() {
            let mut open = Vec::new();
            while at < order.len() && open.len() < batch {
                if self.leads(order[at], &covers) {
                    open.push(order[at]);
                }
                at += 1;
            }
            let sets: Vec<SetIndex> = open.iter().map(|&f| self.get(f).set).collect();
            let found = neighbours.of(&sets, &useful)?;
            let leaders = self.settle_batch(&open, &found, &mut covers);
            // Neighbours looked up for families that a leader of the same batch covers are wasted: where that is
            // common (a template with a million copies), small batches keep the work linear.
            let wasted = open.len() - leaders;
            let too_many = found.iter().map(Vec::len).sum::<usize>() > MAX_NEIGHBOURS;
            batch = if wasted * 4 > open.len() || too_many { (batch / 2).max(1) } else { (batch * 2).min(MAX_BATCH) };
        }
        Ok(covers)
    }

    /// Settles families in the order of rank; returns how many became leaders.
    fn settle_batch(&self, open: &[FamilyIndex], found: &[Vec<(SetIndex, Similarity)>], covers: &mut [Option<Cover>]) -> usize {
        let mut leaders = 0;
        for (&leader, neighbours) in open.iter().zip(found) {
            if !self.leads(leader, covers) {
                continue;
            }
            leaders += 1;
            self.offer(leader, self.get(leader).set, Similarity::ONE, covers);
            for &(set, similarity) in neighbours {
                self.offer(leader, set, similarity, covers);
            }
        }
        leaders
    }

    fn leads(&self, family: FamilyIndex, covers: &[Option<Cover>]) -> bool {
        self.get(family).forced || covers[family as usize].is_none()
    }

    /// Lets a leader cover the families of a set where it may and is the most similar so far.
    fn offer(&self, leader: FamilyIndex, set: SetIndex, similarity: Similarity, covers: &mut [Option<Cover>]) {
        for family in self.of_set(set) {
            let better = covers[family as usize].is_none_or(|cover| similarity > cover.similarity);
            if better && self.may_cover(leader, family) {
                covers[family as usize] = Some(Cover { leader, similarity });
            }
        }
    }

    fn may_cover(&self, leader: FamilyIndex, family: FamilyIndex) -> bool {
        let (leader, family) = (self.get(leader), self.get(family));
        !family.forced && (leader.whole || !family.whole) && leader.rank < family.rank
    }

    fn assign(&self, documents: &[Entry], sets: &Sets, covers: &[Option<Cover>]) -> Stars {
        let mut representative: Vec<DocIndex> = (0..documents.len() as DocIndex).collect();
        let mut similarity = vec![Similarity::ONE; documents.len()];
        for set in 0..sets.len() as SetIndex {
            for &document in sets.documents(set) {
                let (forced, whole) = state(&documents[document as usize]);
                let family = self.of_set(set).find(|&f| self.get(f).forced == forced && self.get(f).whole == whole);
                let (Some(family), false) = (family, forced) else { continue };
                let cover = covers[family as usize].unwrap_or(Cover { leader: family, similarity: Similarity::ONE });
                representative[document as usize] = self.get(cover.leader).best;
                similarity[document as usize] = cover.similarity;
            }
        }
        Stars { representative, similarity }
    }
}

fn state(document: &Entry) -> (bool, bool) {
    (document.flags.has(Flags::PROTECTED), document.flags.whole())
}
