//! Methods beside each other on one collection: what each finds, misses and invents, measured by the exact answer.
//!
//! In: documents, read once, and plans. Out: a [`Standing`] for each plan. Invariant: all are measured by the same pairs, those whose
//! resemblance reaches the threshold by the base plan's shingles; a method's own shingles only propose. Cost: a run for each method, and all
//! pairs in memory, at most [`MOST_PAIRS`]. Drops nothing.

use std::collections::HashMap;
use std::time::Instant;

use onefold::{DocIndex, Document, Error, Exec, Input, Method, Outcome, PairsMode, Plan, Recipe, Threshold, Verify};
use serde::Serialize;

use crate::gold::{Gold, JudgedPair};
use crate::judge::{Labelled, Measure, Verdict, judge};
use crate::score::{Answer, PairScore, score};

/// More pairs than these, with those inside families, are not compared.
pub const MOST_PAIRS: usize = 20_000_000;

/// Pairs are looked at by their resemblance from here on, in steps.
pub const LOWEST: f64 = 0.5;
/// Steps of a twentieth.
pub const STEPS: usize = 10;

/// A method with all its settings.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// As it is called.
    pub name: &'static str,
    /// What it does.
    pub plan: Plan,
}

/// What became of a method.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// The method.
    pub name: &'static str,
    /// Seconds from texts in memory to clusters.
    pub seconds: f64,
    /// Most memory that the process had while it ran, where the system tells; with the texts.
    pub peak_bytes: Option<u64>,
    /// Pairs that it reports, those inside families included.
    pub pairs: u64,
    /// Documents that could go.
    pub removed: u64,
    /// Why there is nothing to compare, where the method proposed too much.
    pub problem: Option<String>,
    /// Against the exact answer.
    pub exact: PairScore,
    /// Against the gold, where there is one.
    pub gold: Option<PairScore>,
    /// By resemblance, from [`LOWEST`] on: true pairs, and how many of them it reports. The last step is resemblance 1.
    pub by_resemblance: Vec<Step>,
    /// The share that the literature's formula expects at the middle of each step, for documents of the median size.
    pub expected: Vec<Option<f64>>,
}

/// Pairs of about one resemblance.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Step {
    /// From here on.
    pub from: f64,
    /// All pairs.
    pub pairs: u64,
    /// Those that were reported.
    pub found: u64,
}

impl Step {
    /// The share that was reported.
    pub fn share(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.found as f64 / self.pairs as f64)
    }
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Bakeoff {
    /// How many.
    pub documents: usize,
    /// From which resemblance on a pair is true.
    pub threshold: Threshold,
    /// True pairs.
    pub truth: u64,
    /// In the order in which they were named.
    pub standings: Vec<Standing>,
    /// How well plain measures agree with the gold, the best first, where it judges pairs.
    pub measures: Vec<Verdict>,
}

/// Pairs of documents by number, the smaller first, with their resemblance; each once, in order.
type Pairs = Vec<((DocIndex, DocIndex), f64)>;

/// The exact answer, and pairs some way below the threshold.
struct Truth {
    pairs: Pairs,
    threshold: f64,
    recipe: Recipe,
    median_union: u32,
}

/// Lets methods compete. `base` says by which shingles and which threshold pairs are true; `watch` is told who comes next.
pub fn bakeoff(
    base: &Plan,
    entrants: &[Entrant],
    documents: &[Document],
    gold: Option<&Gold>,
    exec: &Exec<'_>,
    mut watch: impl FnMut(&str),
) -> Result<Bakeoff, Error> {
    watch("exact answer");
    let truth = Truth::find(base, documents, exec)?;
    let mut standings = Vec::new();
    for entrant in entrants {
        watch(entrant.name);
        standings.push(compete(entrant, &truth, documents, gold, exec)?);
    }
    watch("measures");
    let measures = gold.map_or_else(Vec::new, |gold| judge_by(gold, documents));
    Ok(Bakeoff { documents: documents.len(), threshold: base.threshold, truth: truth.true_pairs(), standings, measures })
}

