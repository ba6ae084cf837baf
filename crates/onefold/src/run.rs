//! The stages in order, and nothing else.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cluster::{ClusterMode, Components, Neighbours, Stars};
use crate::document::{Collection, DocIndex};
use crate::error::{Error, Result};
use crate::exec::{Exec, Spill};
use crate::fingerprint::{Built, Common, Fingerprint};
use crate::join::{self, Bar, Beside, Edits, Join, Ordered, PairList, SetIndex, SetPair, Sets};
use crate::learn::{Model, feature_frequencies};
use crate::neighbours::{Adjacent, Probing};
use crate::outcome::{Aside, Clustering, list_pairs, list_star, verdicts};
use crate::plan::{PairsMode, Plan, Relate, Remove};
use crate::rank::{Protected, Ranking};
use crate::read::{self, Source};
use crate::reference;
use crate::report::Sink;
use crate::shingle::Unit;
use crate::verify::{Similarity, TieKind};

pub use crate::outcome::{Counts, Outcome, Pair, PairRows, Reason, ReferenceCounts, Relation, SourceCounts, Verdict, Warning};

/// The stages, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Inputs → bytes with identity.
    Read,
    /// Bytes → text.
    Extract,
    /// Text → tokens.
    Normalize,
    /// Tokens → shingle sets.
    Shingle,
    /// Shingle sets → statistics.
    Learn,
    /// Shingle sets → join keys.
    Fingerprint,
    /// Join keys → candidates.
    Join,
    /// Candidates → measured pairs.
    Verify,
    /// Who would be kept.
    Rank,
    /// Pairs and ranks → clusters.
    Cluster,
    /// The result.
    Report,
}

