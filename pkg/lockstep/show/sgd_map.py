"""sgd_map(): where SGD can be made parallel, from the finest grain to the coarsest, and the hardware that suits each.

After the order of De Sa's lectures on parallelism (Cornell CS6787): inside a gradient, across a minibatch, across
iterations, across hyper-parameters, across an ensemble. Each level is listed with what it splits in
A_t = F(A_{t-1}, Δ(data, A_{t-1})), and with the unit of the course in which it is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from lockstep.show import palette, svg
from lockstep.show.figure import Picture

WIDTH, TOP, PITCH = svg.WIDTH, 74.0, 128.0
NAME, BLOCK, LANES = 14.0, 226.0, 256.0  # what it is; next to it what its workers do; below it the rest
SHADES = palette.HEIGHTS
SPAN, LANE = 268.0, 11.0  # a worker's lane: its length and pitch
BUSY, MEETING = palette.ROLES["work"], palette.COLOURS["all_reduce"]


@dataclass(frozen=True)
class Level:
    """One place to take parallelism from."""

    name: str
    splits: str  # of A_t = F(A_{t-1}, Δ(data, A_{t-1}))
    meets: str  # how often the workers must synchronise
    price: str
    hardware: str
    units: str
    blocks: tuple[tuple[float, ...], ...]  # of each worker's lane: where its blocks of work end, from 0 to 1
    meetings: tuple[float, ...]  # when all wait for each other


def _even(steps: int) -> tuple[float, ...]:
    return tuple((i + 1) / steps for i in range(steps))


FINE, STEPS, WHOLE = _even(20), _even(4), (1.0,)
LOOSE = ((0.2, 0.45, 0.7, 1.0), (0.28, 0.5, 0.82, 1.0), (0.16, 0.36, 0.6, 0.84, 1.0), (0.33, 0.66, 1.0))
RUNS = ((0.8,), (1.0,), (0.65,), (0.9,))

LEVELS = (
    Level("inside one gradient", "one Δ", "many times in every gradient", "ways between workers must be short",
          "SIMD, a GPU, GPUs on fast links", "units 02, 03, 08 to 11", (FINE,) * 4, FINE),
    Level("across the minibatch", "the data of one Δ", "once in every step", "large batches may need more epochs",
          "everything, from SIMD to clusters", "units 04, 05, 07, 08", (STEPS,) * 4, STEPS),
    Level("across iterations", "the loop over t", "never all at once", "a Δ is made from an old A: it is stale",
          "cores with one memory, clusters", "unit 06", LOOSE, ()),
    Level("across hyper-parameters", "the search, in whole runs", "never", "of no use once the settings are found",
          "any computers", "unit 01", RUNS, ()),
    Level("across an ensemble", "the ensemble, in whole models", "once, at the end", "you must want several models",
          "any computers", "unit 01", (WHOLE,) * 4, WHOLE),
)  # fmt: skip


def sgd_map() -> Picture:
    """The five levels, fine above and coarse below, each with four workers at work."""
    height = TOP + PITCH * len(LEVELS) + 2
    body = [svg.text(NAME, 26, "Where SGD can be split, from fine to coarse", 14, font_weight=600), *_head(), *_rows()]
    return Picture(svg.document(WIDTH, height, "Where SGD can be split, from fine to coarse", words(), body), words())


def words() -> str:
    """The map for those who do not see it."""
    told = [f"{x.name}: splits {x.splits}, workers meet {x.meets}, suits {x.hardware}" for x in LEVELS]
    return f"From fine to coarse: {'; '.join(told)}."


def _head() -> Iterator[str]:
    yield svg.element("rect", x=LANES, y=41.0, width=12.0, height=8.0, fill=BUSY)
    yield svg.faint(LANES + 17, 50, "4 workers, time →")
    yield svg.line(LANES + 150, 38, LANES + 150, 53, stroke=MEETING, stroke_width=2)
    yield svg.faint(LANES + 156, 50, "all meet")
    yield svg.faint(NAME, 50, "Δ: an update, F adds them up")


def _rows() -> Iterator[str]:
    for number, level in enumerate(LEVELS):
        y, shade = TOP + PITCH * number, SHADES[number]
        block = svg.element("rect", x=NAME, y=y, width=BLOCK, height=60.0, rx=3, fill=shade)
        ink = palette.text_on(shade)
        name = svg.text(NAME + 12, y + 26, level.name, 13, fill=ink, font_weight=600)
        yield svg.element("g", block, name, svg.text(NAME + 12, y + 45, level.units, fill=ink))
        yield from _lanes(level, y)
        yield svg.text(NAME, y + 77, f"splits {level.splits}")
        yield svg.faint(NAME, y + 94, f"suits {level.hardware}")
        yield svg.faint(NAME, y + 111, f"price: {level.price}")


def _lanes(level: Level, y: float) -> Iterator[str]:
    """What the workers do: a gap where a block ends, a line where all of them wait for each other."""
    top = y + 8
    for worker, ends in enumerate(level.blocks):
        starts = (0.0, *ends)
        yield svg.lane(LANES, top + LANE * worker, SPAN, LANE - 2)
        for start, end in pairwise(starts):
            place = (LANES + SPAN * start + 1, top + LANE * worker, SPAN * (end - start) - 2, LANE - 2)
            yield svg.bar(*place, end - start, fill=BUSY)
    for share in level.meetings:
        x = LANES + SPAN * share
        yield svg.line(x, top - 4, x, top + LANE * len(level.blocks) + 2, stroke=MEETING, stroke_width=2)
