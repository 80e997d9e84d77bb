"""Amdahl and Gustafson as SVG: the curves on the left, and on the right what the workers do in the meantime."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from lockstep.show import palette, svg
from lockstep.show.amdahl_lanes import lanes
from lockstep.show.amdahl_model import Speedups, count, times

WIDTH, HEIGHT = svg.WIDTH, 640.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 526.0, 80.0, 312.0
AMDAHL, GUSTAFSON, POINTS = "#0072B2", "#009E73", "#E69F00"


def draw(speedups: Speedups) -> str:
    """The whole figure."""
    axes = Axes(speedups)
    body = [
        svg.text(14, 26, "How many times faster?", 14, font_weight=600),
        *(svg.faint(14, 46 + 17 * i, told) for i, told in enumerate(svg.wrapped(_setting(speedups), WIDTH - 28))),
        *_grid(axes), *_curves(axes), *_points(axes), *_looked_at(axes), *_legend(axes), *lanes(speedups),
    ]  # fmt: skip
    return svg.document(WIDTH, HEIGHT, "Speedup by Amdahl's and Gustafson's laws", words(speedups), body)


def words(speedups: Speedups) -> str:
    """The figure for those who do not see it."""
    s = speedups.workers
    told = f"{_setting(speedups)}. The same work is done {times(speedups.by_amdahl(s))} as fast by {count(s)} "
    told += f"(Amdahl); in the same time they do {times(speedups.by_gustafson(s))} as much (Gustafson). "
    told += f"At most {times(speedups.limit)} by Amdahl." if speedups.limit < math.inf else "Amdahl sets no limit."
    points = ", ".join(f"{speedup:.3g} with {s:g}" for s, speedup in speedups.points)
    return f"{told} Speedups, {speedups.points_are}: {points}." if points else told


class Axes:
    """From workers and speedups to pixels, both logarithmic."""

    def __init__(self, speedups: Speedups) -> None:
        self.speedups = speedups
        low = min([1.0, *(0.9 * y for _, y in speedups.points)])
        high = max([speedups.most, *(1.1 * y for _, y in speedups.points)])
        self.low, self.high = math.log2(low), math.log2(high)

    def x(self, s: float) -> float:
        return LEFT + (RIGHT - LEFT) * math.log2(s) / math.log2(self.speedups.most)

    def y(self, speedup: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (math.log2(speedup) - self.low) / (self.high - self.low)


def _setting(speedups: Speedups) -> str:
    whose = f" ({speedups.curve_is})" if speedups.curve_is else ""
    return f"p = {speedups.p:.4g}{whose}: {100 * speedups.p:.4g} % of the time can be divided among workers"


def _powers(low: float, high: float) -> list[float]:
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    step = 1 if last - first <= 6 else 2
    return [2.0**e for e in range(first, last + 1) if e % step == 0]


def _grid(axes: Axes) -> Iterator[str]:
    yield svg.lane(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
    for s in _powers(0, math.log2(axes.speedups.most)):
        yield svg.line(axes.x(s), TOP, axes.x(s), BOTTOM, stroke=palette.FAINT, stroke_opacity=0.25)
        yield svg.faint(axes.x(s), BOTTOM + 16, f"{s:,.0f}", text_anchor="middle")
    for speedup in _powers(axes.low, axes.high):
        yield svg.line(LEFT, axes.y(speedup), RIGHT, axes.y(speedup), stroke=palette.FAINT, stroke_opacity=0.25)
        yield svg.faint(LEFT - 7, axes.y(speedup) + 4, f"{speedup:,.4g}", text_anchor="end")
    yield svg.faint((LEFT + RIGHT) / 2, BOTTOM + 33, "workers", text_anchor="middle")


def _curves(axes: Axes) -> Iterator[str]:
    speedups = axes.speedups
    yield _curve(axes, lambda s: s, palette.FAINT, "2 4", "as many times as there are workers", 1.4)
    if speedups.limit < 2**axes.high:
        y = axes.y(speedups.limit)
        yield svg.line(LEFT, y, RIGHT, y, stroke=AMDAHL, stroke_dasharray="3 4", stroke_width=1.2)
        below = y < TOP + 16
        told = f"Amdahl's limit, 1/(1-p) = {speedups.limit:,.4g}"
        yield svg.text(LEFT + 6, y + (15 if below else -5), told, **svg.HALO, fill=AMDAHL, class_="ls-halo")
    yield _curve(axes, speedups.by_gustafson, GUSTAFSON, "8 4", "Gustafson", 2.2)
    yield _curve(axes, speedups.by_amdahl, AMDAHL, "", "Amdahl", 2.6)


def _curve(axes: Axes, law: Callable[[float], float], stroke: str, dashes: str, name: str, width: float) -> str:
    way = " ".join(f"{axes.x(s):.1f},{axes.y(law(s)):.1f}" for s in axes.speedups.axis)
    return svg.element(
        "polyline", svg.title(name), points=way, fill="none", stroke=stroke, stroke_width=width,
        stroke_dasharray=dashes or None, class_="ls-curve",
    )  # fmt: skip


def _points(axes: Axes) -> Iterator[str]:
    for s, speedup in axes.speedups.points:
        told = svg.title(f"{axes.speedups.points_are}: {count(s)}, {speedup:.3g} times as fast")
        yield svg.element(
            "circle", told, cx=axes.x(s), cy=axes.y(speedup), r=4.5, fill=POINTS, stroke=palette.INK, stroke_width=1
        )


def _looked_at(axes: Axes) -> Iterator[str]:
    """The number of workers that the slider stands on, and both speedups there."""
    speedups, s = axes.speedups, axes.speedups.workers
    yield svg.line(axes.x(s), TOP, axes.x(s), BOTTOM, stroke=palette.INK, stroke_dasharray="3 3", class_="ls-line")
    for law, stroke in ((speedups.by_gustafson, GUSTAFSON), (speedups.by_amdahl, AMDAHL)):
        yield svg.element("circle", cx=axes.x(s), cy=axes.y(law(s)), r=5, fill=palette.PAPER, stroke=stroke,
                          stroke_width=2.4, class_="ls-spot")  # fmt: skip


def _legend(axes: Axes) -> Iterator[str]:
    speedups, s, y = axes.speedups, axes.speedups.workers, BOTTOM + 56
    rows = [
        ("Amdahl", AMDAHL, "", f"Amdahl {speedups.by_amdahl(s):,.3g}"),
        ("Gustafson", GUSTAFSON, "8 4", f"Gustafson {speedups.by_gustafson(s):,.4g}"),
        ("ideal", palette.FAINT, "2 4", f"ideal {s:,}"),
    ]
    x = 14.0
    for _, stroke, dashes, told in rows:
        yield svg.line(x, y - 4, x + 24, y - 4, stroke=stroke, stroke_width=2.4, stroke_dasharray=dashes or None)
        yield svg.text(x + 28, y, told)
        x += 38 + 7.2 * len(told)
    if speedups.points:
        yield svg.element("circle", cx=x + 6, cy=y - 4, r=4.5, fill=POINTS, stroke=palette.INK, stroke_width=1)
        yield svg.text(x + 16, y, speedups.points_are)
