//! How alike the duplicates are, and how large the clusters.

use onefold::Verify;

use onefold::{PairsMode, Relate};

use super::Report;
use super::collect::BINS;
use super::words::counted;
use crate::html::plot::{About, Axis, Bar, Bars, Bin, Histogram, Mark, Series, Tone, grouped, number};
use crate::html::{Html, el};

/// The section on similarity.
pub fn similarities(report: &Report) -> Html {
    let (plan, pairs) = (&report.facts.plan, &report.totals.pairs);
    let bins = bins(report);
    let below_one: u64 = bins.iter().flat_map(|bin| &bin.counts).sum();
    let ones = counted(pairs.ones, "pair", "pairs");
    if below_one == 0 {
        let text =
            if pairs.ones == 0 { "No pair of documents is listed.".into() } else { format!("All {ones} have similarity 1.") };
        return el("p").with(text).into();
    }
    let what = match plan.pairs {
        PairsMode::All => "Each pair of documents that was measured and listed.",
        PairsMode::Star => "Each removable document with the one kept for it.",
    };
    let mut intro = el("p").with(what);
    if pairs.ones > 0 {
        intro = intro.with(format!(" {ones} of similarity 1 are not drawn, so that the others can be seen."));
    }
    Html::from(intro).and(histogram(report, bins, below_one)).and(close_calls(report))
}

/// From a twentieth below the lowest listed similarity, so that the threshold stands inside the picture.
fn bins(report: &Report) -> Vec<Bin> {
    let pairs = &report.totals.pairs;
    let asked = (report.facts.plan.join_threshold().as_f64() * BINS as f64) as usize;
    let lowest = (0..BINS).find(|&at| pairs.accepted[at] + pairs.rejected[at] > 0).unwrap_or(BINS);
    let first = (asked.min(lowest).min(BINS - 1) / 5 * 5).saturating_sub(5);
    let hundredths = |at: usize| at as f64 / BINS as f64;
    let bin = |at| Bin { from: hundredths(at), to: hundredths(at + 1), counts: vec![pairs.accepted[at], pairs.rejected[at]] };
    (first..BINS).map(bin).collect()
}

fn histogram(report: &Report, mut bins: Vec<Bin>, below_one: u64) -> Html {
    let threshold = report.facts.plan.threshold;
    let first = bins.first().map_or(0.0, |bin| bin.from);
    let fullest = bins.iter().max_by_key(|bin| bin.counts.iter().sum::<u64>());
    let peak = fullest.map_or(String::new(), |bin| {
        format!(" Most, {}, lie from {} to {}.", grouped(bin.counts.iter().sum()), number(bin.from), number(bin.to))
    });
    let accepted = if report.facts.plan.relation == Relate::Containment {
        "near-duplicates, or one inside the other"
    } else {
        "near-duplicates"
    };
    let mut series = vec![Series::new(accepted, Tone::Second), Series::new("below the threshold", Tone::Quiet)];
    if bins.iter().all(|bin| bin.counts[1] == 0) {
        series.truncate(1);
        bins.iter_mut().for_each(|bin| bin.counts.truncate(1));
    }
    Histogram {
        about: About {
            id: "similarity",
            title: "Similarity of pairs",
            description: &format!(
                "{} from {first} up to 1, the threshold at {threshold}.{peak}",
                counted(below_one, "pair", "pairs")
            ),
        },
        values: Axis::new("similarity", first, 1.0),
        counting: "pairs",
        series,
        bins,
        marks: vec![Mark { value: threshold.as_f64(), name: format!("threshold {threshold}") }],
    }
    .render()
}

/// How many pairs a slightly higher threshold would part.
fn close_calls(report: &Report) -> Html {
    // What was verified by words, or not at all, does not depend on the threshold alone.
    if report.facts.plan.verify != Verify::Exact {
        return Html::empty();
    }
    let hundredth = report.facts.plan.threshold.as_f64() * BINS as f64;
    let at = hundredth.round();
    let close: u64 = report.totals.pairs.accepted.iter().skip(at as usize).take(2).sum();
    // Between hundredths the bins cannot tell.
    if (hundredth - at).abs() > 1e-6 || at as usize + 2 > BINS || close == 0 {
        return Html::empty();
    }
    let text = format!(
        "{} within 0.02 above the threshold: a threshold of {} would part them.",
        counted(close, "pair lies", "pairs lie"),
        number((at + 2.0) / BINS as f64)
    );
    el("p").with(text).into()
}

/// The section on sizes.
pub fn sizes(report: &Report) -> Html {
    let classes = report.totals.sizes.classes();
    if classes.is_empty() {
        return el("p").with("Every document is one of a kind: there is no cluster of two or more.").into();
    }
    let bar = |(name, clusters, documents): (String, u64, u64)| Bar {
        name,
        counts: vec![clusters],
        remark: match clusters {
            0 => "none".into(),
            _ => format!("{}, {} in all", counted(clusters, "cluster", "clusters"), grouped(documents)),
        },
    };
    let counts = &report.facts.counts;
    let description = format!(
        "{}; the largest has {}.",
        counted(counts.clusters, "cluster of two or more", "clusters of two or more"),
        counted(counts.largest_cluster, "document", "documents")
    );
    let intro =
        el("p").with("A cluster is a document that is kept together with those it stands for. ").with(description.as_str());
    let plot = Bars {
        about: About { id: "sizes", title: "Clusters by size", description: &description },
        rows_are: "size",
        series: vec![Series::new("clusters", Tone::First)],
        bars: classes.into_iter().map(bar).collect(),
    };
    Html::from(intro).and(plot.render())
}
