//! The page of a study: the figures of the papers for this collection.

use onefold_study::sampling::commonality::{Cut, Kept};
use onefold_study::sampling::{Counted, Mean};
use onefold_study::study::{REQUIRED, Study};

use crate::html::plot::{About, Axis, Bar, Bars, Line, Lines, Series, Tone};
use crate::html::{Align, Html, Page, Table, el, name};
use crate::numbers::{duration, grouped, percent, size};

/// The colours of lines, in order.
const TONES: [Tone; 4] = [Tone::First, Tone::Second, Tone::Third, Tone::Quiet];

/// The whole page.
pub fn page(study: &Study, inputs: &[String]) -> String {
    let mut page = Page::new("Parameter study – onefold", header(study, inputs));
    page.section("findings", "What was found before, and here", findings(study));
    page.section("collection", "The collection", collection(study));
    page.section("precision", "Precision of samples", curves(study, Kind::Precision));
    page.section("recall", "Recall of samples", curves(study, Kind::Recall));
    page.section("adaptive", "Adaptive sampling", adaptive(study));
    page.section("model", "Arithmetic beside samples", model(study));
    page.section("settings", "Other settings", settings(study));
    page.section("prevalence", "How many documents have a near-duplicate", prevalence(study));
    page.section("quality", "What samples and limits do to it", quality(study));
    page.section("common", "The most common shingles", common(study));
    page.footer(Html::text(concat!("onefold ", env!("CARGO_PKG_VERSION"), ". This page holds no script and loads nothing.")));
    page.render()
}

fn header(study: &Study, inputs: &[String]) -> Html {
    let inputs: Html = inputs.iter().take(3).map(|input| Html::text(" · ").and(name(input))).collect();
    let lede = format!(
        "What sampling, thresholds and sizes do to the answer, on {} documents: {} trials after Ye, Wen, Ma 2008 and Nikkhoo 2010, in {}.",
        grouped(study.summary.documents),
        grouped(study.trials.count()),
        duration(study.total_seconds())
    );
    Html::from(el("p").class("eyebrow").with("onefold study").with(inputs))
        .and(el("h1").with("Parameter study"))
        .and(el("p").class("lede").with(lede))
}

fn paragraph(text: &str) -> Html {
    el("p").with(text).into()
}

/// A share to three places.
fn share(value: Option<f64>) -> Html {
    value.map_or("–".into(), |value| format!("{value:.3}").into())
}

fn findings(study: &Study) -> Html {
    let mut table = Table::new("Statements of Ye, Wen, Ma 2008, looked for in this collection")
        .column("", Align::Text)
        .column("statement", Align::Text)
        .column("here", Align::Text)
        .column("holds", Align::Text);
    for finding in &study.findings {
        let holds = finding.holds.map_or("not to tell", |holds| if holds { "yes" } else { "no" });
        table.row([finding.id.into(), finding.claim.into(), finding.here.as_str().into(), holds.into()]);
    }
    table.render()
}

fn collection(study: &Study) -> Html {
    let summary = &study.summary;
    let words = format!(
        "{} documents, {} of text, {:.0} words on average; {} ({}) are exact copies of others and were left out of the trials. Of the others {} are \
         too short for a shingle.",
        grouped(summary.documents),
        size(summary.bytes),
        summary.mean_words,
        grouped(summary.copies),
        percent(summary.copies, summary.documents),
        grouped(summary.without_shingles),
    );
    paragraph(&words).and(groups(study)).and(rank_size(study))
}

/// Table 3 of the paper.
fn groups(study: &Study) -> Html {
    let (trials, mut table) = (&study.trials, Table::new("Groups of sizes, by words"));
    table = table
        .column("words", Align::Text)
        .column("documents", Align::Number)
        .column("of all", Align::Number)
        .column("shingles", Align::Number)
        .column("of all", Align::Number)
        .column("documents of .GOV", Align::Detail)
        .column("shingles of .GOV", Align::Detail);
    let [documents, shingles] = [&trials.documents, &trials.shingles].map(|counts| counts.iter().sum::<u64>());
    for class in 0..trials.design.classes.count() {
        let published = study.published_group(class);
        let of = |value: Option<u64>| value.map_or(String::new(), grouped);
        let cells = [
            trials.design.classes.name(class),
            grouped(trials.documents[class]),
            percent(trials.documents[class], documents),
            grouped(trials.shingles[class]),
            percent(trials.shingles[class], shingles),
            of(published.map(|(documents, _)| documents)),
            of(published.map(|(_, shingles)| shingles)),
        ];
        table.row(cells.into_iter().map(Html::from));
    }
    table.render()
}

