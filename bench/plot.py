"""Plots for `page.py`, as SVG: a line of words for each thing, and below it bars or dots on one axis.

Places across are shares of the width and text is never scaled, so one picture serves a telephone and a wide screen.
"""

import math
from dataclasses import dataclass

from markup import Html, el

PITCH, WORDS, STRIP, THICK = 40, 14, 20, 10  # a row; in it: baseline of the words, top and height of the bar
AXIS = 44
MARK = 11


@dataclass(frozen=True)
class Axis:
    name: str
    low: float
    high: float
    ticks: tuple
    logarithmic: bool = False

    @classmethod
    def powers(cls, name, values):
        """Logarithmic, from the power of ten below all values, and 1, to the one above."""
        low = min(0, math.floor(math.log10(min(values))))
        high = max(low + 1, math.ceil(math.log10(max(values))))
        return cls(name, low, high, tuple(10.0**power for power in range(low, high + 1)), True)

    @classmethod
    def counting(cls, name, values):
        """Linear, from 0 to a round number above all values."""
        greatest = max(values)
        step = 10 ** math.floor(math.log10(greatest))
        step = next(step * part for part in (0.2, 0.5, 1, 2) if greatest <= 5 * step * part)
        count = math.ceil(greatest / step)
        return cls(name, 0, step * count, tuple(round(step * at, 9) for at in range(count + 1)))

    @classmethod
    def shares(cls, name):
        return cls(name, 0, 1, (0, 0.25, 0.5, 0.75, 1))

    def place(self, value):
        value = math.log10(value) if self.logarithmic else value
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def draw(self, rows):
        bottom = PITCH * rows
        drawn = []
        for tick in self.ticks:
            x = percent(self.place(tick))
            base = tick == (1 if self.logarithmic else 0)
            drawn.append(el("line", x1=x, y1=STRIP - 4, x2=x, y2=bottom + 4, class_="base" if base else "grid"))
            drawn.append(label(x, bottom + 18, f"{tick:,g}", anchor(self.place(tick))))
        drawn.append(label("100%", bottom + 36, self.name, "end", "axis"))
        return Html("".join(drawn))


def percent(share):
    return f"{round(share * 100, 3):g}%"


def anchor(share):
    return "start" if share < 0.04 else "end" if share > 0.96 else "middle"


def label(x, y, text, where="start", kind=None):
    return el("text", text, x=x, y=y, text_anchor=where, class_=kind)


def words(at, name, remark):
    """The line of words of a row."""
    y = PITCH * at + WORDS
    return Html(label("0%", y, name, kind="strong") + label("100%", y, remark, "end"))


def strip(start, end, at, tone, title=None):
    return el(
        "rect", *([el("title", title)] if title else []), x=percent(start), y=PITCH * at + STRIP,
        width=percent(max(0.0, end - start)), height=THICK, class_=tone,
    )


def bars(axis, rows):
    """`rows`: (name, remark, value, tone). Bars begin at 0, or at 1 where the axis is logarithmic."""
    zero = axis.place(1 if axis.logarithmic else 0)
    drawn = [strip(0, 1, at, "track") for at in range(len(rows))] + [axis.draw(len(rows))]
    for at, (name, remark, value, tone) in enumerate(rows):
        place = axis.place(value)
        drawn += [words(at, name, remark), strip(min(zero, place), max(zero, place), at, tone, f"{name}: {remark}")]
    return drawn, PITCH * len(rows) + AXIS


def dots(axis, rows):
    """`rows`: (name, remark, [(value, shape, tone)])."""
    drawn = [axis.draw(len(rows))]
    for at, (name, remark, marks) in enumerate(rows):
        y = PITCH * at + STRIP + THICK / 2
        drawn.append(words(at, name, remark))
        drawn.append(el("line", x1="0%", y1=y, x2="100%", y2=y, class_="grid"))
        drawn += [mark(axis.place(value), y, shape, tone, f"{name}: {remark}") for value, shape, tone in marks]
    return drawn, PITCH * len(rows) + AXIS


def mark(share, y, shape, tone, title=None):
    inside = [el("title", title)] if title else []
    if shape == "circle":
        return el("circle", *inside, cx=percent(share), cy=y, r=MARK / 2, class_=tone)
    half = MARK / 2
    return el("rect", *inside, x=percent(share), y=y - half, width=MARK, height=MARK, transform=f"translate(-{half} 0)", class_=tone)


def stacks(axis, rows):
    """`rows`: (name, remark, [(share, tone, title)])."""
    drawn = [axis.draw(len(rows))]
    for at, (name, remark, parts) in enumerate(rows):
        drawn.append(words(at, name, remark))
        before = 0.0
        for share, tone, title in parts:
            drawn.append(strip(before, before + share, at, tone, f"{name}: {title}"))
            before += share
    return drawn, PITCH * len(rows) + AXIS


def legend(entries):
    """`entries`: (name, tone, shape)."""
    if len(entries) < 2:
        return Html("")
    return el("ul", *(el("li", swatch(tone, shape), f" {name}") for name, tone, shape in entries), class_="legend")


def swatch(tone, shape):
    patch = (
        el("circle", cx=6, cy=6, r=5.5, class_=tone) if shape == "circle" else
        el("rect", width=12, height=12, rx=2 if shape == "bar" else 0, class_=tone)
    )
    return el("svg", patch, class_="swatch", width=12, height=12, aria_hidden="true")


def figure(name, title, description, entries, drawing):
    """`drawing`: what bars, dots or stacks give."""
    drawn, height = drawing
    picture = el(
        "svg", el("title", title, id=f"{name}-title"), el("desc", description, id=f"{name}-description"), *drawn, role="img",
        aria_labelledby=f"{name}-title", aria_describedby=f"{name}-description", width="100%", height=height,
    )
    return el("figure", el("figcaption", title), legend(entries), picture)
