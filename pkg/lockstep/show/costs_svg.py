"""The cost curves as SVG: seconds against bytes, both logarithmic, crossings marked, the cheapest named below."""

from __future__ import annotations

import math
from collections.abc import Iterator

from lockstep.show import palette, quantities, svg
from lockstep.show.costs_model import NAMES, Costs, names

WIDTH, HEIGHT = svg.WIDTH, 424.0
LEFT, RIGHT, TOP, BOTTOM = 78.0, 386.0, 78.0, 346.0
LABEL = 180.0  # pixels of what stands at a crossing


def draw(costs: Costs) -> str:
    """The whole figure."""
    axes = Axes(costs)
    body = [
        svg.text(14, 26, "What an all-reduce costs", 14, font_weight=600),
        *(svg.faint(14, 45 + 17 * i, told) for i, told in enumerate(svg.wrapped(_setting(costs), WIDTH - 28))),
        *_grid(axes), *_curves(axes), *_names(axes), *_crossings(axes), *_cheapest(axes),
    ]  # fmt: skip
    return svg.document(WIDTH, HEIGHT, "Cost of all-reduce algorithms by message size", words(costs), body)


class Axes:
    """From bytes and seconds to pixels."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        curves = {a: costs.curve(a) for a in costs.drawn}
        self.curves = curves
        lowest = min(min(c) for c in curves.values())
        highest = max(max(c) for c in curves.values())
        self.low, self.high = lowest / 1.6, max(highest * 1.6, lowest * 30)

    def x(self, nbytes: float) -> float:
        span = math.log(self.costs.high / self.costs.low)
        return LEFT + (RIGHT - LEFT) * math.log(nbytes / self.costs.low) / span

    def y(self, seconds: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * math.log(seconds / self.low) / math.log(self.high / self.low)


def words(costs: Costs) -> str:
    """The figure for those who do not see it."""
    crossed = "; ".join(
        f"{NAMES[c.below]} is faster than {NAMES[c.above]} below {quantities.nbytes(c.nbytes)}" for c in costs.crossings
    )
    best = "; ".join(
        f"from {quantities.nbytes(a)} to {quantities.nbytes(b)} the cheapest is {names(which)}"
        for a, b, which in costs.regions()
    )
    return f"{_setting(costs)}. {crossed or 'No curves cross'}. {best}."


def _setting(costs: Costs) -> str:
    bandwidth = f"{quantities.nbytes(1 / costs.beta)} a second"
    left_out = " and ".join(NAMES[a] for a in costs.missing)
    note = f" · {left_out}: only for powers of two" if left_out else ""
    return f"{costs.ranks} ranks · α = {quantities.seconds(costs.alpha)} a message · 1/β = {bandwidth}{note}"


def _grid(axes: Axes) -> Iterator[str]:
    yield svg.lane(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
    sizes = quantities.decades(axes.costs.low, axes.costs.high)
    for n in sizes:
        yield svg.line(axes.x(n), TOP, axes.x(n), BOTTOM, stroke=palette.FAINT, stroke_opacity=0.25)
    for n in sizes[:: 1 + len(sizes) // 5]:
        yield svg.faint(axes.x(n), BOTTOM + 16, quantities.nbytes(n), text_anchor="middle")
    for t in quantities.decades(axes.low, axes.high):
        yield svg.line(LEFT, axes.y(t), RIGHT, axes.y(t), stroke=palette.FAINT, stroke_opacity=0.25)
        yield svg.faint(LEFT - 8, axes.y(t) + 4, quantities.seconds(t), text_anchor="end")
    yield svg.faint((LEFT + RIGHT) / 2, BOTTOM + 33, "size of the tensor", text_anchor="middle")


def _curves(axes: Axes) -> Iterator[str]:
    for algorithm, curve in axes.curves.items():
        stroke, dashes = palette.LINES[algorithm]
        points = zip(axes.costs.sizes, curve, strict=True)
        way = " ".join(f"{axes.x(n):.1f},{axes.y(t):.1f}" for n, t in points)
        yield svg.element(
            "polyline", svg.title(NAMES[algorithm]), points=way, fill="none", stroke=stroke, stroke_width=2.4,
            stroke_dasharray=dashes or None, class_="ls-curve",
        )  # fmt: skip


def _names(axes: Axes) -> Iterator[str]:
    """At the right end of each curve, pushed apart where they would overlap."""
    ends = sorted((axes.y(curve[-1]), a) for a, curve in axes.curves.items())
    wanted = [y for y, _ in ends]
    for i in range(1, len(wanted)):
        wanted[i] = max(wanted[i], wanted[i - 1] + 16)
    over = max(0.0, wanted[-1] - BOTTOM)
    for (end, algorithm), y in zip(ends, wanted, strict=True):
        stroke, dashes = palette.LINES[algorithm]
        place = y - over
        yield svg.line(RIGHT + 2, end, RIGHT + 8, place, stroke=stroke, stroke_width=1)
        yield svg.line(RIGHT + 8, place, RIGHT + 26, place, stroke=stroke, stroke_width=2.4,
                       stroke_dasharray=dashes or None)  # fmt: skip
        yield svg.text(RIGHT + 30, place + 4, NAMES[algorithm])


def _crossings(axes: Axes) -> Iterator[str]:
    crossings = axes.costs.crossings
    for c in crossings:
        x, y = axes.x(c.nbytes), axes.y(c.seconds)
        told = f"{NAMES[c.below]} = {NAMES[c.above]} at {quantities.nbytes(c.nbytes)}"
        ring = svg.element(
            "circle", cx=x, cy=y, r=5, fill=palette.PAPER, stroke=palette.INK, stroke_width=1.6, class_="ls-mark"
        )
        label = _told(x, y, told) if c.is_cheapest or len(crossings) <= 2 else ""
        drop = svg.line(x, y + 6, x, BOTTOM, stroke=palette.FAINT, stroke_dasharray="2 3")
        yield svg.element("g", svg.title(told), drop, ring, label)


def _told(x: float, y: float, words: str) -> str:
    """Below the crossing, where few curves are; at the right edge above it; where neither has room, over its middle."""
    if x < RIGHT - LABEL:
        place = (x + 9, y + 17, "start")
    elif x > LEFT + LABEL:
        place = (x - 9, y - 9, "end")
    else:
        place = ((LEFT + RIGHT) / 2, y + 24, "middle")
    return svg.text(place[0], place[1], words, text_anchor=place[2], **svg.HALO, fill=palette.INK,
                    class_="ls-ink ls-halo")  # fmt: skip


def _cheapest(axes: Axes) -> Iterator[str]:
    """A strip under the axis: which algorithm to choose at which size."""
    y = BOTTOM + 46
    yield svg.faint(LEFT - 8, y + 13, "cheapest", text_anchor="end")
    for start, end, which in axes.costs.regions():
        x, width = axes.x(start), axes.x(end) - axes.x(start)
        stroke, _ = palette.LINES[which[0]]
        block = svg.element("rect", x=x + 1, y=y, width=max(1.0, width - 2), height=19, rx=3, fill=stroke)
        word = names(which)
        label = svg.text(
            x + width / 2, y + 13.5, word, fill=palette.text_on(stroke), text_anchor="middle", font_weight=600
        )
        parts = [svg.title(word), block, label if width > 7.8 * len(word) else ""]
        yield svg.element("g", *parts)
