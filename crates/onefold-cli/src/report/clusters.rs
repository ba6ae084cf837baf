//! Clusters with their members beside the document that is kept.

use std::collections::{HashMap, HashSet};

use super::diff::{self, Excerpt};
use super::gather::{Cluster, Member};
use super::words::{counted, named, plain, similarity};
use super::{EXCERPT, Report};
use crate::html::plot::grouped;
use crate::html::{Element, Html, el};

/// Bytes of texts in a page: past this, texts are left out, so that hostile ones cannot make a page that no one can open.
const ROOM: usize = 1_400_000;
/// Clusters of a list whose first comparison is open when the page opens.
const OPEN: usize = 2;

/// Draws the clusters of a report, each in full once.
pub struct Gallery<'a> {
    report: &'a Report,
    texts: &'a HashMap<String, String>,
    drawn: HashSet<usize>,
    room: usize,
}

impl<'a> Gallery<'a> {
    /// An empty gallery.
    pub fn new(report: &'a Report, texts: &'a HashMap<String, String>) -> Self {
        Gallery { report, texts, drawn: HashSet::new(), room: ROOM }
    }

    /// The clusters at these places, in this order.
    pub fn list(&mut self, places: &[usize]) -> Html {
        let report = self.report;
        let mut list = Html::empty();
        for (nth, &at) in places.iter().enumerate() {
            let cluster = &report.clusters[at];
            if self.drawn.insert(at) {
                list.push(self.card(at, cluster, nth < OPEN));
            } else {
                let link = el("a").attr("href", format_args!("#cluster-{at}")).with("shown above");
                let line = el("p").class("meta").with(summary(cluster)).with(" · ").with(link);
                list.push(el("div").class("cluster").with(heading(cluster)).with(line));
            }
        }
        list
    }

    fn card(&mut self, at: usize, cluster: &Cluster, open: bool) -> Element {
        let mut card = el("article").class("cluster").attr("id", format_args!("cluster-{at}")).with(heading(cluster));
        card = card.with(el("p").class("meta").with(summary(cluster)).with(why_kept(cluster)));
        for (nth, member) in cluster.members.iter().enumerate() {
            card = card.with(self.comparison(cluster, member, open && nth == 0));
        }
        let more = (cluster.exact + cluster.near + cluster.contained).saturating_sub(cluster.members.len() as u64);
        if more == 0 {
            return card;
        }
        let file = named(&self.report.facts.documents_file);
        let note = format!(
            "{} not shown: those with this cluster_id in ",
            counted(more, "more removable document is", "more removable documents are")
        );
        card.with(el("p").class("note").with(note).with(el("code").with(file)).with("."))
    }

    fn comparison(&mut self, cluster: &Cluster, member: &Member, open: bool) -> Html {
        let relation = match (member.exact, member.contained) {
            (true, _) => "exact copy",
            (_, true) => "lies inside it",
            _ => "near-duplicate",
        };
        let mut tag = format!(" · {relation}, {}", member.reason);
        if !member.flags.is_empty() {
            tag += &format!(" ({})", plain(&member.flags).replace(',', ", "));
        }
        let line = el("summary")
            .with(el("span").class("score").with(similarity(member.similarity)))
            .with(" · ")
            .with(named(&member.id))
            .with(el("span").class("tag").with(tag));
        let details = el("details").class(if member.exact { "member same" } else { "member" });
        let details = if open { details.flag("open") } else { details };
        details.with(line).with(self.texts(cluster, member)).into()
    }

