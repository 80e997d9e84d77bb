"""amdahl(): speedup against workers by Amdahl's and Gustafson's laws, with sliders, your own points, and the workers.

    Speedups          the model: parallel fraction p, workers, measured points
    SpeedupCurves     the figure with its sliders
    draw              curves above, both axes logarithmic; below, what each worker does and when

The formulas are those of ``lockstep.cost.speedup``; nothing is computed twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from lockstep.cost import speedup as laws
from lockstep.errors import UsageError
from lockstep.show import palette, quantities, svg
from lockstep.show.player import Player, Sheet, Slider

MOST = 4096  # workers at the right end of the axis
SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999, 1.0)
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)

Point = tuple[float, float]  # workers, speedup


@dataclass(frozen=True)
class Speedups:
    """What is shown: the parallel fraction ``p``, a number of ``workers`` to look at, and measured ``points``."""

    p: float
    workers: int
    points: tuple[Point, ...] = ()
    points_are: str = "measured"
    curve_is: str = ""  # whose p this is, if it is not just one to play with

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise UsageError(f"The parallel fraction is a share from 0 to 1, not {self.p}.", "Write 0.95 for 95 %.")
        if not 1 <= self.workers <= MOST:
            raise UsageError(f"Speedups are drawn for 1 to {MOST:,} workers, not {self.workers}.")
        for s, speedup in self.points:
            if not (1 <= s <= MOST and 0 < speedup < math.inf):
                raise UsageError(f"A point needs 1 to {MOST:,} workers and a speedup above 0, not {s} and {speedup}.")

    @cached_property
    def most(self) -> float:
        """Where the axis of workers ends: a power of two that holds everything with some room."""
        largest = max([16.0, 2.0 * self.workers, *(2 * s for s, _ in self.points)])
        return float(min(MOST, 2 ** math.ceil(math.log2(largest))))

    @cached_property
    def axis(self) -> tuple[float, ...]:
        return tuple(self.most ** (i / 96) for i in range(97))

    def by_amdahl(self, s: float) -> float:
        return laws.amdahl(self.p, s)

    def by_gustafson(self, s: float) -> float:
        return laws.gustafson(self.p, s)

    @property
    def limit(self) -> float:
        return laws.most_speedup(self.p)

    @property
    def idle(self) -> float:
        """The share of all workers' time in which they are idle, by Amdahl."""
        return 1 - self.by_amdahl(self.workers) / self.workers


def speedups_of(times: Mapping[int, float]) -> tuple[Point, ...]:
    """``{workers: seconds}`` as (workers, speedup): the seconds of one worker divided by each."""
    if times and 1 not in times:
        raise UsageError("A speedup compares with one worker, and there is no time for 1.", "Measure one worker, too.")
    if not all(0 < t < math.inf for t in times.values()):
        raise UsageError("Each time must be above 0 seconds, and finite.", "Measure again.")
    return tuple((float(s), times[1] / t) for s, t in sorted(times.items()))


def nearest(choices: Sequence[float], value: float) -> list[float]:
    """The stops of a slider: ``choices``, with ``value`` among them."""
    return sorted({*choices, value})


def count(s: float) -> str:
    return "1 worker" if s == 1 else f"{s:,.0f} workers"


def times(value: float) -> str:
    """A factor, with three digits that count."""
    return f"{value:,.0f} times" if value >= 100 else f"{value:.3g} times"


class SpeedupCurves(Player):
    """Every share and number of workers that its sliders stop at is drawn ahead. See ``amdahl``."""

    label = "Speedup by Amdahl's and Gustafson's laws"

    def __init__(self, model: Speedups) -> None:
        self.model = model
        super().__init__([draw(model)], [words(model)])

    def sliders(self) -> tuple[Slider, Slider]:
        shares, workers = self._choices()
        return (
            Slider("parallel fraction p", [f"{p:.4g}" for p in shares], shares.index(self.model.p)),
            Slider("workers s", [f"{s:,.0f}" for s in workers], workers.index(self.model.workers)),
        )

    def sheets(self) -> list[Sheet]:
        models = [replace(self.model, p=p, workers=int(s)) for p, s in product(*self._choices())]
        return [Sheet([draw(m)], [words(m)]) for m in models]

    def _choices(self) -> tuple[list[float], list[float]]:
        return nearest(SHARES, self.model.p), nearest(WORKERS, self.model.workers)

    def caption(self) -> str:
        return words(self.model)