/// Measures that are tried: the usual ones, and one that asks for both.
const MEASURES: [Measure; 16] = [
    Measure::Resemblance(2),
    Measure::Resemblance(3),
    Measure::Resemblance(5),
    Measure::Resemblance(8),
    Measure::Resemblance(10),
    Measure::OfLarger(2),
    Measure::OfLarger(3),
    Measure::OfLarger(5),
    Measure::OfLarger(8),
    Measure::OfSmaller(2),
    Measure::OfSmaller(5),
    Measure::OfSmaller(8),
    Measure::OfSmaller(10),
    Measure::OfSmallerAtTwoScales(3, 10),
    Measure::OfSmallerAtTwoScales(5, 16),
    Measure::OfSmallerAtTwoScales(6, 16),
];

/// Only judged pairs say what is none; of classes nothing is known but who belongs together.
fn judge_by(gold: &Gold, documents: &[Document]) -> Vec<Verdict> {
    let Gold::Pairs { pairs, labelled: true } = gold else { return Vec::new() };
    let texts: HashMap<&str, &str> =
        documents.iter().filter_map(|document| Some((document.id.as_deref()?, document.text.as_str()))).collect();
    let labelled = |pair: &JudgedPair| {
        Some(Labelled { texts: [texts.get(pair.a.as_str())?, texts.get(pair.b.as_str())?], positive: pair.positive })
    };
    let labelled: Vec<Labelled<'_>> = pairs.iter().filter_map(labelled).collect();
    if labelled.is_empty() {
        return Vec::new();
    }
    let mut verdicts = judge(&labelled, &MEASURES);
    verdicts.sort_by(|a, b| b.cross_validated_f1.total_cmp(&a.cross_validated_f1));
    verdicts
}

impl Truth {
    fn find(base: &Plan, documents: &[Document], exec: &Exec<'_>) -> Result<Truth, Error> {
        let lowest: Threshold = LOWEST.to_string().parse()?;
        let floor = (lowest < base.threshold).then_some(lowest);
        let plan = Plan {
            method: Method::Exact,
            preset: None,
            verify: Verify::Exact,
            common_shingles: None,
            pairs: PairsMode::All,
            floor,
            ..base.clone()
        };
        let outcome = run(&plan, documents, exec)?;
        let mut sizes: Vec<u32> = outcome.collection.documents.iter().map(|entry| entry.shingle_count()).collect();
        sizes.sort_unstable();
        let median_union = sizes.get(sizes.len() / 2).copied().unwrap_or(0).max(1);
        let pairs = expand(&outcome, |_| true)?;
        Ok(Truth { pairs, threshold: base.threshold.as_f64(), recipe: base.recipe(), median_union })
    }

    fn true_pairs(&self) -> u64 {
        self.pairs.iter().filter(|(_, resemblance)| *resemblance >= self.threshold).count() as u64
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = (0..=STEPS).map(|step| Step { from: start_of(step), ..Step::default() }).collect();
        self.pairs.iter().for_each(|(_, resemblance)| steps[step_of(*resemblance)].pairs += 1);
        steps
    }

    /// The resemblances of those of its pairs that were found.
    fn among<'a>(&'a self, found: &'a Pairs) -> impl Iterator<Item = f64> + 'a {
        let mut rest = found.iter().peekable();
        self.pairs.iter().filter_map(move |(pair, resemblance)| {
            while rest.next_if(|(other, _)| other < pair).is_some() {}
            rest.next_if(|(other, _)| other == pair).map(|_| *resemblance)
        })
    }

    /// What the literature's formula expects, where it is of the same resemblance.
    fn expected(&self, entrant: &Entrant, steps: &[Step]) -> Result<Vec<Option<f64>>, Error> {
        let plan = &entrant.plan;
        if plan.recipe() != self.recipe || matches!(plan.method, Method::SimHash(_)) {
            return Ok(vec![None; steps.len()]);
        }
        steps.iter().map(|step| plan.recall((step.from + 0.5 / 20.0).min(1.0), self.median_union)).collect()
    }
}

fn start_of(step: usize) -> f64 {
    ((LOWEST * 20.0).round() + step as f64) / 20.0
}

/// The last step is for those that are equal.
fn step_of(resemblance: f64) -> usize {
    let step = ((resemblance - LOWEST) * 20.0 + 1e-9) as usize;
    if resemblance >= 1.0 { STEPS } else { step.min(STEPS - 1) }
}

