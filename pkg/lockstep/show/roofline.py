"""roofline(): kernels under the roofs of a machine: what each could reach at most, what limits it, how near it comes.

    Kernel, Roofline    the model: operations, bytes, seconds; peak and bandwidths
    RooflineFigure      the figure; point at a kernel to read it
    draw                FLOP/s against FLOP per byte, both axes logarithmic

The formula is that of ``lockstep.cpu.roofline``. A machine may have several slanted roofs: one for each cache that the
data may lie in, and the lowest for main memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, pairwise
from typing import Any

from lockstep.cpu.roofline import intensity
from lockstep.errors import UsageError
from lockstep.show import palette, svg
from lockstep.show.figure import Drawn, script
from lockstep.show.quantities import decades, nbytes


@dataclass(frozen=True)
class Kernel:
    """``flops`` operations, ``nbytes`` to and from memory, and the ``seconds`` it took, if it was measured. ``place``:
    where its data lie, one of the roofline's; by default the slowest."""

    name: str
    flops: float
    nbytes: float
    seconds: float | None = None
    place: str = ""

    def __post_init__(self) -> None:
        measured = () if self.seconds is None else (self.seconds,)
        if not all(math.isfinite(v) and v > 0 for v in (self.flops, self.nbytes, *measured)):
            raise UsageError(
                f"The kernel {self.name!r} has no place on a roofline: operations, bytes and seconds are above zero."
            )

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return intensity(self.flops, self.nbytes)

    @property
    def rate(self) -> float | None:
        """FLOP/s, as measured."""
        return self.flops / self.seconds if self.seconds else None


@dataclass(frozen=True)
class Roofline:
    """``peak`` in FLOP/s; ``bandwidths``: where the data lie → bytes/s; ``kernels`` to be placed."""

    peak: float
    bandwidths: Mapping[str, float]
    kernels: tuple[Kernel, ...] = ()

    def __post_init__(self) -> None:
        roofs = (self.peak, *self.bandwidths.values())
        if not self.bandwidths or not all(math.isfinite(v) and v > 0 for v in roofs):
            raise UsageError("A roofline has a peak in FLOP/s and at least one bandwidth in bytes/s, all above zero.")
        for kernel in self.kernels:
            if kernel.place and kernel.place not in self.bandwidths:
                raise UsageError(
                    f"The data of {kernel.name!r} lie in {kernel.place!r}, of which no bandwidth is given.",
                    f"Give one of {', '.join(self.bandwidths)}.",
                )

    @cached_property
    def memory(self) -> str:
        """The slowest place: where data are that fit into no cache."""
        return min(self.bandwidths, key=lambda name: self.bandwidths[name])

    def ridge(self, place: str) -> float:
        """FLOP per byte at which the roof of ``place`` meets the peak."""
        return self.peak / self.bandwidths[place]

    def attainable(self, intensity: float, place: str = "") -> float:
        """FLOP/s at most, for data in ``place`` (by default the slowest)."""
        return min(self.peak, intensity * self.bandwidths[place or self.memory])

    def most(self, kernel: Kernel) -> float:
        """FLOP/s at most, for its data where they lie."""
        return self.attainable(kernel.intensity, kernel.place)

    def bound(self, kernel: Kernel) -> str:
        """What limits it, for its data where they lie: "memory" or "compute"."""
        return "memory" if kernel.intensity < self.ridge(kernel.place or self.memory) else "compute"

    def share(self, kernel: Kernel) -> float | None:
        """Its rate as a share of what it could reach with its data in ``place``; above 1 they were in a faster one."""
        return kernel.rate / self.most(kernel) if kernel.rate else None

    @cached_property
    def intensities(self) -> tuple[float, float]:
        """The range that is drawn: all kernels, all ridges, and some room."""
        shown = [k.intensity for k in self.kernels] + [self.ridge(place) for place in self.bandwidths]
        return min(shown) / 4, max(shown) * 4

    @cached_property
    def rates(self) -> tuple[float, float]:
        low = [self.attainable(self.intensities[0])] + [k.rate for k in self.kernels if k.rate]
        return min(low) / 1.5, self.peak * 2.2


def placed(kernels: Mapping[str, Sequence[Any]]) -> tuple[Kernel, ...]:
    """From ``{"saxpy": (flops, nbytes, seconds, place)}``, or without the last or the last two."""
    for name, numbers in kernels.items():
        if len(numbers) not in (2, 3, 4):
            raise UsageError(
                f"{name!r} is given as (flops, nbytes), (flops, nbytes, seconds) or (flops, nbytes, seconds, place), "
                f"not {numbers!r}."
            )
    return tuple(Kernel(name, *numbers) for name, numbers in kernels.items())


class RooflineFigure(Drawn):
    """The drawing, and what the pointer reads on it. See ``roofline``."""

    module = script("roofline")

    def __init__(self, model: Roofline) -> None:
        self.model = model

    def state(self) -> dict[str, Any]:
        return {"facts": _readable(self.model)}

    def caption(self) -> str:
        return f"Roofline. {words(self.model)}"

    def svg(self) -> str:
        return draw(self.model)