impl Stage {
    /// All of them.
    pub const ALL: [Stage; 11] = [
        Stage::Read,
        Stage::Extract,
        Stage::Normalize,
        Stage::Shingle,
        Stage::Learn,
        Stage::Fingerprint,
        Stage::Join,
        Stage::Verify,
        Stage::Rank,
        Stage::Cluster,
        Stage::Report,
    ];

    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::Extract => "extract",
            Stage::Normalize => "normalize",
            Stage::Shingle => "shingle",
            Stage::Learn => "learn",
            Stage::Fingerprint => "fingerprint",
            Stage::Join => "join",
            Stage::Verify => "verify",
            Stage::Rank => "rank",
            Stage::Cluster => "cluster",
            Stage::Report => "report",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Finds the near-duplicates of `source` and hands the outcome to `sink`.
///
/// What does not fit in memory lies in the folder of [`Exec::spill`], which is gone afterwards; where the run is interrupted, or can't write
/// the result, it stays for another that resumes. Where memory is limited and the C library is glibc, its allocator is told to give back sooner
/// what is freed, for all of the process and for good.
pub fn run(plan: &Plan, exec: &Exec<'_>, source: impl Into<Source>, sink: &mut dyn Sink) -> Result<Outcome> {
    plan.validate()?;
    exec.memory.avoid_holes(exec.threads);
    exec.spill.iter().for_each(Spill::sweep);
    sink.prepare()?;
    exec.spill.as_ref().map_or(Ok(()), |spill| spill.claim(sink.replaces()))?;
    let threads = exec.pool()?;
    let source = source.into();
    let result = threads.install(|| run_stages(plan, exec, source, sink));
    let Some(spill) = &exec.spill else { return result };
    match &result {
        // What an earlier run left is not lost by a mistake in the command that resumes it.
        Err(_) if spill.resume => (),
        Err(Error::Interrupted | Error::Output { .. } | Error::Damaged { .. }) => (),
        _ => spill.remove(),
    }
    result
}

/// What a thread takes for each shingle of a set that it joins: as it is read, in order, its keys, and a partner beside it.
const BYTES_TO_JOIN: u64 = 32;

fn run_stages(plan: &Plan, exec: &Exec<'_>, source: Source, sink: &mut dyn Sink) -> Result<Outcome> {
    // 1 read, 2 extract, 3 normalize, 4 shingle: one pass over the bytes.
    let mut collection = read::ingest(plan, exec, source, sink)?;
    if collection.inputs() == 0 {
        let first = match collection.skipped.first() {
            Some(skipped) => Some(format!(" (first: '{}', {}: {})", skipped.input, skipped.reason, skipped.detail)),
            None => collection.reference_documents.map(|_| "; files of the reference are no inputs".into()),
        };
        return Err(Error::NoInput { seen: collection.skipped.len() as u64, first: first.unwrap_or_default() });
    }
    Protected::compile(&plan.protect)?.flag(&mut collection);
    reference::thin(&mut collection, &plan.keep, plan.sameness())?;
    let longest = collection.documents.iter().map(|document| u64::from(document.shingles.len)).max().unwrap_or(0);
    let outcome = exec.with_buffers(longest * BYTES_TO_JOIN, || decide(plan, exec, collection))?;
    // 11 report
    exec.stage(Stage::Report, sink.bytes_to_read(&outcome), || sink.accept(&outcome, exec))?;
    Ok(outcome)
}

/// From shingle sets to verdicts.
fn decide(plan: &Plan, exec: &Exec<'_>, mut collection: Collection) -> Result<Outcome> {
    if plan.shingle == Unit::Lines {
        collection.share_sets_of_equal_texts();
    }
    let sets = Sets::collapse(&collection, plan.sameness())?;
    let mut method = plan.build_method()?;
    // 5 learn
    let ordered = exec.stage(Stage::Learn, Some(sets.len() as u64), || {
        let looks_at_prefixes = matches!(method, Built::Exact(_)) || plan.relation == Relate::Containment;
        let model = match collection.arenas.take_model() {
            None if looks_at_prefixes => Some(Model::learn(&collection.arenas, &sets, exec)?),
            taken => taken,
        };
        let prefix = plan.looks_at_sets_in_order().then_some(|size| plan.join_threshold().prefix(size));
        Ordered::new(std::mem::take(&mut collection.arenas), &sets, model, prefix, exec)
    })?;
    let (verdicts, pairs) = match &mut method {
        Built::Exact(method) => compare(plan, exec, &collection, &sets, ordered, &Common::default(), method)?,
        Built::Sketching(method) => {
            let common = match plan.common_shingles {
                Some(most) => join::common_shingles(&sets, &ordered, most, exec)?,
                None => Common::default(),
            };
            if method.learns() {
                method.learn(collection.documents.len() as u64, feature_frequencies(&collection, &sets, &ordered)?);
            }
            compare(plan, exec, &collection, &sets, ordered, &common, &**method)?
        }
    };
    Outcome::close(plan.clone(), collection, verdicts, pairs)
}

/// What a method proposes, verified; and who stays.
fn compare<F: Fingerprint + ?Sized>(
    plan: &Plan,
    exec: &Exec<'_>,
    collection: &Collection,
    sets: &Sets,
    ordered: Ordered<'_>,
    common: &Common,
    method: &F,
) -> Result<(Vec<Verdict>, PairRows)> {
    // 6 fingerprint
    let beside = Beside { common, documents: &collection.documents };
    let limit = plan.edit_limit();
    let bar = Bar { threshold: plan.reach(), edits: limit.map(|limit| Edits::new(&ordered, &collection.documents, limit)) };
    let mut join = exec.stage(Stage::Fingerprint, None, || Join::new(sets, &ordered, beside, method, bar, exec))?;
    // 7 join, 8 verify: each candidate is measured where it is found.
    let of = sets.of_documents(collection.documents.len());
    let edit_distance = |ordered: &Ordered<'_>, a: DocIndex, b: DocIndex| {
        let Some(limit) = limit else { return Ok(None) };
        Edits::new(ordered, &collection.documents, limit).share(of[a as usize], of[b as usize])
    };
    match plan.pairs {
        PairsMode::All => {
            let find = || all_pairs(plan, exec, collection, sets, &ordered, &mut join);
            let pairs = exec.stage(Stage::Join, Some(sets.len() as u64), find)?;
            let sketches = join.into_sketches();
            // Of the sets only words are needed any more, where distances stand in the table.
            let ordered = limit.map(|_| ordered);
            let edit = |a: DocIndex, b: DocIndex| ordered.as_ref().map_or(Ok(None), |ordered| edit_distance(ordered, a, b));
            let estimate = |a: DocIndex, b: DocIndex| sketches.estimate(method, of[a as usize], of[b as usize]);
            let aside = Aside { estimate: &estimate, edit_distance: &edit };
            conclude(plan, exec, collection, sets, &Evidence::Pairs(&pairs), aside)
        }
        PairsMode::Star => {
            let estimate = |a: DocIndex, b: DocIndex| join.estimate(of[a as usize], of[b as usize]);
            let edit = |a: DocIndex, b: DocIndex| edit_distance(&ordered, a, b);
            let components = || exec.stage(Stage::Join, Some(sets.len() as u64), || join.components(exec));
            let evidence = Evidence::Probes { neighbours: &Probing { join: &join, exec }, components: &components };
            let aside = Aside { estimate: &estimate, edit_distance: &edit };
            conclude(plan, exec, collection, sets, &evidence, aside)
        }
    }
}

