"""Each rank has numbers of its own; in the end each has the sum. Between them are messages."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, arrow, box, card, heads
from lockstep.show.ring import simulate

RANKS, TALL = 4, 34.0
PITCH = (svg.WIDTH - 2 * EDGE) / RANKS
CELL = PITCH - 30
PART, WHOLE = palette.colour("reduce_scatter"), palette.colour("all_reduce")
TOLD = (
    "Four ranks in a row. Above, each has its own numbers only. Arrows between neighbours, from the last back to the "
    "first: messages. Below, each rank has the sum of all four."
)


def draw() -> str:
    first, last = (step.held for step in (simulate(RANKS, 1)[0], simulate(RANKS, 1)[-1]))
    body = [
        *heads((f"rank {rank}" for rank in range(RANKS)), EDGE, PITCH, 48),
        *(part for rank in range(RANKS) for part in _cell(rank, 56, first[rank][0])),
        *_messages(),
        *(part for rank in range(RANKS) for part in _cell(rank, 158, last[rank][0])),
        svg.faint(EDGE, 212, "Each part of a box is one rank's numbers."),
        svg.faint(EDGE, 229, "Who sends what to whom, until every rank has all of them?"),
    ]
    return card(242, "Everybody wants the sum", TOLD, body)


def _x(rank: int) -> float:
    return EDGE + PITCH * rank + (PITCH - CELL) / 2


def _cell(rank: int, y: float, has: frozenset[int]) -> Iterator[str]:
    yield box(_x(rank), y, CELL, TALL, fill=palette.LANE, stroke=palette.FAINT)
    wide = (CELL - 4) / RANKS
    for source in has:
        fill = WHOLE if len(has) == RANKS else PART
        yield box(_x(rank) + 2 + wide * source + 1, y + 3, wide - 2, TALL - 6, str(source), fill)


def _messages() -> Iterator[str]:
    for rank in range(RANKS - 1):
        yield arrow(_x(rank) + CELL / 2 + 16, 122, _x(rank + 1) + CELL / 2 - 16, 122, "message")
    for rank in range(RANKS):
        yield svg.element("circle", cx=_x(rank) + CELL / 2, cy=122, r=9, fill=palette.INK)
        yield svg.text(_x(rank) + CELL / 2, 126, str(rank), text_anchor="middle", fill=palette.PAPER)
    x, y = _x(RANKS - 1) + CELL / 2, 131.0
    way = f"M{x:.0f} {y:.0f}v10H{_x(0) + CELL / 2:.0f}"
    yield svg.element("path", d=way, fill="none", stroke=palette.INK, stroke_width=1.8)
    yield arrow(_x(0) + CELL / 2, 141, _x(0) + CELL / 2, 131)
