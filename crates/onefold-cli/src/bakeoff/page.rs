//! The page of a bakeoff: the table, bars of what was found and invented, and a curve for each method.

use onefold_study::bakeoff::{Bakeoff, Entrant, LOWEST, Standing, Step};

use super::share;
use crate::html::plot::{About, Axis, Bar, Bars, Line, Lines, Series, Tone};
use crate::html::{Align, Html, Page, Table, el, name};
use crate::numbers::{duration, grouped, size};

/// The whole page.
pub fn page(result: &Bakeoff, entrants: &[Entrant], inputs: &[String]) -> String {
    let mut page = Page::new("Methods beside each other – onefold", header(result, inputs));
    page.section("table", "What each found", table(result));
    page.section("bars", "Found, missed, invented", bars(result));
    page.section("curves", "By resemblance", curves(result));
    if !result.measures.is_empty() {
        page.section("measures", "Which measure agrees with the labels", measures(result));
    }
    page.section("settings", "Their settings", settings(entrants));
    page.footer(Html::text(concat!("onefold ", env!("CARGO_PKG_VERSION"), ". This page holds no script and loads nothing.")));
    page.render()
}

fn header(result: &Bakeoff, inputs: &[String]) -> Html {
    let inputs: Html = inputs.iter().take(3).map(|input| Html::text(" · ").and(name(input))).collect();
    let lede = format!(
        "{} documents hold {} pairs whose resemblance reaches {}. Each method looked for them in its own way; what it reports is \
         measured by that exact answer.",
        grouped(result.documents as u64),
        grouped(result.truth),
        result.threshold
    );
    Html::from(el("p").class("eyebrow").with("onefold bakeoff").with(inputs))
        .and(el("h1").with("Methods beside each other"))
        .and(el("p").class("lede").with(lede))
}

fn table(result: &Bakeoff) -> Html {
    let gold = result.standings.iter().any(|standing| standing.gold.is_some());
    let mut table = Table::new("What each method reports, by the exact answer")
        .column("method", Align::Text)
        .column("time", Align::Number)
        .column("memory", Align::Detail)
        .column("found", Align::Number)
        .column("missed", Align::Number)
        .column("invented", Align::Number)
        .column("precision", Align::Number)
        .column("recall", Align::Number)
        .column("removable", Align::Detail);
    if gold {
        table =
            table.column("gold precision", Align::Detail).column("gold recall", Align::Detail).column("gold F1", Align::Number);
    }
    for standing in &result.standings {
        let Standing { name, seconds, peak_bytes, exact, removed, gold, .. } = standing;
        let figures = [
            duration(*seconds),
            peak_bytes.map_or("–".into(), size),
            grouped(exact.true_positives),
            grouped(exact.false_negatives),
            grouped(exact.false_positives),
            share(exact.precision),
            share(exact.recall),
            grouped(*removed),
        ];
        let of_gold = gold.iter().flat_map(|gold| [gold.precision, gold.recall, gold.f1].map(share));
        let cells = figures.into_iter().chain(of_gold).map(Html::from);
        let problem = standing.problem.as_ref().map_or("", |_| " (too many pairs)");
        table.row([Html::text(&format!("{name}{problem}"))].into_iter().chain(cells));
    }
    table.render()
}

fn bars(result: &Bakeoff) -> Html {
    let bar = |standing: &Standing| {
        let exact = &standing.exact;
        Bar {
            name: standing.name.into(),
            counts: vec![exact.true_positives, exact.false_negatives, exact.false_positives],
            remark: format!("precision {}, recall {}", share(exact.precision), share(exact.recall)),
        }
    };
    let bars = Bars {
        about: About {
            id: "pairs",
            title: "Pairs of documents",
            description: "For each method the pairs that it found, those that it missed and those that it invented.",
        },
        rows_are: "method",
        series: vec![
            Series::new("found", Tone::First),
            Series::new("missed", Tone::Quiet),
            Series::new("invented", Tone::Second),
        ],
        bars: result.standings.iter().map(bar).collect(),
    };
    bars.render()
}

fn curves(result: &Bakeoff) -> Html {
    let intro = "The share of pairs that each method reports, by their resemblance; above the threshold it should be all, below it none. \
                 Where the literature has a formula, what it expects is drawn beside it.";
    let mut all = Html::from(el("p").with(intro));
    result.standings.iter().for_each(|standing| all.push(curve(standing)));
    all
}

fn curve(standing: &Standing) -> Html {
    let middle = |step: &Step| (step.from + 0.025).min(1.0);
    let measured = |step: &Step| Some((middle(step), step.share()?));
    let expected = standing.by_resemblance.iter().zip(&standing.expected);
    let expected: Vec<(f64, f64)> = expected.filter_map(|(step, expected)| Some((middle(step), (*expected)?))).collect();
    let mut lines = vec![Line {
        series: Series::new("measured", Tone::First),
        points: standing.by_resemblance.iter().filter_map(measured).collect(),
    }];
    if !expected.is_empty() {
        lines.push(Line { series: Series::new("expected", Tone::Third), points: expected });
    }
    let figure = Lines {
        about: About {
            id: standing.name,
            title: standing.name,
            description: "The share of pairs that the method reports, by their resemblance.",
        },
        level: Axis::new("resemblance", LOWEST, 1.0),
        upright: Axis::new("share reported", 0.0, 1.0),
        lines,
    };
    figure.render()
}

fn measures(result: &Bakeoff) -> Html {
    let intro = "Each judged pair was measured in several ways. The best F1 is that of the threshold that fits all pairs; cross-validated, \
                 every pair is judged by a threshold that was chosen without it.";
    let mut table = Table::new("Measures, by how well they agree with the labels")
        .column("measure", Align::Text)
        .column("threshold", Align::Number)
        .column("best F1", Align::Number)
        .column("cross-validated F1", Align::Number);
    for verdict in &result.measures {
        let figures = [verdict.threshold, verdict.best_f1, verdict.cross_validated_f1].map(|value| format!("{value:.3}").into());
        table.row([Html::text(&verdict.measure)].into_iter().chain(figures));
    }
    Html::from(el("p").with(intro)).and(table.render())
}

fn settings(entrants: &[Entrant]) -> Html {
    let entry = |entrant: &Entrant| {
        let plan = toml::to_string(&entrant.plan).unwrap_or_default();
        el("details").with(el("summary").with(entrant.name)).with(el("pre").with_lines(&plan))
    };
    entrants.iter().map(entry).collect()
}