/// Sizes by rank, both by their logarithms (Y5).
fn rank_size(study: &Study) -> Html {
    let count = study.sizes.len().max(1);
    let steps = (0..=40).map(|step| ((count as f64).powf(f64::from(step) / 40.0) as usize).clamp(1, count));
    let mut ranks: Vec<usize> = steps.collect();
    ranks.dedup();
    let log = |value: f64| (value.max(1.0).log10() * 1000.0).round() / 1000.0;
    let points = ranks.iter().filter_map(|&rank| Some((log(rank as f64), log(f64::from(*study.sizes.get(rank - 1)?)))));
    let highest = study.sizes.first().map_or(1.0, |&words| log(f64::from(words)).ceil().max(1.0));
    let figure = Lines {
        about: About {
            id: "rank-size",
            title: "Sizes by rank",
            description: "Words of a document by its place in the order of sizes, both as powers of ten; a straight line is a power law.",
        },
        level: Axis::new("rank, as a power of ten", 0.0, log(count as f64).ceil().max(1.0)),
        upright: Axis::new("words, as a power of ten", 0.0, highest),
        lines: vec![Line { series: Series::new("documents", Tone::First), points: points.collect() }],
    };
    figure.render()
}

/// What a curve shows.
#[derive(Clone, Copy)]
enum Kind {
    Precision,
    Recall,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Precision => "precision",
            Kind::Recall => "recall",
        }
    }

    fn of(self, study: &Study, modulo: u32, threshold: usize, class: Option<usize>) -> Option<Mean> {
        match self {
            Kind::Precision => study.trials.precision(modulo, threshold, class, Counted::Inside),
            Kind::Recall => study.trials.recall(modulo, threshold, class, Counted::Inside),
        }
    }
}

/// Fig. 2 and 3 of the paper: one figure for each group.
fn curves(study: &Study, kind: Kind) -> Html {
    let intro = match kind {
        Kind::Precision => {
            "Of the pairs whose samples reach a threshold, the share whose whole sets do: the mean over all remainders, for pairs inside a group of \
             sizes. The smaller the sample and the document, the lower it is."
        }
        Kind::Recall => "Of the pairs whose whole sets reach a threshold, the share whose samples do.",
    };
    let mut all = paragraph(intro);
    let classes = 0..study.trials.design.classes.count();
    let known = classes.filter(|&class| study.trials.truth.inside(0, Some(class)) > 0);
    all.push(curve(study, kind, None));
    known.for_each(|class| all.push(curve(study, kind, Some(class))));
    all
}

