//! How often values fall into which range.

use super::scale::{self, Axis, HEIGHT, TOP};
use super::{About, Html, Series, el, grouped, legend, number, percent};
use crate::html::{Align, Table};

/// A histogram; the series are stacked.
#[derive(Debug)]
pub struct Histogram<'a> {
    /// What it says of itself.
    pub about: About<'a>,
    /// The values, with the ends of the picture.
    pub values: Axis,
    /// What the heights count.
    pub counting: &'a str,
    /// What is stacked, from the bottom.
    pub series: Vec<Series>,
    /// From left to right.
    pub bins: Vec<Bin>,
    /// Values that matter.
    pub marks: Vec<Mark>,
}

/// A range and how many fell into it, for each series.
#[derive(Clone, Debug)]
pub struct Bin {
    /// The first value in it.
    pub from: f64,
    /// The first value behind it.
    pub to: f64,
    /// A count for each series.
    pub counts: Vec<u64>,
}

/// A value with a name.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Where.
    pub value: f64,
    /// What it is.
    pub name: String,
}

impl Histogram<'_> {
    /// The figure.
    pub fn render(&self) -> Html {
        let highest = self.bins.iter().map(|bin| bin.counts.iter().sum::<u64>()).max().unwrap_or(0);
        let heights = Axis::counting(self.counting, highest as f64);
        let drawing = scale::picture()
            .with(self.bins.iter().map(|bin| self.column(bin, &heights)).collect::<Html>())
            .with(heights.upright())
            .with(self.values.level())
            .with(self.marks.iter().map(|mark| self.mark(mark)).collect::<Html>());
        self.about.figure(legend(self.series.iter()), drawing, self.table())
    }

    fn column(&self, bin: &Bin, heights: &Axis) -> Html {
        let (left, right) = (self.values.share(bin.from), self.values.share(bin.to));
        let mut below = 0u64;
        let mut column = Html::empty();
        for (series, &count) in self.series.iter().zip(&bin.counts).filter(|(_, count)| **count > 0) {
            let (bottom, top) = (heights.height(below as f64), heights.height((below + count) as f64));
            let name = format!("{} to {}: {} {}", number(bin.from), number(bin.to), grouped(count), series.name);
            // A gap of a tenth between columns; a count of one among thousands is still seen.
            let height = (bottom - top).max(1.0);
            column.push(
                el("rect")
                    .attr("x", percent(left + 0.05 * (right - left)))
                    .attr("width", percent(0.9 * (right - left)))
                    .attr("y", (bottom - height).max(TOP))
                    .attr("height", (height * 100.0).round() / 100.0)
                    .class(series.tone.class())
                    .with(el("title").with(name)),
            );
            below += count;
        }
        column
    }

    fn mark(&self, mark: &Mark) -> Html {
        let share = self.values.share(mark.value);
        let x = percent(share);
        let line = scale::line((&x, 16.0), (&x, TOP + HEIGHT)).class("mark");
        // The name of the upright axis has the left of this line of text.
        let anchor = if share > 0.5 { "end" } else { "start" };
        Html::from(line).and(scale::label(&x, 12.0, anchor).class("mark").with(mark.name.as_str()))
    }

    fn table(&self) -> Html {
        let mut table = Table::new(self.about.title).column(&self.values.name, Align::Text);
        for series in &self.series {
            table = table.column(&series.name, Align::Number);
        }
        for bin in &self.bins {
            let range = Html::from(format!("{} to {}", number(bin.from), number(bin.to)));
            table.row(std::iter::once(range).chain(bin.counts.iter().map(|&count| grouped(count).into())));
        }
        table.render()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::plot::Tone;

    #[test]
    fn columns_stack_and_the_table_says_the_same() {
        let histogram = Histogram {
            about: About { id: "h", title: "Pairs", description: "few" },
            values: Axis::new("similarity", 0.0, 1.0),
            counting: "pairs",
            series: vec![Series::new("accepted", Tone::First), Series::new("rejected", Tone::Quiet)],
            bins: vec![Bin { from: 0.0, to: 0.5, counts: vec![1, 3] }, Bin { from: 0.5, to: 1.0, counts: vec![0, 0] }],
            marks: vec![Mark { value: 0.8, name: "threshold".into() }],
        };
        let html = histogram.render().0;
        assert_eq!(html.matches("<rect x=").count(), 2);
        assert!(html.contains("<title>0 to 0.5: 3 rejected</title>"));
        assert!(html.contains("<td class=\"number\">3</td>"));
        assert!(html.contains("aria-labelledby=\"h-title\""));
    }
}