def roofline(
    peak: float, bandwidths: float | Mapping[str, float], kernels: Mapping[str, Sequence[Any]] | None = None
) -> RooflineFigure:
    """Draw ``kernels`` under their roofs.

    ``peak``: FLOP/s. ``bandwidths``: bytes/s of the memory, or of several places by name. ``kernels``: name → (flops,
    nbytes), or (flops, nbytes, seconds) for one that was measured, and after these the name of the place where its data
    lie, by default the slowest. Raises UsageError for values without sense.
    """
    slopes = bandwidths if isinstance(bandwidths, Mapping) else {"memory": bandwidths}
    return RooflineFigure(Roofline(peak, dict(slopes), placed(kernels or {})))


def _readable(model: Roofline) -> dict[str, Any]:
    """What the pointer reads: the roofs, a sentence for each kernel, and where the axes are on the drawing."""
    return {
        "told": [told(model, kernel) for kernel in model.kernels],
        "peak": model.peak,
        "bandwidth": model.bandwidths[model.memory],
        "memory": model.memory,
        "intensities": list(model.intensities),
        "area": [LEFT, RIGHT, TOP, BOTTOM],
    }


WIDTH, HEIGHT = svg.WIDTH, 450.0
LEFT, RIGHT, TOP, BOTTOM = 100.0, 526.0, 74.0, 350.0
ALONG = 0.84, 0.25, 0.82  # where roofs have their labels: two may be close
ASIDE = (0.7, 0.3, 0.85, 0.15, 0.6, 0.4)  # other parts of it, where a name is in the way
Box = tuple[float, float, float, float]  # left, right, upper and lower edge
BOUNDS = {"memory": palette.COLOURS["recv"], "compute": palette.SHADES[1]}  # bytes that come, and work
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
        words = f"{place}: {nbytes(bandwidth)}/s"
        names = [name.box for name in _names(axes)]
        free = (part for part in (at, *ASIDE) if _is_free(x1, y1, x2, peak, part, svg.length(words), names))
        yield _along(x1, y1, x2, peak, next(free, at), words)


def _is_free(x1: float, y1: float, x2: float, y2: float, at: float, long: float, names: list[Box]) -> bool:
    """Whether a label of this length, at this part of the way up, lies on no name of a kernel."""
    way = math.hypot(x2 - x1, y2 - y1) or 1.0
    parts = [at + long / way * (n / 8 - 0.5) for n in range(9)]
    letters = [(x1 + part * (x2 - x1), y1 + part * (y2 - y1) - 10) for part in parts]
    return not any(
        left - 8 < x < right + 8 and upper - 8 < y < lower + 8
        for x, y in letters
        for left, right, upper, lower in names
    )


def _along(x1: float, y1: float, x2: float, y2: float, at: float, words: str) -> str:
    """A label that follows its line, at this part of the way up."""
    x, y = x1 + at * (x2 - x1), y1 + at * (y2 - y1)
    words = svg.fitting(words, min(2 * min(x - 20, svg.WIDTH - x - 20), math.hypot(x2 - x1, y2 - y1)))
    angle = math.degrees(math.atan2(y2 - y1, x2 - x1))
    return svg.text(x, y - 6, words, text_anchor="middle", transform=f"rotate({angle:.1f} {x:.1f} {y:.1f})")


@dataclass(frozen=True)
class _Name:
    """A kernel's name beside its dot, which is at (x, y)."""

    kernel: Kernel
    x: float
    y: float
    row: float
    words: str

    @property
    def is_right(self) -> bool:
        return self.x + 10 + svg.length(self.words) < RIGHT

    @property
    def box(self) -> Box:
        long = svg.length(self.words)
        left = self.x + 10 if self.is_right else self.x - 10 - long
        return left, left + long, self.row - 5, self.row + 7


def _names(axes: Axes) -> list[_Name]:
    """Pushed apart where they would overlap; none is drawn over the level roof."""
    spots = [(axes.x(k.intensity), axes.y(k.rate or axes.roofline.most(k)), k)
             for k in axes.roofline.kernels]  # fmt: skip
    peak = axes.y(axes.roofline.peak)
    rows = _rows([(x, y + 14 if abs(y - peak) < 10 else y) for x, y, _ in spots])
    return [
        _Name(kernel, x, y, row, svg.fitting(kernel.name, max(RIGHT - x, x - LEFT) - 14))
        for (x, y, kernel), row in zip(spots, rows, strict=True)
    ]


def _kernels(axes: Axes) -> Iterator[str]:
    """Each a drop line from what it could reach, and a dot where it is, with its name."""
    for number, found in enumerate(_names(axes)):
        kernel, x, y, row, name, right = found.kernel, found.x, found.y, found.row, found.words, found.is_right
        colour = BOUNDS[axes.roofline.bound(kernel)]
        roof = axes.y(axes.roofline.most(kernel))
        parts = [
            svg.title(told(axes.roofline, kernel)),
            svg.line(x, roof, x, y, stroke=colour, stroke_dasharray="2 3"),
            svg.element("circle", cx=x, cy=y, r=6, fill=colour if kernel.rate else palette.PAPER, stroke=colour,
                        stroke_width=2),
            svg.text(x + 10 if right else x - 10, row + 4, name, text_anchor="start" if right else "end",
                     fill=palette.INK, class_="ls-ink ls-halo", **svg.HALO),
        ]  # fmt: skip
        yield svg.element("g", *parts, class_="ls-kernel", data_kernel=str(number))


def _rows(spots: list[tuple[float, float]]) -> list[float]:
    """Heights of the names: those above each other are at least 16 pixels apart."""
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