fn curve(study: &Study, kind: Kind, class: Option<usize>) -> Html {
    let design = &study.trials.design;
    // Few enough to be told apart: the coarsest ones.
    let moduli = design.moduli.iter().rev().filter(|modulo| modulo.is_power_of_two()).take(TONES.len());
    let line = |(&modulo, tone): (&u32, Tone)| {
        let point = |(at, threshold): (usize, &onefold::Threshold)| {
            Some((threshold.as_f64(), round(kind.of(study, modulo, at, class)?.mean)))
        };
        Line {
            series: Series::new(&format!("1 in {modulo}"), tone),
            points: design.thresholds.iter().enumerate().filter_map(point).collect(),
        }
    };
    let pairs = grouped(study.trials.truth.inside(0, class));
    let group = class.map_or("All groups".into(), |class| format!("{} words", design.classes.name(class)));
    let title = format!("{group}: {pairs} pairs from {} on", design.thresholds[0]);
    let id = format!("{}-{}", kind.name(), class.map_or("all".into(), |class| class.to_string()));
    let lowest = design.thresholds[0].as_f64();
    let figure = Lines {
        about: About { id: &id, title: &title, description: "A line for each sample, by the threshold." },
        level: Axis::new("threshold", lowest.min(0.99), 1.0),
        upright: Axis::new(kind.name(), 0.0, 1.0),
        lines: moduli.zip(TONES).map(line).collect(),
    };
    figure.render()
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Fig. 4 of the paper.
fn adaptive(study: &Study) -> Html {
    let trials = &study.trials;
    let intro = "For each group of sizes the smallest sample whose mean precision is as high as required (all shingles where none is): the share \
                 of shingles that is left to look at. 'onefold tune' makes such plans with finer shares and sizes, for pairs across groups, too.";
    let wanted = [0.6, 0.85, 0.9, 0.95];
    let chosen =
        trials.design.thresholds.iter().enumerate().filter(|(_, t)| wanted.iter().any(|w| (t.as_f64() - w).abs() < 1e-9));
    let line = |((at, threshold), tone): ((usize, &onefold::Threshold), Tone)| Line {
        series: Series::new(&format!("threshold {threshold}"), tone),
        points: REQUIRED.iter().map(|&p| (p, round(100.0 * trials.adaptive(at, p, Counted::Inside).1))).collect(),
    };
    let figure = Lines {
        about: About {
            id: "adaptive-cost",
            title: "Shingles that a required precision costs",
            description: "The share of shingles in percent, by the precision that is required in every group.",
        },
        level: Axis::new("required precision", 0.5, 1.0),
        upright: Axis::new("% of shingles", 0.0, 100.0),
        lines: chosen.zip(TONES).map(line).collect(),
    };
    paragraph(intro).and(figure.render())
}

fn model(study: &Study) -> Html {
    let intro = match study.largest_difference() {
        Some(largest) => format!(
            "Precision at the threshold 0.85 by the exact sum over all pairs, and on average by samples under many seeds with the standard \
             error of that, for pairs whose smaller document is of a class. Where 25 shingles or more of a pair are sampled they differ by at most {largest:.3}."
        ),
        None => "There are too few pairs at the threshold 0.85 to compare arithmetic with samples.".into(),
    };
    let mut table = Table::new("Expected and counted")
        .column("shingles", Align::Text)
        .column("share", Align::Number)
        .column("sampled of a pair", Align::Number)
        .column("pairs", Align::Detail)
        .column("expected precision", Align::Number)
        .column("counted", Align::Number)
        .column("±", Align::Detail)
        .column("expected recall", Align::Number)
        .column("counted", Align::Number);
    for row in &study.model {
        table.row([
            study.model_classes.name(row.class).into(),
            format!("1 in {:.0}", 1.0 / row.share).into(),
            format!("{:.0}", row.sampled).into(),
            grouped(row.truth.round() as u64).into(),
            share(row.expected.precision()),
            share(row.counted.precision()),
            format!("{:.3}", row.error).into(),
            share(row.expected.recall()),
            share(row.counted.recall()),
        ]);
    }
    paragraph(&intro).and(table.render())
}

fn settings(study: &Study) -> Html {
    let thresholds = &study.effect_thresholds;
    let at = thresholds.iter().position(|t| (t.as_f64() - 0.85).abs() < 1e-9).unwrap_or(0);
    let Some(threshold) = thresholds.get(at) else {
        return paragraph("There are too many pairs to compare other settings with.");
    };
    let intro = format!(
        "Pairs from {} on under other lengths of shingles, other hashes and in pieces that are looked at alone, measured by the pairs of this study. \
         Different shingles are counted in one of 64. Cutting a collection into pieces loses what lies in two of them.",
        threshold
    );
    let mut table = Table::new("Other settings")
        .column("setting", Align::Text)
        .column("shingles", Align::Detail)
        .column("different ones", Align::Detail)
        .column("pairs", Align::Number)
        .column("precision", Align::Number)
        .column("recall", Align::Number);
    for effect in &study.effects {
        let pairs = &effect.pairs[at];
        let counts = [effect.shingles, effect.distinct, pairs.found].map(|count| Html::from(grouped(count)));
        let name = Html::from(effect.name.as_str());
        table.row([name].into_iter().chain(counts).chain([share(pairs.precision()), share(pairs.recall())]));
    }
    for pieces in &study.pieces {
        let pairs = &pieces.pairs[at];
        let name = format!("{} pieces {}", pieces.pieces, if pieces.in_order { "in order" } else { "at random" });
        let cells = [String::new(), String::new(), grouped(pairs.found)].map(Html::from);
        table.row([Html::from(name)].into_iter().chain(cells).chain([share(pairs.precision()), share(pairs.recall())]));
    }
    paragraph(&intro).and(table.render())
}

/// What was kept, in words.
fn kept(cut: &Cut) -> String {
    match cut.kept {
        Kept::OneIn(1) | Kept::UpTo(None) => "all shingles".into(),
        Kept::OneIn(modulo) => format!("1 in {modulo}"),
        Kept::UpTo(Some(limit)) => format!("in at most {limit} documents"),
    }
}

/// Fig. 3.4 of Nikkhoo, and Tables 3.1 and 3.3.
fn prevalence(study: &Study) -> Html {
    let seen = &study.commonality;
    let how = match seen.complete {
        true => "all documents were looked at".into(),
        false => format!(
            "{} of {} documents were looked at, each with all its partners",
            grouped(seen.looked_at),
            grouped(seen.with_shingles)
        ),
    };
    let intro = format!(
        "A document is a near-duplicate at a level if another resembles it that much, by shingles of 64 characters. Copies are included; {how}."
    );
    let bar = |level: &onefold_study::sampling::commonality::Prevalence| Bar {
        name: format!("{} and more", level.rr_at_least),
        counts: vec![level.documents],
        remark: level.percent.map_or("–".into(), |percent| format!("{percent:.2} %")),
    };
    let bars = Bars {
        about: About {
            id: "prevalence-bars",
            title: "Documents with a near-duplicate",
            description: "How many documents have another that resembles them, by resemblance.",
        },
        rows_are: "resemblance",
        series: vec![Series::new("documents", Tone::First)],
        bars: seen.samples.first().map_or_else(Vec::new, |all| all.prevalence.iter().map(bar).collect()),
    };
    paragraph(&intro)
        .and(bars.render())
        .and(prevalence_table("By samples, in % of documents", &seen.samples))
        .and(prevalence_table("By limits to common shingles, in % of documents", &seen.limits))
}

fn prevalence_table(caption: &str, cuts: &[Cut]) -> Html {
    let mut table = Table::new(caption).column("kept", Align::Text);
    for level in cuts.first().map_or(&[][..], |cut| &cut.prevalence) {
        let tenth = (level.rr_at_least.as_f64() * 10.0).round() as u32;
        let align = if [9, 5, 1].contains(&tenth) { Align::Number } else { Align::Detail };
        table = table.column(&format!("≥ {}", level.rr_at_least), align);
    }
    for cut in cuts {
        let cells = cut.prevalence.iter().map(|level| level.percent.map_or("–".into(), |percent| format!("{percent:.2}")));
        table.row([kept(cut)].into_iter().chain(cells).map(Html::from));
    }
    table.render()
}

/// The four quality curves, for samples and for limits.
fn quality(study: &Study) -> Html {
    let intro = "Resemblance by what is kept against that by all shingles, over all pairs that share one: the mean difference, the correlation, and \
                 recall and precision of pairs at 0.5. Limits leave sizes as they are, so nothing false comes of them (precision is 1).";
    let samples = |cut: &Cut| match cut.kept {
        Kept::OneIn(modulo) if modulo > 1 => Some(-f64::from(modulo).log2()),
        _ => None,
    };
    let limits = |cut: &Cut| match cut.kept {
        Kept::UpTo(limit) => limit.map(f64::from),
        Kept::OneIn(_) => None,
    };
    let seen = &study.commonality;
    paragraph(intro)
        .and(four_curves(
            "samples",
            "Samples",
            Axis::new("share of shingles, as a power of two", -9.0, -1.0),
            &seen.samples,
            samples,
        ))
        .and(four_curves("limits", "Limits", Axis::new("most documents that have a shingle", 10.0, 100.0), &seen.limits, limits))
        .and(emitted(study))
}

/// What a curve shows of a cut.
type Figure = fn(&Cut) -> Option<f64>;

fn four_curves(id: &str, title: &str, level: Axis, cuts: &[Cut], place: impl Fn(&Cut) -> Option<f64>) -> Html {
    let values: [(&str, Figure); 4] = [
        ("average error", |cut| cut.average_error),
        ("correlation", |cut| cut.correlation),
        ("recall", |cut| cut.pairs.recall),
        ("precision", |cut| cut.pairs.precision),
    ];
    let line = |((name, value), tone): ((&str, Figure), Tone)| {
        let mut points: Vec<(f64, f64)> =
            cuts.iter().filter_map(|cut| Some((place(cut)?, round(value(cut)?.max(0.0))))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Line { series: Series::new(name, tone), points }
    };
    let figure = Lines {
        about: About { id, title, description: "Average error, correlation, recall and precision." },
        level,
        upright: Axis::new("share", 0.0, 1.0),
        lines: values.into_iter().zip(TONES).map(line).collect(),
    };
    figure.render()
}

/// N24: what a limit saves.
fn emitted(study: &Study) -> Html {
    let mut table = Table::new("Pairs that the first of two reducers would write: one for each shingle that two documents share")
        .column("limit", Align::Text)
        .column("pairs", Align::Number)
        .column("of all", Align::Number);
    for cut in &study.commonality.limits {
        let part = cut.emitted_share.map_or("–".into(), |share| format!("{:.1} %", 100.0 * share));
        table.row([kept(cut).into(), grouped(cut.emitted_pairs).into(), part.into()]);
    }
    table.render()
}

fn common(study: &Study) -> Html {
    let mut table = Table::new("Shingles of 64 characters that most documents have")
        .column("documents", Align::Number)
        .column("text", Align::Text);
    for shingle in &study.commonality.most_common {
        table.row([grouped(shingle.documents).into(), name(shingle.text.as_deref().unwrap_or("–"))]);
    }
    table.render()
}
