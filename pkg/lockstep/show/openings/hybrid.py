"""Eight ranks as a cube: one axis for the batch, one for the matrices, one for the layers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from lockstep.hybrid.grid import Grid
from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, box, card, key

GRID = Grid(tp=2, dp=2, pp=2)
COLOURS = {
    "tp": palette.COLOURS["all_reduce"], "dp": palette.COLOURS["reduce_scatter"], "pp": palette.COLOURS["send"],
}  # fmt: skip
SHARED = {"tp": "tp: parts of a matrix", "dp": "dp: parts of the batch", "pp": "pp: parts of the layers"}
WIDE, HIGH = 62.0, 28.0


def draw() -> str:
    groups = {axis: sorted({GRID.group(axis, rank) for rank in range(GRID.ranks)}) for axis in COLOURS}
    told = (
        "Eight ranks at the corners of a cube, on three axes of two. "
        + " ".join(
            f"Along {axis} the groups are {', '.join(' and '.join(map(str, ranks)) for ranks in of)}."
            for axis, of in groups.items()
        )
        + " Rank 0 is in one group of each axis."
    )
    body = [
        *(_edge(axis, *ranks) for axis, of in groups.items() for ranks in of),
        *_ranks(),
        *key([(COLOURS[axis], words) for axis, words in SHARED.items()], EDGE, 232),
    ]
    return card(248, "Eight ranks, three axes: each rank is in three groups", told, body)


def _at(rank: int) -> tuple[float, float]:
    """The upper left corner of a rank: tp goes right, dp down, pp to the back."""
    tensor, replica, stage = GRID.seat(rank)
    return 70 + 208 * tensor + 112 * stage, 96 + 72 * replica - 42 * stage


def _edge(axis: str, a: int, b: int) -> str:
    (x1, y1), (x2, y2) = _at(a), _at(b)
    middle = WIDE / 2, HIGH / 2
    ends = x1 + middle[0], y1 + middle[1], x2 + middle[0], y2 + middle[1]
    return svg.line(*ends, stroke=COLOURS[axis], stroke_width=3.5)


def _ranks() -> Iterator[str]:
    for tensor, replica, stage in product(range(2), repeat=3):
        rank = GRID.rank(tensor, replica, stage)
        yield box(*_at(rank), WIDE, HIGH, f"rank {rank}", palette.LANE, stroke=palette.FAINT)