fn run(plan: &Plan, documents: &[Document], exec: &Exec<'_>) -> Result<Outcome, Error> {
    onefold::run(plan, exec, vec![Input::Documents(documents.to_vec())], &mut onefold::Discard)
}

fn compete(
    entrant: &Entrant,
    truth: &Truth,
    documents: &[Document],
    gold: Option<&Gold>,
    exec: &Exec<'_>,
) -> Result<Standing, Error> {
    forget_peak();
    let began = Instant::now();
    let run = run(&entrant.plan, documents, exec).and_then(|outcome| {
        let (seconds, peak_bytes) = (began.elapsed().as_secs_f64(), peak());
        Ok((expand(&outcome, |accepted| accepted)?, outcome, seconds, peak_bytes))
    });
    let mut by_resemblance = truth.steps();
    let expected = truth.expected(entrant, &by_resemblance)?;
    let (found, outcome, seconds, peak_bytes) = match run {
        Ok(run) => run,
        Err(error @ Error::TooManyPairs { .. }) => {
            return Ok(Standing {
                name: entrant.name,
                seconds: began.elapsed().as_secs_f64(),
                peak_bytes: peak(),
                pairs: 0,
                removed: 0,
                problem: Some(error.to_string()),
                exact: PairScore::new(0, 0, truth.true_pairs()),
                gold: None,
                by_resemblance,
                expected,
            });
        }
        Err(error) => return Err(error),
    };
    let mut right = 0;
    for resemblance in truth.among(&found) {
        by_resemblance[step_of(resemblance)].found += 1;
        right += u64::from(resemblance >= truth.threshold);
    }
    Ok(Standing {
        name: entrant.name,
        seconds,
        peak_bytes,
        pairs: found.len() as u64,
        removed: outcome.counts.removed,
        problem: None,
        exact: PairScore::new(right, found.len() as u64, truth.true_pairs()),
        gold: gold.map(|gold| score(&answer(&outcome, &found), gold, 0).pairs),
        by_resemblance,
        expected,
    })
}

/// All pairs of documents with their resemblance: families are listed as stars, others head to head.
fn expand(outcome: &Outcome, wanted: impl Fn(bool) -> bool) -> Result<Pairs, Error> {
    let mut head: Vec<DocIndex> = (0..outcome.collection.documents.len() as DocIndex).collect();
    let mut between = Vec::new();
    outcome.pairs.each(|pair| {
        if pair.similarity.is_one() {
            head[pair.second as usize] = pair.first;
        } else if wanted(pair.accepted) {
            between.push((pair.first, pair.second, pair.similarity.as_f64()));
        }
    })?;
    let mut members: Vec<Vec<DocIndex>> = vec![Vec::new(); head.len()];
    (0..).zip(&head).for_each(|(document, &head)| members[head as usize].push(document));
    let inside = |family: &Vec<DocIndex>| family.len() * family.len().saturating_sub(1) / 2;
    let across = |&(first, second, _): &(DocIndex, DocIndex, f64)| members[first as usize].len() * members[second as usize].len();
    if members.iter().map(inside).sum::<usize>() + between.iter().map(across).sum::<usize>() > MOST_PAIRS {
        return Err(Error::TooManyPairs { limit: MOST_PAIRS as u64 });
    }
    let mut pairs = Pairs::new();
    for family in &members {
        for (at, &a) in family.iter().enumerate() {
            pairs.extend(family[at + 1..].iter().map(|&b| ((a, b), 1.0)));
        }
    }
    for (first, second, resemblance) in between {
        for &a in &members[first as usize] {
            pairs.extend(members[second as usize].iter().map(|&b| ((a.min(b), a.max(b)), resemblance)));
        }
    }
    pairs.sort_unstable_by_key(|(pair, _)| *pair);
    pairs.dedup_by_key(|(pair, _)| *pair);
    Ok(pairs)
}

fn answer(outcome: &Outcome, pairs: &Pairs) -> Answer {
    let id = |document: DocIndex| outcome.collection.documents[document as usize].id.clone();
    Answer {
        clusters: outcome.documents().map(|(entry, verdict)| (entry.id.clone(), id(verdict.cluster))).collect(),
        families: Vec::new(),
        pairs: pairs.iter().map(|&((a, b), resemblance)| (id(a), id(b), resemblance)).collect(),
    }
}

