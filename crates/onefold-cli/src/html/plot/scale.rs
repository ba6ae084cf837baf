//! Axes: where ticks stand, and how they are drawn.
//!
//! Labels of the upright axis stand inside the drawing, above their line: a margin would take a fifth of a telephone.

use super::{Element, Html, el, number, percent};

/// Space above the drawing for the name of the upright axis.
pub(super) const TOP: f64 = 36.0;
/// Height of the drawing itself.
pub(super) const HEIGHT: f64 = 180.0;
/// Space below for ticks and the name of the level axis.
pub(super) const BOTTOM: f64 = 44.0;

/// A range of values with a name.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What is measured, with its unit.
    pub name: String,
    /// The first value.
    pub from: f64,
    /// The last value.
    pub to: f64,
}

impl Axis {
    /// An axis.
    pub fn new(name: &str, from: f64, to: f64) -> Self {
        Axis { name: name.into(), from, to: if to > from { to } else { from + 1.0 } }
    }

    /// An axis from nothing to a little above the greatest count, ending at a tick.
    pub fn counting(name: &str, greatest: f64) -> Self {
        let step = step(greatest.max(4.0), 4);
        Axis::new(name, 0.0, (greatest.max(1.0) / step).ceil() * step)
    }

    /// Where a value stands, from 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }

    /// Where a value stands, from the top of the picture.
    pub(super) fn height(&self, value: f64) -> f64 {
        let y = TOP + HEIGHT * (1.0 - self.share(value));
        (y * 100.0).round() / 100.0
    }

    fn ticks(&self, wanted: usize) -> Vec<f64> {
        let step = step(self.to - self.from, wanted);
        let first = (self.from / step - 1e-9).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        // Rounding here keeps 0.30000000000000004 out of the labels.
        (first..=last).map(|at| (at as f64 * step * 1e9).round() / 1e9).collect()
    }

    /// Level lines with their labels, and the name of the axis above them.
    pub(super) fn upright(&self) -> Html {
        let mut drawn: Html = self.ticks(4).into_iter().map(|tick| self.upright_tick(tick)).collect();
        drawn.push(label("0%", 12.0, "start").class("axis").with(self.name.as_str()));
        drawn
    }

    fn upright_tick(&self, tick: f64) -> Html {
        let y = self.height(tick);
        let base = tick == self.from;
        let line = line(("0%", y), ("100%", y)).class(if base { "base" } else { "grid" });
        // The base needs no label: the level axis stands there.
        let text = if base { Html::empty() } else { label("0%", y - 4.0, "start").with(number(tick)).into() };
        Html::from(line).and(text)
    }

    /// Ticks below the drawing, and the name of the axis.
    pub(super) fn level(&self) -> Html {
        let bottom = TOP + HEIGHT;
        let tick = |value: f64| {
            let x = percent(self.share(value));
            let mark = line((&x, bottom), (&x, bottom + 4.0)).class("base");
            Html::from(mark).and(label(&x, bottom + 18.0, anchor(self.share(value))).with(number(value)))
        };
        let name = label("100%", bottom + BOTTOM - 8.0, "end").class("axis").with(self.name.as_str());
        self.ticks(5).into_iter().map(tick).collect::<Html>().and(name)
    }
}

/// A picture as high as the scales say.
pub(super) fn picture() -> Element {
    el("g").attr("width", "100%").attr("height", TOP + HEIGHT + BOTTOM)
}

/// A straight line.
pub(super) fn line(from: (&str, f64), to: (&str, f64)) -> Element {
    el("line").attr("x1", from.0).attr("y1", from.1).attr("x2", to.0).attr("y2", to.1)
}

/// A line of text.
pub(super) fn label(x: &str, y: f64, anchor: &'static str) -> Element {
    el("text").attr("x", x).attr("y", y).attr("text-anchor", anchor)
}

/// Labels at the rim grow inwards.
pub(super) fn anchor(share: f64) -> &'static str {
    match share {
        s if s < 0.04 => "start",
        s if s > 0.96 => "end",
        _ => "middle",
    }
}

/// The round step (1, 2 or 5 times a power of ten) that makes about so many ticks.
fn step(range: f64, wanted: usize) -> f64 {
    let rough = range / wanted as f64;
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    steps.into_iter().map(|s| s * power).find(|&step| step >= rough * 0.999).unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(Axis::new("", 0.8, 1.0).ticks(5), [0.8, 0.85, 0.9, 0.95, 1.0]);
        assert_eq!(Axis::counting("", 37.0).ticks(4), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(Axis::counting("", 1.0).to, 1.0);
        assert_eq!(Axis::new("", 3.0, 3.0).to, 4.0);
    }
}
