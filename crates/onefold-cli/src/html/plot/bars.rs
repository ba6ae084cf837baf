//! Amounts side by side: each has a line of words above its bar, so that names may be long and windows narrow.

use super::{About, Html, Series, el, grouped, legend, percent, scale};
use crate::html::{Align, Table};

/// Bars; the series follow each other along a bar.
#[derive(Debug)]
pub struct Bars<'a> {
    /// What it says of itself.
    pub about: About<'a>,
    /// What the rows are.
    pub rows_are: &'a str,
    /// The parts of a bar.
    pub series: Vec<Series>,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar with its name.
#[derive(Clone, Debug)]
pub struct Bar {
    /// At its left.
    pub name: String,
    /// A count for each series.
    pub counts: Vec<u64>,
    /// At its right; the sum of the counts where it is empty.
    pub remark: String,
}

/// From one bar to the next.
const PITCH: f64 = 40.0;
/// Baseline of the words.
const WORDS: f64 = 14.0;
/// Top of a bar.
const BAR: f64 = 20.0;
/// Thickness of a bar.
const THICK: f64 = 10.0;

impl Bars<'_> {
    /// The figure.
    pub fn render(&self) -> Html {
        let longest = self.bars.iter().map(|bar| bar.counts.iter().sum::<u64>()).max().unwrap_or(0).max(1);
        let drawing = el("g")
            .attr("width", "100%")
            .attr("height", PITCH * self.bars.len() as f64)
            .with(self.bars.iter().enumerate().map(|(at, bar)| self.bar(at, bar, longest)).collect::<Html>());
        self.about.figure(legend(self.series.iter()), drawing, self.table())
    }

    fn bar(&self, at: usize, bar: &Bar, longest: u64) -> Html {
        let top = PITCH * at as f64;
        let sum = grouped(bar.counts.iter().sum());
        let remark = if bar.remark.is_empty() { sum.as_str() } else { bar.remark.as_str() };
        let mut drawn = Html::from(scale::label("0%", top + WORDS, "start").class("strong").with(bar.name.as_str()))
            .and(scale::label("100%", top + WORDS, "end").with(remark))
            .and(strip("0%", "100%", top + BAR).class("track"));
        drawn.push(self.parts(bar, longest, top + BAR));
        drawn
    }

    fn parts(&self, bar: &Bar, longest: u64, y: f64) -> Html {
        let mut before = 0u64;
        let mut parts = Html::empty();
        for (series, &count) in self.series.iter().zip(&bar.counts).filter(|(_, count)| **count > 0) {
            let [x, width] = [before, count].map(|amount| percent(amount as f64 / longest as f64));
            let name = format!("{}: {} {}", bar.name, grouped(count), series.name);
            parts.push(strip(&x, &width, y).class(series.tone.class()).with(el("title").with(name)));
            before += count;
        }
        parts
    }

    fn table(&self) -> Html {
        let mut table = Table::new(self.about.title).column(self.rows_are, Align::Text);
        for series in &self.series {
            table = table.column(&series.name, Align::Number);
        }
        for bar in &self.bars {
            let name = Html::from(bar.name.as_str());
            table.row(std::iter::once(name).chain(bar.counts.iter().map(|&count| grouped(count).into())));
        }
        table.render()
    }
}

fn strip(x: &str, width: &str, y: f64) -> crate::html::Element {
    el("rect").attr("x", x).attr("y", y).attr("width", width).attr("height", THICK)
}

/// A bar of parts of a whole, for a table cell or a header: decoration beside figures that stand there too.
pub fn share_bar(parts: &[(super::Tone, u64)], whole: u64) -> Html {
    let mut before = 0u64;
    let strip = |x: &str, width: &str| el("rect").attr("x", x).attr("width", width).attr("height", "100%");
    let mut bar = el("svg").class("share").attr("width", "100%").attr("height", 6).attr("aria-hidden", "true");
    bar = bar.with(strip("0%", "100%").class("track"));
    for &(tone, amount) in parts.iter().filter(|(_, amount)| *amount > 0) {
        let [x, width] = [before, amount].map(|amount| percent(amount as f64 / whole.max(1) as f64));
        bar = bar.with(strip(&x, &width).class(tone.class()));
        before += amount;
    }
    bar.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::plot::Tone;

    #[test]
    fn the_longest_bar_takes_the_width() {
        let bar = |name: &str, count| Bar { name: name.into(), counts: vec![count], remark: String::new() };
        let bars = Bars {
            about: About { id: "b", title: "Sizes", description: "" },
            rows_are: "size",
            series: vec![Series::new("clusters", Tone::First)],
            bars: vec![bar("2", 40), bar("3", 10)],
        };
        let html = bars.render().0;
        assert!(html.contains("width=\"100%\" height=\"10\" class=\"first\""), "{html}");
        assert!(html.contains("width=\"25%\" height=\"10\" class=\"first\""));
        assert!(!html.contains("legend"), "one series needs none");
    }
}
