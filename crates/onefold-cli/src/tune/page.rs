//! The page of a plan: its table, and for each class what any share would give.

use onefold::Plan;
use onefold_study::sampling::{Advice, ClassAdvice, CurvePoint};

use super::{interval, percent, share, sizes};
use crate::html::plot::{About, Axis, Line, Lines, Series, Tone};
use crate::html::{Align, Html, Page, Table, el};
use crate::numbers::grouped;

/// The whole page.
pub fn page(advice: &Advice, plan: &Plan) -> String {
    let mut page = Page::new("A plan for sampling – onefold", header(advice, plan));
    page.section("plan", "The plan", table(advice));
    page.section("curves", "What any share would give", curves(advice));
    let settings = toml::to_string(plan).unwrap_or_default();
    page.section("settings", "Its settings", el("pre").with_lines(&settings).into());
    page.footer(Html::text(concat!("onefold ", env!("CARGO_PKG_VERSION"), ". This page holds no script and loads nothing.")));
    page.render()
}

fn header(advice: &Advice, plan: &Plan) -> Html {
    let promise = match advice.verified {
        true => format!("Every proposal is verified, so precision is 1; a recall of {} was asked for.", advice.goal.recall),
        false => format!(
            "A precision of {} and a recall of {} were asked for, for documents of every size.",
            advice.goal.precision, advice.goal.recall
        ),
    };
    let runs = advice
        .confidence
        .map_or(String::new(), |share| format!(" {} of all runs shall keep this, for each size.", percent(share)));
    let lede = format!(
        "{} pairs of documents have a resemblance from {} on. {promise}{runs} The cheapest plan that is expected to keep this looks at {} of the \
         shingles; one share for all documents would have to be {}.",
        grouped(advice.true_pairs.round() as u64),
        plan.threshold,
        percent(advice.cost),
        percent(advice.uniform),
    );
    Html::from(el("p").class("eyebrow").with("onefold tune"))
        .and(el("h1").with("A plan for sampling"))
        .and(el("p").class("lede").with(lede))
}

fn table(advice: &Advice) -> Html {
    let mut table = Table::new("Shares by size, with what is expected of them and what trials gave")
        .column("shingles", Align::Text)
        .column("documents", Align::Number)
        .column("pairs", Align::Number)
        .column("keep", Align::Number)
        .column("expected precision", Align::Number)
        .column("nineteen of twenty runs", Align::Detail)
        .column("expected recall", Align::Number)
        .column("nineteen of twenty runs", Align::Detail)
        .column("precision of trials", Align::Number)
        .column("recall of trials", Align::Number);
    for class in advice.classes.iter().filter(|class| class.documents > 0) {
        let (pairs, trials) = (&class.pairs, class.pairs.pooled());
        // Without true pairs there is nothing to be precise about.
        let known = pairs.expected.truth >= 1.0;
        let precision = |value: Option<f64>| if advice.verified { "1".into() } else { share(value.filter(|_| known)) };
        let range = |range: Option<(f64, f64)>| interval(range.filter(|_| known));
        let cells = [
            sizes(class),
            grouped(class.documents),
            grouped(pairs.expected.truth.round() as u64),
            percent(class.share),
            precision(pairs.expected.precision()),
            if advice.verified { String::new() } else { range(pairs.precision_interval()) },
            share(pairs.expected.recall()),
            range(pairs.recall_interval()),
            precision(trials.precision()),
            share(trials.recall()),
        ];
        table.row(cells.into_iter().map(Html::from));
    }
    table.render()
}

fn curves(advice: &Advice) -> Html {
    let intro = "Precision and recall that are expected for pairs whose smaller document is of a class, by the share of shingles that all \
                 documents keep, from 1 in 1,024 at the left to all at the right. Where verification follows, precision is that of the proposals.";
    let mut all = Html::from(el("p").with(intro));
    let known = advice.classes.iter().filter(|class| class.pairs.expected.truth >= 1.0);
    known.for_each(|class| all.push(curve(class)));
    all
}

fn curve(class: &ClassAdvice) -> Html {
    let steps = |share: f64| share.log2();
    let line = |name: &str, tone, value: fn(&CurvePoint) -> Option<f64>| Line {
        series: Series::new(name, tone),
        points: class.curve.iter().rev().filter_map(|point| Some((steps(point.share), value(point)?))).collect(),
    };
    let title = format!("{} shingles: {} documents keep {}", sizes(class), grouped(class.documents), percent(class.share));
    let id = format!("class-{}", class.from);
    let figure = Lines {
        about: About { id: &id, title: &title, description: "Expected precision and recall by the share of shingles." },
        level: Axis::new("share of shingles, as a power of two", -10.0, 0.0),
        upright: Axis::new("precision, recall", 0.0, 1.0),
        lines: vec![line("precision", Tone::First, |point| point.precision), line("recall", Tone::Third, |point| point.recall)],
    };
    figure.render()
}
