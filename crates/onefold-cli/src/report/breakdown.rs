//! Where the duplicates are: by source, by type, by host.

use super::tally::{Ranked, Share, Tally};
use super::words::{counted, named, percent};
use super::{Report, SHOWN_ROWS};
use crate::html::plot::{Tone, grouped, share_bar};
use crate::html::{Align, Html, Table, el};

/// A way to divide the collection.
struct Division {
    heading: &'static str,
    one: &'static str,
    many: &'static str,
    /// Before the name, where there is only one.
    only: &'static str,
}

const SOURCES: Division =
    Division { heading: "By source", one: "source", many: "sources", only: "All documents come from one source: " };
const TYPES: Division = Division {
    heading: "By type",
    one: "type",
    many: "types",
    only: "All documents are of one type, by the ending of their names: ",
};
const HOSTS: Division =
    Division { heading: "By host", one: "host", many: "hosts", only: "All documents with an address come from one host: " };

/// The section.
pub fn section(report: &Report) -> Html {
    let totals = &report.totals;
    let mut body = division(&SOURCES, &totals.sources).and(division(&TYPES, &totals.types));
    if !totals.hosts.is_empty() {
        body.push(division(&HOSTS, &totals.hosts));
    }
    body
}

fn division(division: &Division, tally: &Tally) -> Html {
    let ranked = tally.ranked(SHOWN_ROWS);
    let heading = Html::from(el("h3").with(division.heading));
    if let ([(only, share)], 0) = (&ranked.top[..], ranked.other_names) {
        let line = el("p").with(division.only).with(named(only)).with(format!(
            ". {} of {} can go.",
            grouped(share.removed()),
            grouped(share.documents)
        ));
        return heading.and(line);
    }
    let body = heading.and(table(division, &ranked));
    if tally.is_exact() {
        return body;
    }
    let note = format!(
        "There are too many {} to count each one: small ones were summed up on the way, so figures for a single \
         {} are least values.",
        division.many, division.one
    );
    body.and(el("p").class("note").with(note))
}

fn table(division: &Division, ranked: &Ranked) -> Html {
    let caption = format!("Documents and duplicates by {}, those that lose most first", division.one);
    let mut table = Table::new(&caption)
        .column(division.one, Align::Text)
        .column("documents", Align::Number)
        .column("exact copies", Align::Detail)
        .column("near-duplicates", Align::Detail)
        .column("removable", Align::Number)
        .column("share", Align::Number);
    for (label, share) in &ranked.top {
        table.row(cells(named(label), *share));
    }
    if ranked.other_names > 0 {
        let others = counted(ranked.other_names, &format!("other {}", division.one), &format!("other {}", division.many));
        table.row(cells(el("em").with(others).into(), ranked.others));
    }
    table.render()
}

fn cells(label: Html, share: Share) -> [Html; 6] {
    let bar = share_bar(&[(Tone::First, share.exact), (Tone::Second, share.near)], share.documents);
    [
        label.and(bar),
        grouped(share.documents).into(),
        grouped(share.exact).into(),
        grouped(share.near).into(),
        grouped(share.removed()).into(),
        percent(share.removed(), share.documents).into(),
    ]
}
