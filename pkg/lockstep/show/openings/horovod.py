"""Three ranks whose gradients are ready in different orders; the coordinator decides what is reduced next."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, arrow, box, card

READY = ("cab", "bca", "cba")  # the order in which each rank's gradients are ready
TALL, WIDE = 26.0, 34.0
COLOUR = {"a": palette.COLOURS["recv"], "b": palette.COLOURS["send"], "c": palette.COLOURS["reduce_scatter"]}
TOLD = (
    "Three ranks. Their gradients a, b and c are ready in different orders. Each rank tells the coordinator, rank 0, "
    "which are ready. What is ready everywhere is put into one buffer, fused, and reduced in the same order on all "
    "ranks."
)


def draw() -> str:
    body = [
        svg.text(EDGE, 50, "ready, in this order"),
        svg.text(222, 50, "the coordinator"),
        svg.text(392, 50, "one all-reduce"),
        box(222, 84, 106, 66, fill=palette.LANE, stroke=palette.FAINT),
        svg.text(275, 112, "who has a, b, c?", text_anchor="middle"),
        svg.text(275, 132, "on rank 0", text_anchor="middle"),
        *(part for rank, order in enumerate(READY) for part in _rank(rank, order)),
    ]
    return card(202, "Who decides what is reduced next?", TOLD, body)


def _rank(rank: int, order: str) -> Iterator[str]:
    y = 62 + 44 * rank
    yield svg.text(EDGE, y + 17, f"rank {rank}")
    for place, name in enumerate(order):
        yield box(70 + (WIDE + 3) * place, y, WIDE, TALL, name, COLOUR[name])
    for place, name in enumerate("abc"):
        yield box(392 + WIDE * place, y, WIDE, TALL, name, COLOUR[name])
    yield box(391, y - 1, 3 * WIDE + 2, TALL + 2, "", "none", stroke=palette.INK, stroke_width=2)
    yield arrow(186, y + 13, 218, 104 + 12 * rank)
    yield arrow(332, 104 + 12 * rank, 386, y + 13)