/// Lets the system count the peak of memory anew; where it can't, the peak is that of all runs so far.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(id: &str, text: &str) -> Document {
        Document { id: Some(id.into()), text: text.into(), ..Document::default() }
    }

    fn words(from: usize, count: usize) -> String {
        (from..from + count).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ")
    }

    /// Two equal documents, one at 80 / 88 to them, one alone, and two that only a blunt method takes for near.
    fn documents() -> Vec<Document> {
        vec![
            document("a", &words(0, 88)),
            document("b", &words(0, 88)),
            document("c", &words(4, 88)),
            document("d", &words(500, 88)),
            document("e", &format!("{} {}", words(1000, 60), words(2000, 60))),
            document("f", &format!("{} {}", words(1000, 60), words(3000, 60))),
        ]
    }

    fn entrant(name: &'static str, change: impl FnOnce(&mut Plan)) -> Entrant {
        let mut plan = Plan::default();
        onefold::preset(name).unwrap().apply(&mut plan);
        change(&mut plan);
        Entrant { name, plan }
    }

    #[test]
    fn pairs_are_found_missed_and_invented() {
        let blunt = |plan: &mut Plan| {
            plan.verify = Verify::None;
            plan.method = onefold::Method::Winnowing(onefold::WinnowingSettings::default());
        };
        let entrants = [entrant("exact", |_| ()), entrant("winnowing", blunt)];
        let exec = Exec::default();
        let result = bakeoff(&Plan::default(), &entrants, &documents(), None, &exec, |_| ()).unwrap();
        // a–b, a–c, b–c.
        assert_eq!((result.documents, result.truth), (6, 3));
        let score = |at: usize| {
            let PairScore { true_positives, false_positives, false_negatives, .. } = result.standings[at].exact;
            (true_positives, false_positives, false_negatives)
        };
        assert_eq!(score(0), (3, 0, 0));
        assert_eq!(score(1), (3, 1, 0), "e and f share a passage");
        let steps = &result.standings[0].by_resemblance;
        assert_eq!(steps.iter().map(|step| step.pairs).sum::<u64>(), 3, "e and f are below the lowest");
        assert_eq!((steps[STEPS].pairs, steps[STEPS].found), (1, 1));
        assert_eq!(result.standings[0].expected[STEPS - 1], Some(1.0));
    }

    #[test]
    fn gold_is_scored_beside_the_exact_answer() {
        let gold = Gold::parse("id_a,id_b,label\na,b,1\na,d,1\n").unwrap();
        let exec = Exec::default();
        let result = bakeoff(&Plan::default(), &[entrant("exact", |_| ())], &documents(), Some(&gold), &exec, |_| ()).unwrap();
        let score = result.standings[0].gold.as_ref().unwrap();
        assert_eq!((score.true_positives, score.false_negatives), (1, 1));
        assert_eq!(result.measures.len(), MEASURES.len());
    }

    /// 115 pairs that people judged. The best threshold of S3, on the pairs themselves, has F1 0.906 (§9.2); cross-validated it has 0.86.
    #[test]
    fn people_are_met_by_runs_of_two_lengths() {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/webis_s3_terabyte"));
        if !folder.exists() {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "no data at {}", folder.display());
            return;
        }
        let gold = Gold::read(&folder.join("gold_pairs.tsv")).unwrap();
        let input = vec![Input::Path(folder.join("docs.jsonl"))];
        let exec = Exec { keep_texts: true, ..Exec::default() };
        let collection = onefold::ingest(&Plan::default(), &exec, input.into(), &onefold::Discard).unwrap();
        let verdicts = judge_by(&gold, &collection.into_documents());
        let both = verdicts.iter().find(|verdict| verdict.measure.ends_with("mean of 5 and 16 words")).unwrap();
        assert!(both.cross_validated_f1 > 0.906, "{verdicts:#?}");
        let resemblance = verdicts.iter().find(|verdict| verdict.measure == "resemblance, 5 words").unwrap();
        assert!(resemblance.cross_validated_f1 < both.cross_validated_f1);
    }
}
