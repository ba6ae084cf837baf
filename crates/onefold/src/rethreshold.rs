//! The answer for another threshold, from the pairs that a run has listed: no document is read again.

use std::collections::{BTreeSet, HashMap};

use crate::document::{Collection, Counted, Digest, DocIndex, Entry, Flags, InputFile, Locator, ShingleRef};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::join::{SetIndex, SetPair, Sets};
use crate::outcome::{Aside, Counts, Outcome};
use crate::plan::Verify;
use crate::read::TextPlace;
use crate::report::{PairsTable, Row, SavedResult};
use crate::run::{Evidence, conclude};
use crate::threshold::Threshold;

/// What a scan with `threshold` would find. It may be higher than that of the result, or lower down to its floor.
pub fn rethreshold(saved: &SavedResult, exec: &Exec<'_>, threshold: Threshold) -> Result<Outcome> {
    let mut plan = saved.manifest.plan.clone();
    if plan.verify != Verify::Exact {
        let given = format!("{} (in the result)", plan.verify.name());
        return Err(Error::setting("verify", "'exact' where the threshold is to be changed", given));
    }
    if threshold < plan.join_threshold() {
        let allowed = format!("at least {}, down to which the scan listed pairs (--floor)", plan.join_threshold());
        return Err(Error::setting("threshold", allowed, threshold.to_string()));
    }
    plan.threshold = threshold;
    plan.validate()?;
    let table = PairsTable::read(saved)?;
    let recalled = Recalled::read(saved)?;
    let sets = recalled.sets(&table)?;
    let of = sets.of_documents(recalled.collection.documents.len());
    let measure = plan.measure();
    let mut pairs = Vec::new();
    for row in table.between_groups() {
        let pair = recalled.pair(row, &of)?;
        if pair.similarity(&sets).reaches(plan.join_threshold()) || pair.accepted_by(measure, &sets) {
            pairs.push(pair);
        }
    }
    let estimates = recalled.estimates(&table)?;
    let estimate = |a: DocIndex, b: DocIndex| Ok(estimates.get(&(a, b)).copied());
    let aside = Aside { estimate: &estimate, edit_distance: &|_, _| Ok(None) };
    let (verdicts, rows) = conclude(&plan, exec, &recalled.collection, &sets, &Evidence::Pairs(&[pairs.into()]), aside)?;
    Outcome::close(plan, recalled.collection, verdicts, rows)
}

/// The documents of a result, without their shingles.
struct Recalled {
    collection: Collection,
    numbers: HashMap<String, DocIndex>,
}

impl Recalled {
    fn read(saved: &SavedResult) -> Result<Recalled> {
        let (documents, state) = saved.documents_with_state()?;
        let reference = saved.reference()?;
        let all = || documents.iter().zip(&state).chain(reference.iter().map(|row| (row, row)));
        let sources: BTreeSet<&str> = all().map(|(document, _)| document.text("source")).collect();
        let sources: Vec<String> = sources.into_iter().map(String::from).collect();
        let mut files = Files::default();
        let mut collection = Collection { sources, skipped: saved.skipped()?, ..Collection::default() };
        for (document, state) in all() {
            let entry = entry(document, state, &collection.sources, &mut files);
            let wrong = || saved.corrupt("state", format!("the row of '{}' makes no sense", state.text("id")));
            collection.documents.push(entry.ok_or_else(wrong)?);
        }
        collection.files = files.all;
        let Counts { words, collisions, .. } = saved.manifest.counts;
        collection.counted = Counted { words, collisions };
        collection.reference_documents = saved.manifest.counts.reference.map(|counts| counts.documents);
        let numbers = (0..).zip(&collection.documents).map(|(at, document)| (document.id.clone(), at)).collect();
        Ok(Recalled { collection, numbers })
    }

    fn number(&self, id: &str) -> Result<DocIndex> {
        let wrong = || Error::Corrupt { path: "pairs".into(), problem: format!("it names '{id}', which is no document") };
        self.numbers.get(id).copied().ok_or_else(wrong)
    }

    fn sets(&self, table: &PairsTable) -> Result<Sets> {
        let mut groups = Vec::new();
        let mut alone = vec![true; self.collection.documents.len()];
        for members in table.groups() {
            let group = members.iter().map(|id| self.number(id)).collect::<Result<Vec<_>>>()?;
            group.iter().for_each(|&document| alone[document as usize] = false);
            groups.push(group);
        }
        groups.extend((0..).zip(alone).filter(|(_, alone)| *alone).map(|(document, _)| vec![document]));
        Ok(Sets::from_groups(&self.collection, groups))
    }

    fn pair(&self, row: &Row, of: &[SetIndex]) -> Result<SetPair> {
        let (first, second) = (self.number(row.text("first_id"))?, self.number(row.text("second_id"))?);
        let size = f64::from(self.collection.documents[first as usize].shingles.len);
        // The share was divided out of whole numbers, so rounding brings the number back.
        let overlap = (row.number("containment_first").unwrap_or(0.0) * size).round() as u32;
        let (a, b) = (of[first as usize], of[second as usize]);
        Ok(SetPair { first: a.min(b), second: a.max(b), overlap })
    }

    fn estimates(&self, table: &PairsTable) -> Result<HashMap<(DocIndex, DocIndex), f64>> {
        let mut estimates = HashMap::new();
        for row in table.rows() {
            if let Some(estimate) = row.number("estimate") {
                estimates.insert((self.number(row.text("first_id"))?, self.number(row.text("second_id"))?), estimate);
            }
        }
        Ok(estimates)
    }
}

/// The files of a result, each once.
#[derive(Default)]
struct Files {
    all: Vec<InputFile>,
    numbers: HashMap<(String, bool), u32>,
}

impl Files {
    fn number(&mut self, state: &Row, reference: bool) -> u32 {
        let key = (state.text("file").to_string(), reference);
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(InputFile {
            name: key.0.clone(),
            path: Some(TextPlace::from_state(state).path),
            aliases: serde_json::from_str(state.text("aliases")).unwrap_or_default(),
            argument: String::new(),
            bytes: 0,
            reference,
            again: None,
        });
        self.numbers.insert(key, number);
        number
    }
}

/// A document as it was after it was read, but for its shingles.
fn entry(document: &Row, state: &Row, sources: &[String], files: &mut Files) -> Option<Entry> {
    let flags = Flags::parse(document.text("flags"))?;
    let whole = |column: &str| state.text(column).parse().ok();
    Some(Entry {
        id: document.text("id").into(),
        source: sources.binary_search_by(|source| source.as_str().cmp(document.text("source"))).ok()? as u32,
        locator: Locator {
            file: files.number(state, flags.has(Flags::REFERENCE)),
            record: whole("record")?,
            offset: whole("offset")?,
        },
        url: state.optional("url").map(Into::into),
        time: state.optional("time").and_then(|time| time.parse().ok()),
        score: state.number("score"),
        flags,
        tokens: state.text("tokens").parse().ok()?,
        digest: Digest(blake3::Hash::from_hex(state.text("digest")).ok()?.into()),
        shingles: ShingleRef { len: state.text("shingles").parse().ok()?, ..ShingleRef::default() },
        features: 0,
    })
}
