//! Values that change along another.

use super::scale::{self, Axis, HEIGHT, TOP};
use super::{About, Html, Series, el, legend, number, percent};
use crate::html::{Align, Element, Table};

/// Lines over one pair of axes.
#[derive(Debug)]
pub struct Lines<'a> {
    /// What it says of itself.
    pub about: About<'a>,
    /// What changes.
    pub level: Axis,
    /// What is measured.
    pub upright: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line and its points, from left to right.
#[derive(Clone, Debug)]
pub struct Line {
    /// Name and colour.
    pub series: Series,
    /// (level, upright).
    pub points: Vec<(f64, f64)>,
}

/// Units of the drawing inside the drawing, which is stretched to the width of the window.
const UNITS: f64 = 1000.0;
/// More points than this are drawn without dots.
const DOTS: usize = 60;

impl Lines<'_> {
    /// The figure.
    pub fn render(&self) -> Html {
        let drawing = scale::picture()
            .with(self.upright.upright())
            .with(self.level.level())
            .with(self.strokes())
            .with(self.lines.iter().map(|line| self.dots(line)).collect::<Html>());
        let series: Vec<&Series> = self.lines.iter().map(|line| &line.series).collect();
        self.about.figure(legend(series.into_iter()), drawing, self.table())
    }

    /// Points of a path can't be shares of the width, so the strokes have a drawing of their own that stretches with it.
    fn strokes(&self) -> Element {
        let stroke = |line: &Line| {
            let place =
                |&(x, y): &(f64, f64)| format!("{:.1},{:.1}", UNITS * self.level.share(x), UNITS * (1.0 - self.upright.share(y)));
            let points: Vec<String> = line.points.iter().map(place).collect();
            el("polyline").attr("points", points.join(" ")).class(line.series.tone.class())
        };
        el("svg")
            .class("strokes")
            .attr("y", TOP)
            .attr("width", "100%")
            .attr("height", HEIGHT)
            .attr("viewBox", format_args!("0 0 {UNITS} {UNITS}"))
            .attr("preserveAspectRatio", "none")
            .with(self.lines.iter().map(stroke).collect::<Html>())
    }

    fn dots(&self, line: &Line) -> Html {
        let few = if line.points.len() > DOTS { &[][..] } else { &line.points[..] };
        let dot = |&(x, y): &(f64, f64)| {
            let name = format!("{}: {} at {}", line.series.name, number(y), number(x));
            el("circle")
                .attr("cx", percent(self.level.share(x)))
                .attr("cy", self.upright.height(y))
                .attr("r", 3)
                .class(line.series.tone.class())
                .with(el("title").with(name))
        };
        few.iter().map(dot).collect()
    }

    fn table(&self) -> Html {
        let mut table = Table::new(self.about.title)
            .column("line", Align::Text)
            .column(&self.level.name, Align::Number)
            .column(&self.upright.name, Align::Number);
        for line in &self.lines {
            for &(x, y) in &line.points {
                table.row([line.series.name.as_str().into(), number(x).into(), number(y).into()]);
            }
        }
        table.render()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::plot::Tone;

    #[test]
    fn lines_stretch_and_dots_say_their_values() {
        let line = |name: &str, tone, y: f64| Line {
            series: Series::new(name, tone),
            points: vec![(0.5, y), (0.7, y * 0.9), (0.8, y * 0.4), (1.0, 0.0)],
        };
        let lines = Lines {
            about: About { id: "l", title: "Recall", description: "falls" },
            level: Axis::new("threshold", 0.5, 1.0),
            upright: Axis::new("recall", 0.0, 1.0),
            lines: vec![line("exact", Tone::First, 1.0), line("minhash", Tone::Third, 0.5)],
        };
        let html = lines.render().0;
        assert!(html.contains("points=\"0.0,0.0 400.0,100.0 600.0,600.0 1000.0,1000.0\""), "{html}");
        assert!(html.contains("<title>minhash: 0.5 at 0.5</title>"));
        assert_eq!(html.matches("<li>").count(), 2);
    }
}