def amdahl(
    p: float = 0.95, workers: int = 16, times: Mapping[int, float] | None = None, points_are: str = "measured"
) -> SpeedupCurves:
    """Speedup against workers by the laws of Amdahl and Gustafson, and what each worker does meanwhile.

    ``times`` are your own measurements, ``{workers: seconds}`` with an entry for 1 worker; they are drawn as points,
    named ``points_are``. Raises UsageError for values without sense.
    """
    return SpeedupCurves(Speedups(p, workers, speedups_of(times or {}), points_are))


WIDTH, HEIGHT = svg.WIDTH, 640.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 526.0, 80.0, 312.0
AMDAHL, GUSTAFSON = palette.COLOURS["all_reduce"], palette.COLOURS["reduce_scatter"]  # seen on white and on black


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
    if last - first > 16:
        return quantities.log_ticks(2.0**first, 2.0**last, 12)
    step = 1 if last - first <= 6 else 2
    return [2.0**e for e in range(first, last + 1) if e % step == 0]


def _grid(axes: Axes) -> Iterator[str]:
    yield svg.lane(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
    for s in _powers(0, math.log2(axes.speedups.most)):
        yield svg.line(axes.x(s), TOP, axes.x(s), BOTTOM, stroke=palette.FAINT, stroke_opacity=0.25)
        middle = min(axes.x(s), WIDTH - 4 - svg.length(f"{s:,.0f}") / 2)
        yield svg.faint(middle, BOTTOM + 16, f"{s:,.0f}", text_anchor="middle")
    for speedup in _powers(axes.low, axes.high):
        yield svg.line(LEFT, axes.y(speedup), RIGHT, axes.y(speedup), stroke=palette.FAINT, stroke_opacity=0.25)
        yield svg.faint(LEFT - 7, axes.y(speedup) + 4, quantities.plain(speedup), text_anchor="end")
    yield svg.faint((LEFT + RIGHT) / 2, BOTTOM + 33, "workers", text_anchor="middle")


def _curves(axes: Axes) -> Iterator[str]:
    speedups = axes.speedups
    yield _curve(axes, lambda s: s, palette.FAINT, "2 4", "as many times as there are workers", 1.4)
    if speedups.limit < 2**axes.high:
        y = axes.y(speedups.limit)
        yield svg.line(LEFT, y, RIGHT, y, stroke=AMDAHL, stroke_dasharray="3 4", stroke_width=1.2)
        below = y < TOP + 16
        told = f"Amdahl's limit, 1/(1-p) = {speedups.limit:,.4g}"
        yield svg.text(LEFT + 6, y + (15 if below else -5), told, **svg.HALO, fill=palette.INK, class_="ls-ink ls-halo")
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
            "circle",
            told,
            cx=axes.x(s),
            cy=axes.y(speedup),
            r=4.5,
            fill=_worth(axes.speedups),
            stroke=palette.INK,
            stroke_width=1,
        )


def _looked_at(axes: Axes) -> Iterator[str]:
    """The number of workers that the slider is set to, and both speedups there."""
    speedups, s = axes.speedups, axes.speedups.workers
    yield svg.line(axes.x(s), TOP, axes.x(s), BOTTOM, stroke=palette.INK, stroke_dasharray="3 3", class_="ls-line")
    for law, stroke in ((speedups.by_gustafson, GUSTAFSON), (speedups.by_amdahl, AMDAHL)):
        yield svg.element("circle", cx=axes.x(s), cy=axes.y(law(s)), r=5, fill=palette.PAPER, stroke=stroke,
                          stroke_width=2.4, class_="ls-spot")  # fmt: skip


