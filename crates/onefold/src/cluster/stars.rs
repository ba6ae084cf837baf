//! Leaders and members: the deterministic form of conservative (leader) clustering.
//!
//! Families are looked at in the order of their rank. One that no earlier leader may cover becomes a leader and offers itself to
//! all its neighbours; a member joins the most similar leader that may cover it, the better-ranked of equals. What a family
//! becomes depends on better ranks alone, so there is one answer, however the work is divided.

use serde::{Deserialize, Serialize};

use crate::document::{DocIndex, Entry};
use crate::error::Result;
use crate::join::{SetIndex, Sets};
use crate::rank::Ranking;
use crate::verify::{Measure, Similarity, Tie, TieKind};

/// Which of the leaders that may cover it a document joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Members {
    /// The most similar; of equals the better-ranked.
    Closest,
    /// The best-ranked (W11).
    First,
}

/// Who is near whom.
pub trait Neighbours {
    /// For each of `leaders` the sets that belong to it. `useful(leader, set)` tells which ones matter.
    fn of(
        &self,
        leaders: &[SetIndex],
        useful: &(dyn Fn(SetIndex, SetIndex) -> bool + Sync),
    ) -> Result<Vec<Vec<(SetIndex, Similarity)>>>;
}

type FamilyIndex = u32;

/// Documents of one set that share their fate. Forced ones don't: each is its own leader, but the best of them covers whatever the
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
    tie: Tie,
}

/// The representative of every document.
#[derive(Debug)]
pub struct Stars {
    /// By document. A document that is kept represents itself, or stands beside one that contains it or that it contains.
    pub representative: Vec<DocIndex>,
    /// To the representative.
    pub tie: Vec<Tie>,
    /// Whether it stays.
    pub kept: Vec<bool>,
}

/// Most leaders whose neighbours are looked up at a time.
const MAX_BATCH: usize = 4096;
/// Batches that find more neighbours than this are made smaller, for the sake of memory.
const MAX_NEIGHBOURS: usize = 1 << 20;

impl Stars {
    /// Settles who leads and who follows. What `removes` is removed; ties of other kinds only show who stands beside whom.
    pub fn settle(
        documents: &[Entry],
        sets: &Sets,
        ranking: &Ranking<'_>,
        neighbours: &dyn Neighbours,
        measure: Measure,
        members: Members,
        removes: impl Fn(TieKind) -> bool,
    ) -> Result<Stars> {
        let families = Families { members, ..Families::new(documents, sets, ranking, measure) };
        let all = Round { standing: vec![true; families.all.len()], holds: &removes, all_lead: false };
        let covers = families.settle(neighbours, &all)?;
        let mut stars = families.assign(documents, &covers);
        if measure.containment.is_some() {
            let standing = (0..families.all.len() as FamilyIndex).map(|family| families.leads(family, &covers)).collect();
            let kept = Round { standing, holds: &|kind| !removes(kind), all_lead: true };
            let beside = families.settle(neighbours, &kept)?;
            families.place_beside(&beside, &mut stars);
        }
        Ok(stars)
    }
}

/// Who takes part in settling, and by which ties a leader covers others.
struct Round<'a> {
    /// Families that take part.
    standing: Vec<bool>,
    holds: &'a dyn Fn(TieKind) -> bool,
    /// Whether also what is covered covers others.
    all_lead: bool,
}

struct Families<'a> {
    measure: Measure,
    members: Members,
    sets: &'a Sets,
    all: Vec<Family>,
    /// Families of a set: `all[starts[set]..starts[set + 1]]`.
    starts: Vec<usize>,
}