/// What is known of who is near whom.
pub(crate) enum Evidence<'a> {
    /// Every pair.
    Pairs(&'a [PairList]),
    /// Whom to ask.
    Probes {
        /// For the neighbours of a set.
        neighbours: &'a dyn Neighbours,
        /// For the connected components.
        components: &'a dyn Fn() -> Result<Vec<SetIndex>>,
    },
}

/// From evidence to verdicts and the rows of the pairs table.
pub(crate) fn conclude(
    plan: &Plan,
    exec: &Exec<'_>,
    collection: &Collection,
    sets: &Sets,
    evidence: &Evidence<'_>,
    aside: Aside<'_>,
) -> Result<(Vec<Verdict>, PairRows)> {
    // 9 rank
    let ranking = exec.stage(Stage::Rank, None, || Ok(Ranking::new(collection, &plan.keep)))?;
    // 10 cluster
    let (documents, measure) = (&collection.documents, plan.measure());
    let accepted = |pair: &SetPair| pair.accepted_by(measure, sets);
    let removes = |kind: TieKind| kind == TieKind::Near || (kind == TieKind::Contained && plan.remove == Remove::Contained);
    let settle =
        |neighbours: &dyn Neighbours| Stars::settle(documents, sets, &ranking, neighbours, measure, plan.members, removes);
    let stars = exec.stage(Stage::Cluster, None, || match evidence {
        Evidence::Pairs(pairs) => settle(&Adjacent::new(sets, pairs, accepted, exec)?),
        Evidence::Probes { neighbours, .. } => settle(*neighbours),
    })?;
    let transitive = |component: &[SetIndex]| Clustering::transitive(sets, &ranking, component, documents.len());
    let clustering = match (plan.cluster, evidence) {
        (ClusterMode::Conservative, _) => Clustering::conservative(&stars),
        (ClusterMode::Transitive, Evidence::Pairs(pairs)) => {
            let mut connected = Components::new(sets.len());
            let mut connect = |pair: SetPair| {
                if accepted(&pair) {
                    connected.join(pair.first, pair.second)
                }
            };
            pairs.iter().try_for_each(|pairs| pairs.each(&mut connect))?;
            transitive(&connected.roots())
        }
        (ClusterMode::Transitive, Evidence::Probes { components, .. }) => transitive(&components()?),
    };
    let rows = match evidence {
        Evidence::Pairs(pairs) => list_pairs(collection, sets, pairs, measure, aside, exec)?,
        Evidence::Probes { .. } => list_star(collection, sets, &stars, aside)?,
    };
    Ok((verdicts(collection, &ranking, &stars, &clustering), rows))
}

/// Every pair of sets, within the limit that the listing has for rows: pairs inside families count too.
fn all_pairs<F: Fingerprint + ?Sized>(
    plan: &Plan,
    exec: &Exec<'_>,
    collection: &Collection,
    sets: &Sets,
    ordered: &Ordered<'_>,
    join: &mut Join<'_, F>,
) -> Result<Vec<PairList>> {
    let limit = plan.pair_limit(collection.documents.len());
    let in_families = (collection.documents.len() - sets.len()) as u64;
    let left = limit.checked_sub(in_families).ok_or(Error::TooManyPairs { limit })?;
    let within = |pairs: Result<PairList>| {
        pairs.map_err(|error| match error {
            Error::TooManyPairs { .. } => Error::TooManyPairs { limit },
            other => other,
        })
    };
    let mut pairs = vec![within(join.all_pairs(exec, left))?];
    if let Some(containment) = plan.measure().containment {
        let known = |similarity: Similarity| join.finds_all() && similarity.reaches(plan.join_threshold());
        let left = left - pairs[0].len();
        pairs.push(within(join::contained_pairs(sets, ordered, containment, known, exec, left))?);
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of the stages stands in three places; a reader may trust any of them.
    #[test]
    fn the_stages_are_listed_in_one_order() {
        let names: Vec<&str> = Stage::ALL.iter().map(|stage| stage.name()).collect();
        let documented: Vec<&str> =
            include_str!("lib.rs").lines().filter_map(|line| line.strip_prefix("//! | ")?.split(['`', '`']).nth(1)).collect();
        assert_eq!(documented, names, "the table in lib.rs");
        let body = include_str!("run.rs").split("mod tests").next().unwrap_or_default();
        let mut commented: Vec<(usize, &str)> = Vec::new();
        for line in body.lines().filter_map(|line| line.trim().strip_prefix("// ")) {
            let steps = line.split(':').next().unwrap_or_default().split(", ");
            commented.extend(steps.filter_map(|step| step.split_once(' ').and_then(|(n, name)| Some((n.parse().ok()?, name)))));
        }
        commented.sort_unstable();
        let numbered: Vec<(usize, &str)> = (1..).zip(names).collect();
        assert_eq!(commented, numbered, "the comments in run.rs");
    }
}
