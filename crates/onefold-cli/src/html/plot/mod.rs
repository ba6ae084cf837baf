//! Plots as SVG inside the page: histogram, bars, lines.
//!
//! In: numbers with names. Out: a figure with a caption, a legend, the picture and the same numbers as a table. Invariant:
//! places across are shares of the width and text is never scaled, so one picture serves a telephone and a wide screen;
//! everything shown is also said in words for those who hear the page. Cost: linear in the points. Drops nothing.

mod bars;
mod histogram;
mod lines;
mod scale;

pub use crate::numbers::grouped;
pub use bars::{Bar, Bars, share_bar};
pub use histogram::{Bin, Histogram, Mark};
pub use lines::{Line, Lines};
pub use scale::Axis;

use super::{Element, Html, el};

/// The colours of the style sheet; each is told from the others in light, dark and grey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// What stays.
    Quiet,
    /// The first colour.
    First,
    /// The second colour.
    Second,
    /// The third colour.
    Third,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Tone::Quiet => "quiet",
            Tone::First => "first",
            Tone::Second => "second",
            Tone::Third => "third",
        }
    }
}

/// One of the things a plot compares.
#[derive(Clone, Debug)]
pub struct Series {
    /// As the legend calls it.
    pub name: String,
    /// How it is drawn.
    pub tone: Tone,
}

impl Series {
    /// A named colour.
    pub fn new(name: &str, tone: Tone) -> Self {
        Series { name: name.into(), tone }
    }
}

/// What every plot says of itself.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// Unique in the page: its parts are called by it.
    pub id: &'a str,
    /// What is shown.
    pub title: &'a str,
    /// What there is to see in it, for those who do not see it.
    pub description: &'a str,
}

impl About<'_> {
    /// The figure around a drawing.
    fn figure(&self, legend: Html, drawing: Element, table: Html) -> Html {
        let (title, description) = (format!("{}-title", self.id), format!("{}-description", self.id));
        let drawing = el("svg")
            .attr("role", "img")
            .attr("aria-labelledby", &title)
            .attr("aria-describedby", &description)
            .with(el("title").attr("id", &title).with(self.title))
            .with(el("desc").attr("id", &description).with(self.description))
            .merge(drawing);
        let figures = el("details").class("figures").with(el("summary").with("The figures as a table")).with(table);
        el("figure").with(el("figcaption").with(self.title)).with(legend).with(drawing).with(figures).into()
    }
}

impl Element {
    /// Takes over attributes and content of another.
    fn merge(mut self, other: Element) -> Self {
        self.attributes.push_str(&other.attributes);
        self.content.push(other.content);
        self
    }
}

/// The legend; a single thing needs none, the caption names it.
fn legend<'a>(series: impl ExactSizeIterator<Item = &'a Series>) -> Html {
    if series.len() < 2 {
        return Html::empty();
    }
    let item = |series: &Series| el("li").with(swatch(series.tone)).with(format!(" {}", series.name));
    el("ul").class("legend").with(series.map(item).collect::<Html>()).into()
}

/// A patch of a colour.
fn swatch(tone: Tone) -> Element {
    let patch = el("rect").attr("width", 12).attr("height", 12).attr("rx", 2).class(tone.class());
    el("svg").class("swatch").attr("width", 12).attr("height", 12).attr("aria-hidden", "true").with(patch)
}

/// A share of the width.
fn percent(share: f64) -> String {
    format!("{}%", (share * 1e5).round() / 1e3)
}

/// A number as axes and tables write it.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..1e15).contains(&value) { grouped(value as u64) } else { format!("{value}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_shares_short() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 1.0 / 3.0, 1.0].map(percent), ["0%", "33.333%", "100%"]);
        assert_eq!([0.25, 2000.0].map(number), ["0.25", "2,000"]);
    }
}