def _legend(axes: Axes) -> Iterator[str]:
    speedups, s, y = axes.speedups, axes.speedups.workers, BOTTOM + 56
    rows = [
        ("Amdahl", AMDAHL, "", f"Amdahl {_digits(speedups.by_amdahl(s))}"),
        ("Gustafson", GUSTAFSON, "8 4", f"Gustafson {_digits(speedups.by_gustafson(s))}"),
        ("ideal", palette.FAINT, "2 4", f"ideal {s:,}"),
    ]
    x = 14.0
    for _, stroke, dashes, told in rows:
        yield svg.line(x, y - 4, x + 24, y - 4, stroke=stroke, stroke_width=2.4, stroke_dasharray=dashes or None)
        yield svg.text(x + 28, y, told)
        x += 38 + 7.2 * len(told)
    if speedups.points:
        yield svg.element(
            "circle", cx=x + 6, cy=y - 4, r=4.5, fill=_worth(speedups), stroke=palette.INK, stroke_width=1
        )
        yield svg.named(x + 16, y, speedups.points_are, WIDTH - x - 20)


def _worth(speedups: Speedups) -> str:
    """The colour of what the points are: simulated or measured."""
    return palette.ROLES.get(speedups.points_are, palette.ROLES["measured"])


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


FIRST, SECOND, LANES_TOP = 14.0, 280.0, 396.0  # two columns of lanes, below the curves
WHOLE = 246.0  # pixels of one worker's time for the whole work
SERIAL, PARALLEL = palette.ROLES["marked"], palette.ROLES["work"]
ROW, DRAWN = 15.0, 5  # height of a lane; more workers than this are not drawn one by one


def lanes(speedups: Speedups) -> Iterator[str]:
    """One worker; then s workers on the same work (Amdahl); then s workers for the same time (Gustafson)."""
    p, s = speedups.p, speedups.workers
    yield from _key()
    yield from _panel(FIRST, LANES_TOP, ("1 worker",), [(1 - p, p)], s=1)
    below = LANES_TOP + 56
    bottom = below + 40 + ROW * (min(s, DRAWN) + (s > DRAWN))
    same_work = (count(s), "the same work (Amdahl)")
    yield from _panel(FIRST, below, same_work, [(1 - p, p / s)] * min(s, DRAWN), s)
    yield svg.faint(FIRST, bottom, f"Takes {100 / speedups.by_amdahl(s):.3g} % of the time.")
    yield svg.faint(FIRST, bottom + 17, f"Waiting: {100 * speedups.idle:.3g} %." if s > 1 else "")
    same_time = (count(s), "the same time (Gustafson)")
    yield from _panel(SECOND, below, same_time, [(1 - p, p)] * min(s, DRAWN), s)
    done = f"It is {times(speedups.by_gustafson(s))} as much work."
    yield svg.faint(SECOND, bottom, done if s > 1 else "")


def _key() -> Iterator[str]:
    for y, fill, told in ((LANES_TOP, SERIAL, "serial, 1-p"), (LANES_TOP + 20, PARALLEL, "parallel, p")):
        yield svg.element("rect", x=SECOND, y=y - 10, width=12.0, height=12.0, rx=2, fill=fill)
        yield svg.text(SECOND + 18, y, told)
    yield svg.faint(SECOND + 130, LANES_TOP, "time →")


def _panel(x: float, y: float, told: tuple[str, ...], rows: list[tuple[float, float]], s: int) -> Iterator[str]:
    """A heading, and a lane for each worker: the first one has the serial part, then all have the parallel one."""
    for line, words in enumerate(told):
        yield svg.text(x, y + 17 * line, words, font_weight=600 if line == 0 else 400)
    y += 17 * (len(told) - 1)
    for number, (serial, parallel) in enumerate(rows):
        top = y + 8 + ROW * number
        yield svg.lane(x, top, WHOLE, ROW - 3)
        if number == 0:
            yield _block(x, top, serial, SERIAL, "serial: one worker at work")
        yield _block(x + WHOLE * serial, top, parallel, PARALLEL, "parallel: all workers at work")
    if s > DRAWN:
        yield svg.faint(x, y + 10 + ROW * len(rows) + 10, f"… and {s - DRAWN:,} more like the last one")


def _block(x: float, y: float, share: float, fill: str, told: str) -> str:
    """A share of the whole time. However short it is, a sliver of it can be seen."""
    if share == 0:
        return ""
    width = max(0.8, WHOLE * share)
    return svg.bar(x, y, width, ROW - 3, share, svg.title(told), fill=fill, stroke=palette.PAPER, stroke_width=0.4)
