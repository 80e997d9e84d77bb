"""What the negotiation of one training step costs, counted from traces of the virtual cluster.

    in order            every rank all-reduces the same tensors in the same order: nothing to negotiate
    coordinator         all ranks send names to rank 0, and rank 0 answers
    cache               the same tensors as in the step before: one bit each, joined by a bitwise AND

On each rank the tensors become ready in an order of its own, some of them in each cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

import torch
import torch.distributed as dist

from lockstep.events import Event, Outcome
from lockstep.experiments.horovod.control_messages import control, own_bytes
from lockstep.with_horovod.negotiation import Cycle, negotiate, negotiate_with_cache
from lockstep.worlds import run

ELEMENTS = 1001  # float32, of each tensor: no number of control bytes is 4,004


@dataclass(frozen=True)
class Negotiated:
    """One step. ``collectives``: all but the tensors' all-reduces. ``nbytes``: what rank 0 receives by them.
    ``payload``: the bytes of the tensors on each rank. ``seconds``: virtual ones, of the whole step."""

    way: str
    ranks: int
    tensors: int
    collectives: int
    nbytes: int
    payload: int
    seconds: float

    def __sub__(self, other: Negotiated) -> Negotiated:
        return replace(
            self,
            collectives=self.collectives - other.collectives,
            nbytes=self.nbytes - other.nbytes,
            payload=self.payload - other.payload,
            seconds=self.seconds - other.seconds,
        )


def cost_of_negotiating(ranks: int, tensors: int, per_cycle: int = 8, on: str = "dgx-a100") -> list[Negotiated]:
    """A step of ``tensors`` tensors in each of the three ways; ``per_cycle`` of them become ready in each cycle."""

    def counted(way: str, program: Callable[..., object], steps: int) -> Negotiated:
        outcome = run(program, tensors, per_cycle, steps, ranks=ranks, on=on)
        return _counted(way, tensors, outcome)

    return [
        counted("in order", _in_order, 1),
        counted("coordinator", _by_coordinator, 1),
        counted("cache", _by_cache, 3) - counted("cache", _by_cache, 2),
    ]


def _counted(way: str, tensors: int, outcome: Outcome) -> Negotiated:
    said = control(outcome.trace, (4 * ELEMENTS,))
    payload = sum(event.nbytes for event in outcome.trace.of_rank(0) if event.nbytes == 4 * ELEMENTS)
    return Negotiated(way, outcome.trace.ranks, tensors, len(said), sum(map(bytes_in, said)), payload, outcome.time)


def bytes_in(event: Event) -> int:
    """The bytes that the first rank of the group receives: each other rank's contribution; of an all-reduce the least
    possible, 2(K - 1)/K of it; of its own broadcast nothing."""
    K = len(event.group)
    if event.kind == "all_reduce":
        return 2 * (K - 1) * event.nbytes // K
    return 0 if event.kind == "broadcast" else (K - 1) * own_bytes(event)


def step(tensors: int, per_cycle: int) -> Sequence[Cycle]:
    """A program for every rank: the cycles of one step of a network of so many tensors, in this rank's order."""
    names = [f"layer{n}.weight" for n in range(tensors)]
    Random(dist.get_rank()).shuffle(names)
    ready = [(name, torch.ones(ELEMENTS)) for name in names]
    return [dict(ready[at : at + per_cycle]) for at in range(0, tensors, per_cycle)]


def _in_order(tensors: int, per_cycle: int, steps: int) -> None:
    ready = {name: tensor for cycle in step(tensors, per_cycle) for name, tensor in cycle.items()}
    for _, tensor in sorted(ready.items()):
        dist.all_reduce(tensor)


def _by_coordinator(tensors: int, per_cycle: int, steps: int) -> None:
    negotiate(step(tensors, per_cycle))


def _by_cache(tensors: int, per_cycle: int, steps: int) -> None:
    negotiate_with_cache(step(tensors, per_cycle) for _ in range(steps))
