"""What waiting costs, and what not waiting costs: two short measurements of lesson 06, in virtual time."""

from __future__ import annotations

import math
from functools import partial

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.experiments.without_waiting.your_line import in_turn
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.without_waiting.delayed import delayed
from lockstep.without_waiting.local_sgd import Gradient, local_sgd
from lockstep.without_waiting.parameter_server import parameter_server, staleness_of
from lockstep.without_waiting.problems import BATCH, CLASSES, GRADIENT, PIXELS, Digits, cluster
from lockstep.worlds import Result, run

RANKS, STEPS, RATE = 4, 100, 0.5
CLUSTERS = {
    "all alike": cluster(),
    "one rank 4 times slower": cluster(straggler=4),
    "a link 100 times slower": cluster(beta=1e-7),
}


def waiting_table() -> Table:
    """Milliseconds a step, with the all-reduce after each gradient and with a delay of one step, and the losses after
    STEPS steps."""
    rows = []
    for name, on in counted(CLUSTERS.items(), "Training", each=4):
        ends = in_turn([partial(_trained, delay) for delay in (False, True)], RANKS, on)
        times = [f"{1e3 * end.trace.time / STEPS:.2f} ms" for end in ends]
        rows.append([name, *times, *(f"{Digits().loss(end.w):.3f}" for end in ends)])
    head = ["machines", "a step, synchronous", "a step, delayed", "loss, synchronous", "loss, delayed"]
    return Table(f"{RANKS} ranks, {STEPS} steps; a gradient takes {GRADIENT * 1e3:g} ms", head, rows)


def _trained(delay: bool) -> Tensor:
    problem = Digits()
    mine = problem.of(dist.get_rank(), dist.get_world_size())
    return delayed(mine, problem.start(), STEPS, RATE) if delay else local_sgd(mine, problem.start(), STEPS, RATE, 1)


def asynchronous_staleness(workers: int = 8, steps: int = STEPS) -> dict[int, int]:
    """{staleness: gradients} of an asynchronous parameter server whose workers are all equally fast."""
    return staleness_of(asynchronous_run(workers, steps).trace)


def asynchronous_run(workers: int = 4, steps: int = 3) -> Result:
    """A server, rank 0, and its workers, each of which makes ``steps`` gradients; ``.show()`` draws it."""
    return run(_asynchronous, steps, costly, ranks=workers + 1, on=cluster())


def _asynchronous(steps: int, gradient: Gradient) -> None:
    w = Digits().start()
    parameter_server(gradient, w, steps if dist.get_rank() else None, RATE, math.inf)


def costly(w: Tensor, step: int) -> Tensor:
    """A gradient that takes as long as one of ``Digits``, without the digits."""
    batch, weights = torch.zeros(BATCH, PIXELS, dtype=w.dtype), torch.zeros(PIXELS, CLASSES, dtype=w.dtype)
    batch.T @ (batch @ weights)
    return torch.zeros_like(w)