impl<'a> Families<'a> {
    fn new(documents: &[Entry], sets: &'a Sets, ranking: &Ranking<'_>, measure: Measure) -> Families<'a> {
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
        Families { measure, members: Members::Closest, sets, all, starts }
    }

    fn of_set(&self, set: SetIndex) -> std::ops::Range<FamilyIndex> {
        self.starts[set as usize] as FamilyIndex..self.starts[set as usize + 1] as FamilyIndex
    }

    fn get(&self, family: FamilyIndex) -> &Family {
        &self.all[family as usize]
    }

    fn settle(&self, neighbours: &dyn Neighbours, round: &Round<'_>) -> Result<Vec<Option<Cover>>> {
        let mut order: Vec<FamilyIndex> = (0..self.all.len() as FamilyIndex).filter(|&f| round.standing[f as usize]).collect();
        order.sort_unstable_by_key(|&f| self.get(f).rank);
        let families_of = |bounds: &[usize]| self.all[bounds[0]..bounds[1]].iter();
        let worst_removable: Vec<u32> =
            self.starts.windows(2).map(|set| families_of(set).filter(|f| !f.forced).map(|f| f.rank).max().unwrap_or(0)).collect();
        let best_rank: Vec<u32> = self.starts.windows(2).map(|set| families_of(set).map(|f| f.rank).min().unwrap_or(0)).collect();
        let useful = |leader: SetIndex, set: SetIndex| worst_removable[set as usize] > best_rank[leader as usize];
        let mut covers = vec![None; self.all.len()];
        let mut at = 0;
        let mut batch = 1;
        while at < order.len() {
            let mut open = Vec::new();
            while at < order.len() && open.len() < batch {
                if round.all_lead || self.leads(order[at], &covers) {
                    open.push(order[at]);
                }
                at += 1;
            }
            let sets: Vec<SetIndex> = open.iter().map(|&f| self.get(f).set).collect();
            let found = neighbours.of(&sets, &useful)?;
            let leaders = self.settle_batch(&open, &found, round, &mut covers);
            // Neighbours looked up for families that a leader of the same batch covers are wasted: where that is
            // common (a template with a million copies), small batches keep the work linear.
            let wasted = open.len() - leaders;
            let too_many = found.iter().map(Vec::len).sum::<usize>() > MAX_NEIGHBOURS;
            batch = if wasted * 4 > open.len() || too_many { (batch / 2).max(1) } else { (batch * 2).min(MAX_BATCH) };
        }
        Ok(covers)
    }

    /// Settles families in the order of rank; returns how many became leaders.
    fn settle_batch(
        &self,
        open: &[FamilyIndex],
        found: &[Vec<(SetIndex, Similarity)>],
        round: &Round<'_>,
        covers: &mut [Option<Cover>],
    ) -> usize {
        let mut leaders = 0;
        for (&leader, neighbours) in open.iter().zip(found) {
            if !round.all_lead && !self.leads(leader, covers) {
                continue;
            }
            leaders += 1;
            let set = self.get(leader).set;
            let size = |set: SetIndex| self.sets.sizes()[set as usize];
            let tied = |&(other, similarity): &(SetIndex, Similarity)| {
                Some((other, self.measure.tie(similarity, size(other), size(set))?))
            };
            let ties = [(set, Tie::SAME)].into_iter().chain(neighbours.iter().filter_map(tied));
            for (set, tie) in ties.filter(|(_, tie)| (round.holds)(tie.kind)) {
                for family in self.of_set(set).filter(|&family| round.standing[family as usize]) {
                    self.offer(leader, family, tie, covers);
                }
            }
        }
        leaders
    }

    fn leads(&self, family: FamilyIndex, covers: &[Option<Cover>]) -> bool {
        self.get(family).forced || covers[family as usize].is_none()
    }

    /// Lets a leader cover a family if it may and binds it more closely than others so far.
    fn offer(&self, leader: FamilyIndex, family: FamilyIndex, tie: Tie, covers: &mut [Option<Cover>]) {
        let closer = covers[family as usize].is_none_or(|cover| match self.members {
            Members::Closest => tie.exceeds(cover.tie),
            // Leaders come by rank.
            Members::First => false,
        });
        if closer && self.may_cover(leader, family) {
            covers[family as usize] = Some(Cover { leader, tie });
        }
    }

    fn may_cover(&self, leader: FamilyIndex, family: FamilyIndex) -> bool {
        let (leader, family) = (self.get(leader), self.get(family));
        !family.forced && (leader.whole || !family.whole) && leader.rank < family.rank
    }

    fn assign(&self, documents: &[Entry], covers: &[Option<Cover>]) -> Stars {
        let mut representative: Vec<DocIndex> = (0..documents.len() as DocIndex).collect();
        let mut ties = vec![Tie::SAME; documents.len()];
        for set in 0..self.sets.len() as SetIndex {
            for &document in self.sets.documents(set) {
                let (forced, whole) = state(&documents[document as usize]);
                let family = self.of_set(set).find(|&f| self.get(f).forced == forced && self.get(f).whole == whole);
                let (Some(family), false) = (family, forced) else { continue };
                let cover = covers[family as usize].unwrap_or(Cover { leader: family, tie: Tie::SAME });
                representative[document as usize] = self.get(cover.leader).best;
                ties[document as usize] = cover.tie;
            }
        }
        let kept = representative.iter().enumerate().map(|(document, &other)| document as DocIndex == other).collect();
        Stars { representative, tie: ties, kept }
    }

    /// Shows beside whom a leader stands; it stays, and so does all that it stands for.
    fn place_beside(&self, beside: &[Option<Cover>], stars: &mut Stars) {
        for (family, cover) in self.all.iter().zip(beside) {
            if let Some(cover) = cover {
                stars.representative[family.best as usize] = self.get(cover.leader).best;
                stars.tie[family.best as usize] = cover.tie;
            }
        }
    }
}

fn state(document: &Entry) -> (bool, bool) {
    (document.flags.forced(), document.flags.whole())
}
