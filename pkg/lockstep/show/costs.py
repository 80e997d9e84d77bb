"""costs(): the time of an all-reduce against its size, by algorithm, in the α-β model; sliders for α, β and ranks.

    Costs         the model: curves, where they cross, and which algorithm is the cheapest at which size
    CostCurves    the figure with its sliders
    draw          seconds against bytes, both axes logarithmic; crossings marked, the cheapest named below

The formulas are those of ``lockstep.cost.algorithms``; nothing is computed twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, pairwise, product
from typing import Any

from lockstep.cost.algorithms import all_reduces
from lockstep.errors import UsageError
from lockstep.show import palette, quantities, svg
from lockstep.show.figure import script
from lockstep.show.player import Player, Sheet, Slider

NAMES = {
    "star": "star",
    "binary_tree": "binary tree",
    "binomial_tree": "tree",
    "naive": "naive",
    "unchunked_ring": "ring, not cut",
    "ring": "ring",
    "recursive_doubling": "recursive doubling",
    "halving_doubling": "halving-doubling",
}
USUAL = ("star", "binomial_tree", "ring", "halving_doubling")
POINTS = 33


@dataclass(frozen=True)
class Crossing:
    """Below ``nbytes`` ``below`` is faster, above it ``above``; there both take ``seconds``."""

    nbytes: float
    seconds: float
    below: str
    above: str
    is_cheapest: bool  # no other curve that is drawn is lower there


@dataclass(frozen=True)
class Costs:
    """What is shown: alpha in seconds a message, beta in seconds a byte, sizes from ``low`` to ``high`` bytes."""

    alpha: float
    beta: float
    ranks: int
    low: float = 1.0
    high: float = 1e9
    algorithms: tuple[str, ...] = USUAL

    def __post_init__(self) -> None:
        if not (math.isfinite(self.alpha) and math.isfinite(self.beta) and min(self.alpha, self.beta) > 0):
            raise UsageError(f"alpha and beta are seconds above zero, not {self.alpha} and {self.beta}.")
        if not 2 <= self.ranks <= 4096:
            raise UsageError(f"Costs are drawn for 2 to 4,096 ranks, not {self.ranks}.")
        if not 1 <= self.low < self.high <= 1e15:
            raise UsageError(f"Sizes go from 1 byte or more up to 1e15, not from {self.low:g} to {self.high:g}.")
        unknown = [a for a in self.algorithms if a not in NAMES]
        if unknown or not self.algorithms:
            raise UsageError(f"There is no all-reduce {', '.join(unknown)!r}.", f"Choose among: {', '.join(NAMES)}.")

    @cached_property
    def drawn(self) -> tuple[str, ...]:
        """The algorithms that work for so many ranks."""
        return tuple(a for a in self.algorithms if a in all_reduces(self.ranks))

    @cached_property
    def missing(self) -> tuple[str, ...]:
        return tuple(a for a in self.algorithms if a not in self.drawn)

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        ratio = self.high / self.low
        return tuple(self.low * ratio ** (i / (POINTS - 1)) for i in range(POINTS))

    def seconds(self, algorithm: str, nbytes: float) -> float:
        return self._formulas[algorithm](nbytes)

    @cached_property
    def _formulas(self) -> dict[str, Callable[[float], float]]:
        """Every curve is a straight line in n, but log-log axes bend it: two exact values give it everywhere."""
        table = all_reduces(self.ranks)
        found: dict[str, Callable[[float], float]] = {}
        for name in self.drawn:
            fixed = table[name](0, self.ranks, self.alpha, self.beta).seconds
            unit = 10**9  # a size at which no rounding to whole bytes matters
            slope = (table[name](unit, self.ranks, self.alpha, self.beta).seconds - fixed) / unit
            found[name] = partial(_line, fixed, slope)
        return found

    def curve(self, algorithm: str) -> tuple[float, ...]:
        return tuple(self.seconds(algorithm, n) for n in self.sizes)

    def cheapest(self, nbytes: float) -> tuple[str, ...]:
        """The fastest algorithms at this size: more than one where they tie."""
        least = min(self.seconds(a, nbytes) for a in self.drawn)
        return tuple(a for a in self.drawn if self.seconds(a, nbytes) <= least * (1 + 1e-9))

    @cached_property
    def crossings(self) -> tuple[Crossing, ...]:
        """Where two curves cross, from small sizes to large ones. Curves that lie on each other do not cross."""
        found = [c for a, b in combinations(self.drawn, 2) if (c := self._crossing(a, b)) is not None]
        return tuple(sorted(found, key=lambda c: c.nbytes))

    def _crossing(self, a: str, b: str) -> Crossing | None:
        first, last = (self.seconds(a, n) / self.seconds(b, n) - 1 for n in (self.low, self.high))
        if min(abs(first), abs(last)) < 1e-9 or (first < 0) == (last < 0):
            return None
        low, high = self.low, self.high
        for _ in range(80):
            middle = math.sqrt(low * high)
            same_side = (self.seconds(a, middle) < self.seconds(b, middle)) == (first < 0)
            low, high = (middle, high) if same_side else (low, middle)
        below, above = (a, b) if first < 0 else (b, a)
        t = self.seconds(a, low)
        least = min(self.seconds(x, low) for x in self.drawn)
        return Crossing(low, t, below, above, t <= least * (1 + 1e-6))

    def regions(self) -> list[tuple[float, float, tuple[str, ...]]]:
        """(from, to, cheapest) along the axis of sizes."""
        edges = [self.low, *(c.nbytes for c in self.crossings if c.is_cheapest), self.high]
        return [(a, b, self.cheapest(math.sqrt(a * b))) for a, b in pairwise(edges) if b > a]


def _line(fixed: float, slope: float, nbytes: float) -> float:
    return fixed + nbytes * slope


def names(algorithms: Sequence[str]) -> str:
    return " = ".join(NAMES[a] for a in algorithms)


ALPHAS = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3)  # seconds a message
BANDWIDTHS = (1e7, 1e8, 1e9, 1e10, 1e11, 1e12)  # bytes a second
RANKS = (2, 4, 8, 12, 16, 64, 256, 1024)


class CostCurves(Player):
    """Every alpha, bandwidth and number of ranks that its sliders stop at is drawn ahead. See ``costs``."""

    module = script("controls", "player", "costs")
    label = "Cost of all-reduce algorithms"

    def __init__(self, model: Costs) -> None:
        self.model = model
        super().__init__([draw(model)], [words(model)])

    def sliders(self) -> tuple[Slider, Slider, Slider]:
        alphas, betas, ranks = self._choices()
        m = self.model
        return (
            Slider("α", [quantities.seconds(a) for a in alphas], alphas.index(m.alpha)),
            Slider("1/β", [f"{quantities.nbytes(1 / b)}/s" for b in betas], betas.index(m.beta)),
            Slider("ranks", [f"{k:,}" for k in ranks], ranks.index(m.ranks)),
        )

    def sheets(self) -> list[Sheet]:
        models = [replace(self.model, alpha=a, beta=b, ranks=k) for a, b, k in product(*self._choices())]
        return [Sheet([draw(m)], [words(m)]) for m in models]

    def _choices(self) -> tuple[list[float], list[float], list[int]]:
        m = self.model
        betas = sorted({*(1 / b for b in BANDWIDTHS), m.beta}, reverse=True)
        return sorted({*ALPHAS, m.alpha}), betas, sorted({*RANKS, m.ranks})

    def state(self) -> dict[str, Any]:
        area = [LEFT, RIGHT, TOP, BOTTOM]
        linear = {k: _linear(replace(self.model, alpha=1.0, beta=1.0, ranks=k)) for k in self._choices()[2]}
        reading = {"sizes": self.model.sizes, "area": area, "linear": linear}
        return super().state() | {"values": self._choices(), "reading": reading}

    def caption(self) -> str:
        return f"Cost of all-reduce algorithms by message size: {words(self.model)}"


def costs(
    alpha: float = 1e-5,
    beta: float = 1e-9,
    ranks: int = 16,
    low: float = 1.0,
    high: float = 1e9,
    algorithms: Sequence[str] = USUAL,
) -> CostCurves:
    """Seconds of an all-reduce against bytes, for each of ``algorithms``, with the crossings marked.

    ``alpha`` is seconds a message, ``beta`` seconds a byte; sizes go from ``low`` to ``high`` bytes. Raises UsageError
    for values without sense and for an algorithm that ``lockstep.cost`` does not know.
    """
    return CostCurves(Costs(alpha, beta, ranks, low, high, tuple(algorithms)))


def _linear(model: Costs) -> dict[str, tuple[float, float]]:
    """What an algorithm's time is made of: so many alphas, and so many betas for each byte."""
    found = {}
    for algorithm in model.drawn:
        fixed = model.seconds(algorithm, 0.0)
        found[NAMES[algorithm]] = (fixed, model.seconds(algorithm, 1e9) / 1e9 - fixed / 1e9)
    return found


WIDTH, HEIGHT = svg.WIDTH, 424.0
LEFT, RIGHT, TOP, BOTTOM = 78.0, 386.0, 78.0, 346.0
LABEL = 180.0  # pixels of the label at a crossing


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
        yield svg.faint(LEFT - 8, axes.y(t) + 4, _tick(t), text_anchor="end")
    yield svg.faint((LEFT + RIGHT) / 2, BOTTOM + 33, "size of the tensor", text_anchor="middle")


def _tick(t: float) -> str:
    return quantities.seconds(t) if t < 1e4 else f"{quantities.plain(t)} s"


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
