"""Random programs whose result is known.

Every rank keeps a number. A step passes numbers around and adds what arrives to the rank's own, modulo 1009. What the
ranks must have at the end is worked out twice: by the program, which communicates, and by ``expected``, which does not.

    ring      everyone to the right neighbour: isend, recv, wait
    pair      ranks[0] to ranks[1]: a blocking send and its recv
    swap      everyone and the rank that mirrors it: batch_isend_irecv
    tree      ranks[0] to all, by a binomial tree of blocking sends
    funnel    all to ranks[0], which receives from any source
    others    the name of a collective, on all ranks; "subgroup" is an all_reduce of ``ranks``
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from chaos_harms import Harm, strike

MODULUS = 1009
KINDS = (
    "ring", "pair", "swap", "tree", "funnel", "all_reduce", "async_all_reduce", "broadcast", "reduce", "all_gather",
    "all_to_all", "barrier", "subgroup",
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    kind: str
    ranks: tuple[int, ...] = ()  # the root; or source and destination; or the members of a subgroup


Script = tuple[Step, ...]


def script(draw: random.Random, size: int, steps: int) -> Script:
    return tuple(_step(draw, size) for _ in range(steps))


def _step(draw: random.Random, size: int) -> Step:
    kind = draw.choice(KINDS)
    if kind == "pair":
        return Step(kind, tuple(draw.sample(range(size), 2)))
    if kind == "subgroup":
        return Step(kind, tuple(sorted(draw.sample(range(size), draw.randint(2, size)))))
    return Step(kind, (draw.randrange(size),))


# ---- with communication


class Talk:
    """torch.distributed, counted: ``turn`` comes before every call, and may be the one at which the rank is harmed."""

    def __init__(self, rank: int, size: int, harm: Harm | None) -> None:
        self.rank, self.size, self._harm = rank, size, harm
        self.turns = 0

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.turns += 1
        if self._harm and (self._harm.agent, self._harm.turn) == (self.rank, self.turns):
            strike(self._harm)
        return self.carry_out(function, *args, **kwargs)

    def carry_out(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)


class Rehearsal(Talk):
    """Counts, and calls nothing."""

    def carry_out(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return None


def program(script: Script, harm: Harm | None = None) -> int:
    """The rank's number at the end."""
    rank, size = dist.get_rank(), dist.get_world_size()
    groups = {s.ranks: dist.new_group(list(s.ranks)) for s in script if s.kind == "subgroup"}
    talk = Talk(rank, size, harm)
    if harm:
        harm.meet()
    return perform(script, talk, groups)


def turns(script: Script, rank: int, size: int) -> int:
    """How many calls the rank will make."""
    rehearsal = Rehearsal(rank, size, None)
    perform(script, rehearsal, {})
    return rehearsal.turns


def perform(script: Script, talk: Talk, groups: dict[tuple[int, ...], Any]) -> int:
    mine = torch.tensor([start(talk.rank)], dtype=torch.int64)
    for step in script:
        into = torch.zeros(1, dtype=torch.int64)
        if step.kind == "subgroup":
            if talk.rank in step.ranks:
                into.copy_(mine)
                talk.call(dist.all_reduce, into, group=groups.get(step.ranks))
        else:
            STEPS[step.kind](step, talk, mine, into)
        mine = (mine + into) % MODULUS
    return int(mine.item())


def start(rank: int) -> int:
    return 17 * (rank + 1)


Tensor = torch.Tensor


def ring(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    work = talk.call(dist.isend, mine, (talk.rank + 1) % talk.size)
    talk.call(dist.recv, into, (talk.rank - 1) % talk.size)
    talk.call(lambda: work.wait())


def pair(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    source, target = step.ranks
    if talk.rank == source:
        talk.call(dist.send, mine, target, tag=1)
    if talk.rank == target:
        talk.call(dist.recv, into, source, tag=1)


def swap(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    peer = talk.size - 1 - talk.rank
    if peer == talk.rank:
        into.copy_(mine)
        return
    works = talk.call(
        lambda: dist.batch_isend_irecv([dist.P2POp(dist.isend, mine, peer), dist.P2POp(dist.irecv, into, peer)])
    )
    for i in range(2):
        talk.call(lambda i=i: works[i].wait())


def tree(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    """In round i the ranks that have it send to those 2^i further on, counted from the root."""
    place, reach = (talk.rank - step.ranks[0]) % talk.size, 1
    into.copy_(mine) if place == 0 else None
    while reach < talk.size:
        if place < reach and place + reach < talk.size:
            talk.call(dist.send, into, (talk.rank + reach) % talk.size, tag=2)
        elif reach <= place < 2 * reach:
            talk.call(dist.recv, into, (talk.rank - reach) % talk.size, tag=2)
        reach *= 2


def funnel(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    """A barrier follows: what arrives from any source might belong to the next funnel."""
    if talk.rank != step.ranks[0]:
        talk.call(dist.send, mine, step.ranks[0], tag=3)
    else:
        for _ in range(talk.size - 1):
            got = torch.zeros(1, dtype=torch.int64)
            talk.call(dist.recv, got, tag=3)
            into += got
    talk.call(dist.barrier)


def all_reduce(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    into.copy_(mine)
    talk.call(dist.all_reduce, into)


def async_all_reduce(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    into.copy_(mine)
    work = talk.call(dist.all_reduce, into, async_op=True)
    talk.call(lambda: work.wait())


def broadcast(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    into.copy_(mine)
    talk.call(dist.broadcast, into, step.ranks[0])


def reduce(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    """What the others have afterwards is not defined."""
    total = mine.clone()
    talk.call(dist.reduce, total, step.ranks[0])
    if talk.rank == step.ranks[0]:
        into.copy_(total)


def all_gather(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    slots = [torch.zeros(1, dtype=torch.int64) for _ in range(talk.size)]
    talk.call(dist.all_gather, slots, mine)
    into.copy_(slots[step.ranks[0]])


def all_to_all(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    pieces = mine * torch.arange(1, talk.size + 1)
    got = torch.zeros(talk.size, dtype=torch.int64)
    talk.call(dist.all_to_all_single, got, pieces)
    into.copy_(got.sum())


def barrier(step: Step, talk: Talk, mine: Tensor, into: Tensor) -> None:
    talk.call(dist.barrier)


STEPS = {
    f.__name__: f
    for f in (
        ring, pair, swap, tree, funnel, all_reduce, async_all_reduce, broadcast, reduce, all_gather, all_to_all, barrier
    )
}  # fmt: skip


# ---- without


def expected(script: Script, size: int) -> list[int]:
    numbers = [start(r) for r in range(size)]
    for step in script:
        numbers = [(n + arrives(step, r, numbers)) % MODULUS for r, n in enumerate(numbers)]
    return numbers


def arrives(step: Step, rank: int, numbers: list[int]) -> int:
    size, named = len(numbers), step.ranks
    total = sum(numbers)
    return {
        "ring": numbers[(rank - 1) % size],
        "pair": numbers[named[0]] if rank == named[-1] else 0,
        "swap": numbers[size - 1 - rank],
        "tree": numbers[named[0]],
        "funnel": total - numbers[rank] if rank == named[0] else 0,
        "all_reduce": total,
        "async_all_reduce": total,
        "broadcast": numbers[named[0]],
        "reduce": total if rank == named[0] else 0,
        "all_gather": numbers[named[0]],
        "all_to_all": (rank + 1) * total,
        "barrier": 0,
        "subgroup": sum(numbers[r] for r in named) if rank in named else 0,
    }[step.kind]
