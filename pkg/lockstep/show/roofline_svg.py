"""The roofline as SVG: FLOP/s against FLOP per byte, both logarithmic, a slanted roof for each place of the data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import cycle, pairwise

from lockstep.show import palette, svg
from lockstep.show.quantities import decades, nbytes
from lockstep.show.roofline_model import Kernel, Roofline

WIDTH, HEIGHT = svg.WIDTH, 450.0
LEFT, RIGHT, TOP, BOTTOM = 100.0, 526.0, 74.0, 350.0
ALONG = 0.84, 0.25, 0.82  # where roofs have their labels: two may lie close
BOUNDS = {"memory": "#0072B2", "compute": "#D55E00"}
_RATES = ((1e15, "PFLOP/s"), (1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1e6, "MFLOP/s"), (1e3, "kFLOP/s"), (1.0, "FLOP/s"))


def draw(roofline: Roofline) -> str:
    """The whole figure."""
    axes = Axes(roofline)
    body = [
        svg.text(14, 24, "Roofline", 14, font_weight=600),
        svg.faint(14, 43, "How fast a kernel can be at most,"),
        svg.faint(14, 60, "by what it computes for each byte it moves"),
        *_grid(axes), *_roofs(axes), *_kernels(axes), *_legend(),
    ]  # fmt: skip
    return svg.document(WIDTH, HEIGHT, "Roofline", words(roofline), body)


class Axes:
    """From FLOP per byte and FLOP/s to pixels."""

    def __init__(self, roofline: Roofline) -> None:
        self.roofline = roofline
        (self.left, self.right), (self.low, self.high) = roofline.intensities, roofline.rates

    def x(self, intensity: float) -> float:
        return LEFT + (RIGHT - LEFT) * math.log(intensity / self.left) / math.log(self.right / self.left)

    def y(self, rate: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * math.log(rate / self.low) / math.log(self.high / self.low)


def rate(flops: float) -> str:
    """``2.5e9`` → ``2.5 GFLOP/s``."""
    scale, unit = next((row for row in _RATES if flops >= row[0] * 0.9995), _RATES[-1])
    return f"{flops / scale:.3g} {unit}"


def words(roofline: Roofline) -> str:
    """The figure for those who do not see it."""
    slopes = ", ".join(f"{place} {nbytes(b)} a second" for place, b in roofline.bandwidths.items())
    return " ".join(
        [f"Peak {rate(roofline.peak)}; bandwidth: {slopes}.", *(told(roofline, k) for k in roofline.kernels)]
    )


def told(roofline: Roofline, kernel: Kernel) -> str:
    """One kernel in a sentence."""
    place = f"with its data in {kernel.place}, " if kernel.place not in ("", roofline.memory) else ""
    begin = (
        f"{kernel.name}: {rate(kernel.flops)[:-2]} and {nbytes(kernel.nbytes)}, {kernel.intensity:.3g} FLOP/byte. "
        f"At most {rate(roofline.most(kernel))}, {place}limited by "
        f"{'memory' if roofline.bound(kernel) == 'memory' else 'computing'}"
    )
    share = roofline.share(kernel)
    return f"{begin}; measured {rate(kernel.rate)}, {share:.0%} of it." if kernel.rate and share else f"{begin}."


def _grid(axes: Axes) -> Iterator[str]:
    yield svg.lane(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
    for i in decades(axes.left, axes.right):
        yield svg.line(axes.x(i), TOP, axes.x(i), BOTTOM, stroke=palette.FAINT, stroke_opacity=0.25)
        yield svg.faint(axes.x(i), BOTTOM + 17, f"{i:g}", text_anchor="middle")
    for r in decades(axes.low, axes.high):
        yield svg.line(LEFT, axes.y(r), RIGHT, axes.y(r), stroke=palette.FAINT, stroke_opacity=0.25)
        yield svg.faint(LEFT - 8, axes.y(r) + 4, rate(r), text_anchor="end")
    yield svg.faint((LEFT + RIGHT) / 2, BOTTOM + 36, "arithmetic intensity, FLOP per byte", text_anchor="middle")


def _roofs(axes: Axes) -> Iterator[str]:
    """The slanted ones begin where they come in from below, and end at the peak."""
    roofline = axes.roofline
    flat = min(roofline.ridge(place) for place in roofline.bandwidths)
    peak = axes.y(roofline.peak)
    yield svg.line(axes.x(flat), peak, RIGHT, peak, stroke=BOUNDS["compute"], stroke_width=2.4)
    yield svg.text(RIGHT - 6, peak - 8, f"peak {rate(roofline.peak)}", 12, text_anchor="end")
    for (place, bandwidth), at in zip(roofline.bandwidths.items(), cycle(ALONG)):
        begin = max(axes.left, axes.low / bandwidth)
        x1, y1, x2 = axes.x(begin), axes.y(begin * bandwidth), axes.x(roofline.ridge(place))
        slowest = place == roofline.memory
        yield svg.line(x1, y1, x2, peak, stroke=BOUNDS["memory"], stroke_width=2.4 if slowest else 1.3,
                       stroke_dasharray=None if slowest else "6 4")  # fmt: skip
        yield _along(x1, y1, x2, peak, at, f"{place}: {nbytes(bandwidth)}/s")


def _along(x1: float, y1: float, x2: float, y2: float, at: float, words: str) -> str:
    """A label that follows its line, at this part of the way up."""
    x, y = x1 + at * (x2 - x1), y1 + at * (y2 - y1)
    angle = math.degrees(math.atan2(y2 - y1, x2 - x1))
    return svg.text(x, y - 6, words, text_anchor="middle", transform=f"rotate({angle:.1f} {x:.1f} {y:.1f})")


def _kernels(axes: Axes) -> Iterator[str]:
    """Each a drop line from what it could reach, and a dot where it is; names pushed apart where they would overlap."""
    spots = [(axes.x(k.intensity), axes.y(k.rate or axes.roofline.most(k)), k)
             for k in axes.roofline.kernels]  # fmt: skip
    peak = axes.y(axes.roofline.peak)
    rows = _rows([(x, y + 14 if abs(y - peak) < 10 else y) for x, y, _ in spots])  # no name lies on the level roof
    for number, ((x, y, kernel), row) in enumerate(zip(spots, rows, strict=True)):
        colour = BOUNDS[axes.roofline.bound(kernel)]
        right = x + 10 + 7.2 * len(kernel.name) < RIGHT
        roof = axes.y(axes.roofline.most(kernel))
        parts = [
            svg.title(told(axes.roofline, kernel)),
            svg.line(x, roof, x, y, stroke=colour, stroke_dasharray="2 3"),
            svg.element("circle", cx=x, cy=y, r=6, fill=colour if kernel.rate else palette.PAPER, stroke=colour,
                        stroke_width=2),
            svg.text(x + 10 if right else x - 10, row + 4, kernel.name, text_anchor="start" if right else "end",
                     fill=palette.INK, class_="ls-ink ls-halo", **svg.HALO),
        ]  # fmt: skip
        yield svg.element("g", *parts, class_="ls-kernel", data_kernel=str(number))


def _rows(spots: list[tuple[float, float]]) -> list[float]:
    """Heights of the names: those that stand above each other get 16 pixels."""
    order = sorted(range(len(spots)), key=lambda n: spots[n][1])
    heights = [y for _, y in spots]
    for upper, lower in pairwise(order):
        if abs(spots[upper][0] - spots[lower][0]) < 130:
            heights[lower] = max(heights[lower], heights[upper] + 16)
    return heights


def _legend() -> Iterator[str]:
    y = HEIGHT - 36
    for n, (bound, words) in enumerate((("memory", "limited by memory"), ("compute", "limited by computing"))):
        x = 14 + 190 * n
        yield svg.element("circle", cx=x + 5, cy=y - 4, r=5, fill=BOUNDS[bound])
        yield svg.faint(x + 16, y, words)
    yield svg.faint(14, y + 20, "filled: measured; empty: as fast as it could be")
