"""DiLoCo beside local SGD and beside an all-reduce in each step: the loss after as many steps, and the bytes.

Momentum makes steps longer, so at one learning rate for all DiLoCo is compared with programs whose steps are too short.
Each way therefore trains twice: at RATE, and at the one of RATES with which it ends lowest (``tuned``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import torch.distributed as dist
from torch import Tensor

from lockstep.experiments.without_waiting.fewer_bytes import sent
from lockstep.experiments.without_waiting.your_line import LOCAL_STEPS, RATE, in_turn
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.this_machine.measure import one_thread
from lockstep.without_waiting.diloco import AdamW, diloco, sequential_diloco
from lockstep.without_waiting.local_sgd import Gradient
from lockstep.without_waiting.problems import Digits, cluster

RANKS, ALPHA = 8, 0.1  # ALPHA: examples are divided by class, see ``Digits``
RATES = tuple(2.0**n for n in range(-5, 5))
OUTER_RATE, MOMENTUM = 0.7, 0.9


class Way(NamedTuple):
    """DiLoCo and its special cases: without momentum and with an outer rate of 1 it is local SGD, and with a period of
    1 each step has an all-reduce. ``best``: its learning rate of RATES, found by ``tuned``."""

    period: int
    outer_rate: float
    momentum: float
    best: float
    inner: Callable[[Gradient], Gradient] = lambda gradient: gradient  # SGD

    def of(self, rank: int) -> Gradient:
        """The gradient of a rank, as the inner optimizer makes a step of it: a new optimizer at each call."""
        return self.inner(Digits(alpha=ALPHA).of(rank, RANKS))


WAYS: Mapping[str, Way] = {
    "all-reduce in each step": Way(1, 1, 0, 8),
    "the same, Nesterov momentum": Way(1, 1, MOMENTUM, 2),
    "local SGD, period 8": Way(8, 1, 0, 2),
    "DiLoCo, period 8": Way(8, OUTER_RATE, MOMENTUM, 2),
    "local SGD, period 64": Way(64, 1, 0, 2),
    "DiLoCo, period 64": Way(64, OUTER_RATE, MOMENTUM, 2),
}
WITH_ADAMW: Mapping[str, Way] = {
    "mean of the models, period 8": Way(8, 1, 0, 0.125, AdamW),
    "DiLoCo, period 8": Way(8, OUTER_RATE, MOMENTUM, 0.0625, AdamW),
    "mean of the models, period 64": Way(64, 1, 0, 0.125, AdamW),
    "DiLoCo, period 64": Way(64, OUTER_RATE, MOMENTUM, 0.0625, AdamW),
}


def trained(way: Way, rate: float) -> Tensor:
    """A program for every rank."""
    start, (period, outer_rate, momentum, *_) = Digits().start(), way
    return diloco(way.of(dist.get_rank()), start, LOCAL_STEPS, rate, period, outer_rate, momentum)


def outer_table() -> Table:
    """WAYS on the virtual cluster, at RATE and each at its best rate."""
    return _table(WAYS, "steps", also=(RATE,))


def adamw_table() -> Table:
    """WITH_ADAMW on the virtual cluster: inner steps of AdamW, as in the paper."""
    return _table(WITH_ADAMW, "steps of AdamW")


def _table(ways: Mapping[str, Way], steps: str, also: Sequence[float] = ()) -> Table:
    rows = []
    for name, way in counted(list(ways.items()), "Training", each=2.0):
        ends = in_turn([partial(trained, way, rate) for rate in (*also, way.best)], RANKS, cluster())
        sums = [event for event in ends[0].trace.of_rank(0) if event.kind == "all_reduce"]
        nbytes = sum(sent(event, RANKS) for event in sums)
        losses = [f"{Digits().loss(end.w):.3f}" for end in ends]
        rows.append([name, str(len(sums)), f"{nbytes / 1e3:,.0f} kB", *losses[:-1], f"{losses[-1]} at {way.best:g}"])
    head = ["", "all-reduces", "a rank sends", *(f"loss, rate {rate:g}" for rate in also), "loss, its best rate"]
    caption = f"{RANKS} ranks, {LOCAL_STEPS} {steps} each, examples divided by class"
    return Table(f"{caption}. DiLoCo: outer rate {OUTER_RATE:g}, momentum {MOMENTUM:g}", head, rows)


@one_thread()  # small products: two threads would wait for each other
def tuned(way: Way) -> float:
    """The learning rate of RATES with which the loss ends lowest, in one process."""

    def loss(rate: float) -> float:
        start, (period, outer_rate, momentum, *_) = Digits().start(), way
        gradients = [way.of(rank) for rank in range(RANKS)]
        w = sequential_diloco(gradients, start, LOCAL_STEPS, rate, period, outer_rate, momentum)
        return Digits().loss(w)

    return min(RATES, key=loss)
