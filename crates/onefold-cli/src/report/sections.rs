//! The page from top to bottom.

use std::collections::HashMap;

use onefold::{Remove, Threshold, Verify};

use super::clusters::Gallery;
use super::words::{counted, named, percent, shortened};
use super::{Facts, NAME, Report, SHOWN_CLUSTERS, SHOWN_MEMBERS, breakdown, made, spread};
use crate::html::plot::{Tone, grouped, share_bar};
use crate::html::{Html, Page, el};

/// Warnings in the header; the others stand in `run.json`.
const SHOWN_WARNINGS: usize = 8;

/// The whole page.
pub fn page(report: &Report, texts: &HashMap<String, String>) -> String {
    let facts = &report.facts;
    let title = format!("{} – onefold report", headline(facts));
    let mut gallery = Gallery::new(report, texts);
    let mut page = Page::new(&title, header(facts));
    page.section("where", "Where the duplicates are", breakdown::section(report));
    page.section("similarity", "How alike they are", spread::similarities(report));
    page.section("sizes", "How large the clusters are", spread::sizes(report));
    page.section("doubtful", "The most doubtful clusters", doubtful(report, &mut gallery));
    page.section("largest", "The largest clusters", largest(report, &mut gallery));
    page.section("skipped", "Skipped and flagged", made::skipped(report));
    page.section("made", "How this was made", made::section(facts));
    let version = Html::text("onefold ").and(named(&facts.version));
    page.footer(version.and(". This page holds no script and loads nothing."));
    page.render()
}

fn headline(facts: &Facts) -> String {
    let counts = &facts.counts;
    match (counts.documents, counts.removed) {
        (0, _) => "No document was read".into(),
        (_, 0) => format!("None of {} repeats another", counted(counts.documents, "document", "documents")),
        (all, removed) => format!(
            "{} of {} {}",
            grouped(removed),
            counted(all, "document", "documents"),
            if removed == 1 { "repeats another" } else { "repeat another" }
        ),
    }
}

fn header(facts: &Facts) -> Html {
    let counts = &facts.counts;
    let mut inputs: Html = facts.inputs.iter().take(3).map(|input| Html::text(" · ").and(named(input))).collect();
    if facts.inputs.len() > 3 {
        inputs.push(format!(" and {} more", facts.inputs.len() - 3));
    }
    let parts = [(Tone::Quiet, counts.kept), (Tone::First, counts.exact), (Tone::Second, counts.near + counts.contained)];
    Html::from(el("p").class("eyebrow").with("onefold report").with(inputs))
        .and(el("h1").with(headline(facts)))
        .and(el("p").class("lede").with(lede(facts)))
        .and(figures(facts))
        .and(share_bar(&parts, counts.documents))
        .and(warnings(facts))
}

fn lede(facts: &Facts) -> String {
    let (plan, counts) = (&facts.plan, &facts.counts);
    let percent = |share: Threshold| (share.as_f64() * 1e8).round() / 1e6;
    let near = match plan.verify {
        Verify::Exact => format!(
            "where they have in common at least {} % of the sequences of {} that occur in either",
            percent(plan.threshold),
            plan.recipe().chunk()
        ),
        Verify::Edit => format!(
            "where editing at most {} % of the words of the longer one turns it into the other",
            (plan.max_edit.as_f64() * 1e8).round() / 1e6
        ),
        Verify::None => {
            format!("where '{}' says so, which was not verified", plan.preset.as_deref().unwrap_or(plan.method.name()))
        }
    };
    let contained = if plan.remove == Remove::Contained {
        format!("A document with {} % of its sequences inside a kept one can go as well. ", percent(plan.containment))
    } else {
        String::new()
    };
    let reference = counts.reference.map_or(String::new(), |reference| {
        let documents = counted(reference.documents, "document", "documents");
        format!("So can what is known already, from the {documents} of the reference. ")
    });
    format!(
        "Keeping one of each leaves {}. Documents count as near-duplicates {near}; exact copies have the same words in the same order. \
         {contained}{reference}Nothing has been deleted: this page says what could go, and why.",
        counted(counts.kept, "document", "documents")
    )
}

