//! The second pass: the members of the chosen clusters.
//!
//! It needs no order of rows and keeps, for each cluster, its representative and the few members least like theirs.

use std::collections::HashMap;

use super::collect::Totals;
use super::row::DocumentRow;
use super::words::shortened;
use super::{Facts, NAME, Report, SHOWN_MEMBERS};

/// A report whose clusters are chosen and not yet filled.
#[derive(Debug)]
pub struct Gathering {
    report: Report,
    places: HashMap<String, usize>,
}

/// A cluster that is shown.
#[derive(Debug, Default)]
pub struct Cluster {
    /// Its name: the id of its best document.
    pub id: String,
    /// Documents in it.
    pub size: u64,
    /// Of these kept; more than one where clusters are connected components.
    pub kept: u64,
    /// Removed, the same as their representative.
    pub exact: u64,
    /// Removed, near it.
    pub near: u64,
    /// Removed, inside it.
    pub contained: u64,
    /// The document that names the cluster, once its row came.
    pub representative: Option<Member>,
    /// Removed documents, the least similar first.
    pub members: Vec<Member>,
}

/// A document that is shown.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its id.
    pub id: String,
    /// Its source.
    pub source: String,
    /// Kept for it.
    pub representative_id: String,
    /// With the representative.
    pub similarity: f64,
    /// Whether it has the same words in the same order.
    pub exact: bool,
    /// Whether it lies inside its representative.
    pub contained: bool,
    /// Why it is kept or not.
    pub reason: String,
    /// Remarks.
    pub flags: String,
}

impl Gathering {
    pub(super) fn new(facts: Facts, totals: Totals, doubtful: Vec<String>, largest: Vec<String>) -> Self {
        let mut report = Report { facts, totals, clusters: Vec::new(), doubtful: Vec::new(), largest: Vec::new() };
        let mut places = HashMap::new();
        let mut place = |clusters: &mut Vec<Cluster>, id: String| {
            *places.entry(id).or_insert_with_key(|id| {
                clusters.push(Cluster { id: id.clone(), ..Cluster::default() });
                clusters.len() - 1
            })
        };
        report.doubtful = doubtful.into_iter().map(|id| place(&mut report.clusters, id)).collect();
        report.largest = largest.into_iter().map(|id| place(&mut report.clusters, id)).collect();
        Gathering { report, places }
    }

    /// The clusters whose documents must come once more.
    pub fn cluster_ids(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// Takes a document; every document of a chosen cluster must come once more, and others may.
    pub fn document(&mut self, row: &DocumentRow<'_>) {
        // A map of two dozen names answers fast, but most documents of a collection are alone anyway.
        if row.cluster_size < 2 {
            return;
        }
        if let Some(&at) = self.places.get(row.cluster_id) {
            self.report.clusters[at].take(row);
        }
    }

    /// Ends the second pass.
    pub fn finish(self) -> Report {
        self.report
    }
}

impl Cluster {
    fn take(&mut self, row: &DocumentRow<'_>) {
        self.size = row.cluster_size;
        match (row.keep, row.relation) {
            (true, _) => self.kept += 1,
            (false, Some("exact")) => self.exact += 1,
            (false, Some("contained")) => self.contained += 1,
            (false, _) => self.near += 1,
        }
        if row.keep {
            if row.id == self.id {
                self.representative = Some(Member::new(row));
            }
            return;
        }
        let precedes = |member: &Member| (member.similarity, member.id.as_str()) < (row.similarity, row.id);
        let at = self.members.partition_point(precedes);
        if at < SHOWN_MEMBERS {
            self.members.insert(at, Member::new(row));
            self.members.truncate(SHOWN_MEMBERS);
        }
    }

    /// The documents whose texts are wanted.
    pub fn shown_ids(&self) -> impl Iterator<Item = &str> {
        let members = self.members.iter().flat_map(|member| [member.id.as_str(), member.representative_id.as_str()]);
        members.chain(self.representative.iter().map(|member| member.id.as_str()))
    }

    /// The similarity of the member least like its representative.
    pub fn least(&self) -> Option<f64> {
        self.members.first().map(|member| member.similarity)
    }
}

impl Member {
    fn new(row: &DocumentRow<'_>) -> Self {
        Member {
            id: row.id.into(),
            source: row.source.into(),
            representative_id: row.representative_id.into(),
            similarity: row.similarity,
            exact: row.relation == Some("exact"),
            contained: row.relation == Some("contained"),
            reason: shortened(row.keep_reason, NAME),
            flags: shortened(row.flags, NAME),
        }
    }
}
