//! The two ways a result comes here: from a run that has just ended, and from its folder. Both give the same page.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use onefold::{
    Columns, Entry, Format, Locator, Outcome, Relation, Result, Row, SavedResult, SkipKind, Skipped, TextPlace, Verdict,
    read_texts,
};

use super::{Collector, DocumentRow, Facts, Report, Skip, host_of, type_of};

/// What a run knows and an [`Outcome`] does not.
#[derive(Clone, Debug, Default)]
pub struct RunNotes {
    /// The command, word by word.
    pub command: Vec<String>,
    /// The inputs as named.
    pub inputs: Vec<String>,
    /// Seconds by stage.
    pub timings: BTreeMap<String, f64>,
    /// How tables are written.
    pub format: Format,
}

/// A report, and where the texts are that it wants.
#[derive(Debug)]
pub struct Ready {
    /// The report.
    pub report: Report,
    /// Documents that can be read again.
    pub places: Vec<(String, TextPlace)>,
    /// Where rows have their text.
    pub columns: Columns,
}

impl Ready {
    /// Reads the texts and renders the page.
    pub fn page(&self) -> String {
        let places: Vec<TextPlace> = self.places.iter().map(|(_, place)| place.clone()).collect();
        let texts = read_texts(&places, &self.columns);
        let ids = self.places.iter().map(|(id, _)| id.clone());
        let texts: HashMap<String, String> = ids.zip(texts).filter_map(|(id, text)| Some((id, text?))).collect();
        self.report.render(&texts)
    }
}

/// From a run that has just ended.
pub fn from_outcome(outcome: &Outcome, notes: &RunNotes) -> Result<Ready> {
    let facts = Facts {
        version: env!("CARGO_PKG_VERSION").into(),
        command: notes.command.clone(),
        inputs: notes.inputs.clone(),
        plan_digest: outcome.plan.digest()?,
        plan: outcome.plan.clone(),
        counts: outcome.counts.clone(),
        warnings: outcome.warnings.clone(),
        timings: notes.timings.clone().into_iter().collect(),
        documents_file: format!("documents.{}", notes.format.extension()),
    };
    let mut collector = Collector::new(facts);
    each_verdict(outcome, |_| true, |row| collector.document(row));
    outcome.pairs.each(|pair| collector.pair(pair.similarity.as_f64(), pair.accepted))?;
    outcome.collection.skipped.iter().for_each(|skipped| take_skip(&mut collector, skipped));
    let mut gathering = collector.choose();
    let clusters = numbers_of(outcome, gathering.cluster_ids());
    each_verdict(outcome, |verdict| clusters.contains(&(verdict.cluster as usize)), |row| gathering.document(row));
    let report = gathering.finish();
    let places = numbers_of(outcome, report.wanted_texts().iter().map(String::as_str)).into_iter().filter_map(|number| {
        let document = &outcome.collection.documents[number];
        let path = outcome.collection.files[document.locator.file as usize].path.clone()?;
        let Locator { record, offset, .. } = document.locator;
        Some((document.id.clone(), TextPlace { path, record, offset }))
    });
    Ok(Ready { report, places: places.collect(), columns: outcome.plan.columns.clone() })
}

/// The numbers of the few documents with these ids. Documents are in the order of their ids, and so are those of the reference behind them.
fn numbers_of<'a>(outcome: &Outcome, ids: impl Iterator<Item = &'a str>) -> BTreeSet<usize> {
    let (inputs, reference) = outcome.collection.documents.split_at(outcome.verdicts.len());
    let find = |documents: &[Entry], id: &str| documents.binary_search_by(|document| document.id.as_str().cmp(id)).ok();
    ids.filter_map(|id| find(inputs, id).or_else(|| Some(inputs.len() + find(reference, id)?))).collect()
}

/// Shows the documents with the wanted verdicts.
fn each_verdict(outcome: &Outcome, wanted: impl Fn(&Verdict) -> bool, mut each: impl FnMut(&DocumentRow<'_>)) {
    let collection = &outcome.collection;
    let documents = collection.documents.iter().zip(&outcome.verdicts);
    for (document, verdict) in documents.filter(|(_, verdict)| wanted(verdict)) {
        let id = |index: u32| collection.documents[index as usize].id.as_str();
        let file = &collection.files[document.locator.file as usize].name;
        each(&DocumentRow {
            id: &document.id,
            source: &collection.sources[document.source as usize],
            kind: &type_of(&document.id, file, document.locator.record),
            host: document.url.as_deref().and_then(host_of).as_deref(),
            cluster_id: id(verdict.cluster),
            cluster_size: verdict.cluster_size.into(),
            representative_id: id(verdict.representative),
            similarity: verdict.similarity.as_f64(),
            relation: verdict.relation.map(Relation::name),
            keep: verdict.kept,
            keep_reason: &verdict.reason(),
            flags: &document.flags.names().collect::<Vec<_>>().join(","),
        });
    }
}

/// From a result folder.
pub fn from_saved(saved: &SavedResult) -> Result<Ready> {
    let manifest = saved.manifest.clone();
    let columns = manifest.plan.columns.clone();
    let facts = Facts {
        version: manifest.onefold,
        command: manifest.command,
        inputs: manifest.inputs,
        plan: manifest.plan,
        plan_digest: manifest.plan_digest,
        counts: manifest.counts,
        warnings: manifest.warnings,
        timings: manifest.timings.into_iter().collect(),
        documents_file: format!("documents.{}", manifest.format.extension()),
    };
    let (documents, state) = saved.documents_with_state()?;
    let reference = saved.reference()?;
    let mut collector = Collector::new(facts);
    each_row(&documents, &state, |row| collector.document(row));
    for pair in saved.pairs()? {
        collector.pair(pair.number("resemblance").unwrap_or(0.0), pair.truth("accepted"));
    }
    saved.skipped()?.iter().for_each(|skipped| take_skip(&mut collector, skipped));
    let mut gathering = collector.choose();
    each_row(&documents, &state, |row| gathering.document(row));
    let report = gathering.finish();
    let wanted: HashSet<String> = report.wanted_texts().into_iter().collect();
    let shown = state.iter().chain(&reference).filter(|row| wanted.contains(row.text("id")));
    let places = shown.map(|row| (row.text("id").to_string(), TextPlace::from_state(row)));
    Ok(Ready { report, places: places.collect(), columns })
}

fn each_row(documents: &[Row], state: &[Row], mut each: impl FnMut(&DocumentRow<'_>)) {
    for (document, state) in documents.iter().zip(state) {
        let relation = document.text("relation");
        each(&DocumentRow {
            id: document.text("id"),
            source: document.text("source"),
            kind: &type_of(document.text("id"), state.text("file"), whole(state, "record")),
            host: host_of(state.text("url")).as_deref(),
            cluster_id: document.text("cluster_id"),
            cluster_size: whole(document, "cluster_size"),
            representative_id: document.text("representative_id"),
            similarity: document.number("similarity").unwrap_or(0.0),
            relation: (!relation.is_empty()).then_some(relation),
            keep: document.truth("keep"),
            keep_reason: document.text("keep_reason"),
            flags: document.text("flags"),
        });
    }
}

fn whole(row: &Row, column: &str) -> u64 {
    row.text(column).parse().unwrap_or(0)
}

fn take_skip(collector: &mut Collector, skipped: &Skipped) {
    let kind = if skipped.kind == SkipKind::Skipped { "skipped" } else { "flagged" };
    let (stage, reason) = (skipped.stage.name(), skipped.reason.as_str());
    collector.skip(&Skip { kind, stage, reason, input: &skipped.input, detail: &skipped.detail });
}