    fn texts(&mut self, cluster: &Cluster, member: &Member) -> Html {
        // Connected components have several kept documents; the heading names only one.
        let other = (member.representative_id != cluster.id).then_some(member.representative_id.as_str());
        let (kept, removed) = (self.texts.get(&member.representative_id), self.texts.get(&member.id));
        let pair = match (kept, removed) {
            _ if self.room == 0 => note("Text left out, to keep this page small enough to open."),
            (Some(kept), Some(_)) if member.exact => once(kept),
            (Some(kept), Some(removed)) => {
                let [kept, removed] = diff::compare(kept, removed, EXCERPT);
                two(panel("Kept", other, "ins", &kept), panel("Removable", None, "del", &removed))
            }
            (None, None) => note("Text not at hand: the files have moved, or the documents came through a pipe."),
            (kept, removed) => two(alone("Kept", other, kept), alone("Removable", None, removed)),
        };
        self.room = self.room.saturating_sub(pair.len());
        pair
    }
}

fn heading(cluster: &Cluster) -> Element {
    el("h3").with(named(&cluster.id))
}

fn summary(cluster: &Cluster) -> String {
    let mut parts = vec![counted(cluster.size, "document", "documents")];
    let listed = cluster.kept + cluster.exact + cluster.near + cluster.contained;
    if cluster.size > listed {
        parts.push(format!("{} in the reference", grouped(cluster.size - listed)));
    }
    parts.push(format!("{} kept", grouped(cluster.kept)));
    if cluster.exact > 0 {
        parts.push(counted(cluster.exact, "exact copy", "exact copies"));
    }
    if cluster.near > 0 {
        parts.push(counted(cluster.near, "near-duplicate", "near-duplicates"));
    }
    if cluster.contained > 0 {
        parts.push(format!("{} inside another", grouped(cluster.contained)));
    }
    if let Some(least) = cluster.least().filter(|least| *least < 1.0) {
        parts.push(format!("least similar {}", similarity(least)));
    }
    parts.join(" · ")
}

fn why_kept(cluster: &Cluster) -> Html {
    let Some(kept) = &cluster.representative else { return Html::empty() };
    let why = el("br").into();
    let why = Html::and(why, format!("The one named above is kept: {}. Source: ", kept.reason));
    why.and(named(&kept.source))
}

fn note(text: &str) -> Html {
    el("p").class("note").with(text).into()
}

fn two(left: Element, right: Element) -> Html {
    el("div").class("pair two").with(left).with(right).into()
}

/// The text of an exact copy and its original.
fn once(text: &str) -> Html {
    let panel = panel(
        "Both have the same words in the same order, so the text is shown once.",
        None,
        "ins",
        &diff::opening(text, EXCERPT),
    );
    el("div").class("pair").with(panel).into()
}

fn alone(role: &'static str, id: Option<&str>, text: Option<&String>) -> Element {
    match text {
        Some(text) => panel(role, id, "ins", &diff::opening(text, EXCERPT)),
        None => el("div").with(panel_heading(role, id)).with(note("Text not at hand.")),
    }
}

fn panel_heading(role: &'static str, id: Option<&str>) -> Element {
    let heading = el("h4").with(role);
    id.map(named).into_iter().fold(heading, |heading, id| heading.with(": ").with(id))
}

/// An excerpt under its heading; `mark` is the element around words that the other text lacks.
fn panel(role: &'static str, id: Option<&str>, mark: &'static str, excerpt: &Excerpt) -> Element {
    let mut text = el("div").class("text").attr("dir", "auto").attr("tabindex", 0).attr("role", "group").attr("aria-label", role);
    for (piece, only_here) in &excerpt.pieces {
        text = if *only_here { text.with(el(mark).with_lines(piece)) } else { text.with_lines(piece) };
    }
    el("div").with(panel_heading(role, id)).with(text).with(cut(excerpt))
}

/// Says what of the text is not there.
fn cut(excerpt: &Excerpt) -> Html {
    let Excerpt { before, length, after, .. } = *excerpt;
    match (before, after) {
        (0, 0) if length == 0 => note("The text is empty."),
        (0, 0) => Html::empty(),
        _ => {
            let [from, to, all] = [before + 1, before + length, before + length + after].map(|number| grouped(number as u64));
            note(&format!("Cut: characters {from} to {to} of {all}."))
        }
    }
}