fn figures(facts: &Facts) -> Html {
    let counts = &facts.counts;
    let share = |part| percent(part, counts.documents);
    let mut list = el("dl").class("facts");
    let skipped = if counts.skipped > 0 { format!("{} more skipped", grouped(counts.skipped)) } else { "none skipped".into() };
    let largest =
        if counts.clusters > 0 { format!("largest: {} documents", grouped(counts.largest_cluster)) } else { String::new() };
    let mut figures = vec![
        ("Documents", counts.documents, skipped, "rule"),
        ("Kept", counts.kept, share(counts.kept), "quiet-rule"),
        ("Exact copies", counts.exact, share(counts.exact), "first-rule"),
        ("Near-duplicates", counts.near, share(counts.near), "second-rule"),
        ("Clusters", counts.clusters, largest, "rule"),
    ];
    if facts.plan.remove == Remove::Contained {
        figures.insert(4, ("Inside another", counts.contained, share(counts.contained), "second-rule"));
    }
    if let Some(reference) = counts.reference {
        figures.push(("Known already", reference.removed, "from the reference".into(), "rule"));
    }
    for (term, figure, remark, class) in figures {
        let figure = el("dd").class("figure").with(grouped(figure));
        let group = el("div").class(class).with(el("dt").with(term)).with(figure);
        list = list.with(if remark.is_empty() { group } else { group.with(el("dd").with(remark)) });
    }
    list.into()
}

fn warnings(facts: &Facts) -> Html {
    let all = &facts.warnings;
    if all.is_empty() {
        return Html::empty();
    }
    let list: Html =
        all.iter().take(SHOWN_WARNINGS).map(|warning| el("li").with(shortened(&warning.message, 2 * NAME))).collect();
    let mut notice = el("section").class("warnings").attr("aria-labelledby", "warnings");
    notice =
        notice.with(el("h2").attr("id", "warnings").with("Worth a look before anything is removed")).with(el("ul").with(list));
    if all.len() > SHOWN_WARNINGS {
        let more = format!("{} more in ", grouped((all.len() - SHOWN_WARNINGS) as u64));
        notice = notice.with(el("p").class("note").with(more).with(el("code").with("run.json")).with("."));
    }
    notice.into()
}

fn doubtful(report: &Report, gallery: &mut Gallery<'_>) -> Html {
    if report.doubtful.is_empty() {
        return el("p").with("Every removable document equals the one kept for it.").into();
    }
    let which = if report.doubtful.len() < SHOWN_CLUSTERS { "The".into() } else { format!("The {SHOWN_CLUSTERS}") };
    let intro = format!(
        "{which} clusters with the removable documents least like the one kept for them. If these are right, the others are."
    );
    let intro = el("p").with(intro);
    Html::from(intro).and(how_to_read()).and(gallery.list(&report.doubtful))
}

fn largest(report: &Report, gallery: &mut Gallery<'_>) -> Html {
    if report.largest.is_empty() {
        return el("p").with("There is no cluster of two or more documents.").into();
    }
    let shown = report.largest.len() as u64;
    let intro = format!("{} of {}.", grouped(shown), counted(report.facts.counts.clusters, "cluster", "clusters"));
    Html::from(el("p").with(intro)).and(gallery.list(&report.largest))
}

fn how_to_read() -> Html {
    el("p")
        .with("Marked are words ")
        .with(el("ins").with("only in the kept document"))
        .with(" and words ")
        .with(el("del").with("only in the removable one"))
        .with(format!(
            ", which would be lost with it. Case, punctuation and spacing do not count, as in the scan. Of each cluster at most \
             {SHOWN_MEMBERS} removable documents are shown, those least like the kept one."
        ))
        .into()
}
