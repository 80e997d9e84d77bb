"""Shards of X on their way round a ring: what ranks get and should return, and which messages nothing was multiplied
beside."""

from __future__ import annotations

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.judge import Fault
from lockstep.checks.measured_overlap import beside
from lockstep.checks.observation import Seen
from lockstep.events import POINT_TO_POINT, Event
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.tensor_parallel.sizes import of
from lockstep.exercises.without_waiting.evidence import case

TRANSPOSED = "x is transposed in memory"
MOST, FEW = (
    511,
    15,
)  # whole numbers up to these: float32 adds up their products exactly, and bfloat16 lacks some of MOST
LONG = (256, 1536, 2)  # n, h, m: on the simulated machine a shard travels twice as long as it is multiplied
ROWS: dict[int, list[tuple[tuple[int, int, int], str]]] = {  # by ranks: n, h, m, and what is told of x
    1: [((3, 5, 4), "")],
    2: [((3, 7, 5), ""), ((3, 6, 4), TRANSPOSED)],
    3: [((4, 6, 5), ""), ((1, 4, 1), ""), (LONG, "")],
    4: [((2, 5, 3), ""), ((3, 6, 4), TRANSPOSED)],
    5: [((3, 4, 2), "")],
}


def cases(ranks: int, seed: int) -> list[Case]:
    """Of three ranks, the second has zeros. The last case is a group, where there is one that is not the world."""
    rows: list[tuple[tuple[int, ...] | None, tuple[int, int, int], str]]
    rows = [(None, *row) for row in ROWS[ranks]] + [(group, (3, 6, 4), "") for group in groups(ranks)[1:]]
    return [
        case(ranks, seed + i, group, f"n = {n}, h = {h}, m = {m}", told, x=told, n=n, h=h, m=m)
        for i, (group, (n, h, m), told) in enumerate(rows)
    ]


def given(case: Case, rank: int) -> tuple[Tensor, Tensor]:
    """x and A of a rank."""
    n, h, m = of(case, "n h m")
    drawn, long = generator(case, rank), (n, h, m) == LONG
    x = torch.randint(-MOST, MOST + 1, (n, h), generator=drawn).float()
    most = FEW if long else MOST
    weights = torch.randint(-most, most + 1, (h, m), generator=drawn).float()
    silent = case.ranks == 3 and rank == 1
    x = x * (not silent)
    return x.T.contiguous().T if case.settings["x"] else x, weights * (not silent or long)


def wanted(case: Case) -> list[Tensor]:
    own = [given(case, rank) for rank in case.members]
    whole = torch.cat([x for x, _ in own])
    return [whole @ A for _, A in own]


def shard(case: Case) -> int:
    """FLOP of the product of one."""
    n, h, m = of(case, "n h m")
    return 2 * n * h * m


def bare(seen: Seen) -> list[Fault]:
    """The first rank with a message beside which it multiplies less than a shard."""
    for rank in seen.case.members:
        moving, computing = _events(seen, rank)
        if found := [m for m in moving if beside(m, computing) < shard(seen.case)]:
            return [Fault(*_told(seen, found[0], computing))]
    return []


def _told(seen: Seen, message: Event, computing: list[Event]) -> tuple[str, str]:
    way = f"a message {'to' if message.kind == 'send' else 'from'} rank {message.peer}"
    begin = f"With {seen.case}, rank {message.rank} starts {way}"
    if beside(message, computing):
        told = "and multiplies a part of a shard before it waits for it: at least one whole shard belongs there."
        return "little-overlap", f"{begin}, {told}"
    if computing and message.posted > max(c.posted for c in computing):
        return "starts-too-late", f"{begin} after its last product: start it before the product of what is there."
    told = "and waits for it before it multiplies anything. Start it, multiply a shard that is there, then wait()."
    return "waits-at-once", f"{begin}, {told}"


def _events(seen: Seen, rank: int) -> tuple[list[Event], list[Event]]:
    events = seen.trace.of_rank(rank)
    return [e for e in events if e.kind in POINT_TO_POINT], [e for e in events if e.kind == "compute" and e.flops]


def footprint(seen: Seen) -> object:
    """What two answers share that hide as little: by rank, messages and those that are bare, and FLOP."""
    rows = []
    for rank in seen.case.members:
        moving, computing = _events(seen, rank)
        found = [m.kind for m in moving if beside(m, computing) < shard(seen.case)]
        rows.append((len(moving), found, sum(c.flops for c in computing)))
    return rows
