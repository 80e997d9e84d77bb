"""Tokens of four ranks, the expert that the gate has chosen for each, and the way there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import torch

from lockstep.experts.gate import TopKGate
from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, box, card

RANKS, TOKENS, WIDTH, SEED = 4, 4, 16, 0
PITCH = (svg.WIDTH - 2 * EDGE) / RANKS
SIDE, GAP = 25.0, 3.0
COLOURS = [palette.COLOURS[kind] for kind in ("all_reduce", "send", "recv", "broadcast")]


class Way(NamedTuple):
    """Token ``place`` of ``rank`` goes to ``expert``."""

    rank: int
    place: int
    expert: int


def ways() -> list[Way]:
    """What a gate with random weights chooses for random tokens."""
    gate = TopKGate(WIDTH, RANKS, k=1, seed=SEED)
    tokens = torch.randn(RANKS * TOKENS, WIDTH, generator=torch.Generator().manual_seed(SEED))
    chosen = gate(tokens).experts[:, 0].tolist()
    return [Way(n // TOKENS, n % TOKENS, expert) for n, expert in enumerate(chosen)]


def draw() -> str:
    found = ways()
    loads = Counter(way.expert for way in found)
    told = (
        f"Four ranks with {TOKENS} tokens and one expert each. The gate chooses an expert for every token, and the "
        "token travels to that expert's rank; its result comes back. The experts get "
        + ", ".join(str(loads[expert]) for expert in range(RANKS))
        + " tokens."
    )
    body = [
        *(_way(way) for way in found),
        *(part for rank in range(RANKS) for part in _rank(rank, loads[rank])),
        *(box(_x(way), 58, SIDE, SIDE, str(way.expert), COLOURS[way.rank]) for way in found),
        svg.faint(EDGE, 220, "On each token: the expert that the gate has chosen for it."),
    ]
    return card(234, "Each token travels to its expert, and back", told, body)


def _x(way: Way) -> float:
    return EDGE + PITCH * way.rank + 8 + (SIDE + GAP) * way.place


def _way(way: Way) -> str:
    middle = EDGE + PITCH * (way.expert + 0.5) - 6 + 5 * (way.rank - 1.5)
    look = {"stroke": COLOURS[way.rank], "stroke_width": 1.8}
    return svg.line(_x(way) + SIDE / 2, 58 + SIDE, middle, 158, **look)


def _rank(rank: int, load: int) -> Iterator[str]:
    x = EDGE + PITCH * rank
    yield svg.text(x + 8, 50, f"rank {rank}")
    yield box(x + 8, 158, PITCH - 20, 38, f"expert {rank}: {load}", palette.LANE, stroke=palette.FAINT)
