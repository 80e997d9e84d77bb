"""One step of SGD on four ranks: same weights, other examples, the mean of the gradients, same weights again."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, arrow, box, card, heads

RANKS, LEFT = 4, 112.0
PITCH = (svg.WIDTH - LEFT - EDGE) / RANKS
WIDE = PITCH - 16
WEIGHTS, GRADIENT = palette.MEMORY["parameters"], palette.MEMORY["gradients"]
ROWS = ("weights", "examples", "gradient", "all-reduce", "update")
TOLD = (
    "One step of SGD on four ranks, from above to below. Each rank has the same weights, and a quarter of the batch. "
    "It computes a gradient of its own. An all-reduce gives each the mean of the four. Each makes the same update, "
    "and all have the same weights again."
)


def draw() -> str:
    names = [svg.text(EDGE, 72 + 38 * row, words) for row, words in enumerate(ROWS)]
    body = [
        *heads((f"rank {rank}" for rank in range(RANKS)), LEFT, PITCH, 48),
        *names,
        *(part for rank in range(RANKS) for part in _column(rank)),
        box(LEFT + 4, 170, PITCH * RANKS - 8, 24, "the mean of all gradients", palette.colour("all_reduce")),
    ]
    return card(248, "Same weights, other examples, same step", TOLD, body)


def _column(rank: int) -> Iterator[str]:
    x, middle = LEFT + PITCH * rank + 8, LEFT + PITCH * (rank + 0.5)
    yield box(x, 56, WIDE, 24, "A", WEIGHTS)
    for part in range(RANKS):
        fill = palette.COLOURS["recv"] if part == rank else palette.LANE
        yield box(x + WIDE / RANKS * part, 94, WIDE / RANKS - 1, 24, fill=fill)
    yield box(x, 132, WIDE, 24, f"gradient {rank}", GRADIENT)
    yield box(x, 208, WIDE, 24, "new A", WEIGHTS)
    for y in (80, 118, 156, 194):
        yield arrow(middle, y + 1, middle, y + 13)
