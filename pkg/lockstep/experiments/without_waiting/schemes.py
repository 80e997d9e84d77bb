"""The synchronization schemes compared: who waits for whom, what it costs, and how stale the gradients are.

    all-reduce       all wait for the slowest, and for the all-reduce
    delayed          all wait for the slowest; the all-reduce is hidden; each gradient is one step old
    synchronous      a server takes the mean of all gradients; all wait for the slowest
    bound            a server applies each gradient as it arrives; a worker that is too far ahead waits
    asynchronous     nobody waits; a gradient may be of any age

Each trains ``Digits`` on the same number of workers, with the same rate for each gradient. The time until the loss is
small enough is the product of two: how many gradients it takes, and how long one gradient takes all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.experiments.without_waiting.straggler_trace import Late, drawn
from lockstep.machines import Cluster
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.without_waiting.delayed import delayed
from lockstep.without_waiting.local_sgd import Gradient
from lockstep.without_waiting.parameter_server import parameter_server, staleness_of, synchronous
from lockstep.without_waiting.problems import GRADIENT, Digits, Recorded, cluster
from lockstep.worlds import Result, run

PROBLEM = Digits()
RATE = 4.0  # for the mean gradient of all workers
TARGET = 0.5  # the loss that is wanted; it begins with 2.30
WORKERS, STEPS = 8, 40  # STEPS: of each worker

Seen = list[tuple[float, object]]  # when a gradient was begun, in virtual seconds, and with which w
Scheme = Callable[[Gradient, Tensor, int, float], Tensor]  # (gradient, w, steps, rate): as on each rank of the run


@dataclass(frozen=True)
class Reached:
    """When the loss was small enough for the first time, and how many gradients were in w then."""

    seconds: float
    gradients: int


def all_reduce(gradient: Gradient, w: Tensor, steps: int, rate: float) -> Tensor:
    """Synchronous SGD with an all-reduce in each step, as in unit 05."""
    for step in range(steps):
        g = gradient(w, step)
        dist.all_reduce(g)
        w = w - rate / dist.get_world_size() * g
    return w


def served(bound: float, gradient: Gradient, w: Tensor, steps: int, rate: float) -> Tensor:
    """The parameter server, with the rate of one gradient."""
    return parameter_server(gradient, w, steps, rate / (dist.get_world_size() - 1), bound)


ON_ALL: Mapping[str, Scheme] = {"all-reduce": all_reduce, "delayed all-reduce": delayed}
BOUNDS = {"bound = 0": 0, "bound = 3": 3, "asynchronous": math.inf}
WITH_SERVER: Mapping[str, Scheme] = {
    "synchronous server": synchronous,
    **{name: partial(served, bound) for name, bound in BOUNDS.items()},
}


def trained(name: str, on: Cluster, more: Sequence[Sequence[float]], rate: float = RATE) -> Result:
    """A run of that scheme. ``more``: by worker and step, how many seconds longer it takes. The result's values are
    what each rank's gradients recorded; a server, if there is one, is rank 0."""
    if name in ON_ALL:
        return run(train, ON_ALL[name], 0, more, rate, ranks=len(more), on=on)
    return run(train, WITH_SERVER[name], 1, more, rate, ranks=len(more) + 1, on=on)


def train(scheme: Scheme, servers: int, more: Sequence[Sequence[float]], rate: float) -> Seen:
    """The program of each rank; the first ``servers`` of them compute no gradients."""
    worker, workers = max(0, dist.get_rank() - servers), len(more)
    recorded = Recorded(Late(PROBLEM.of(worker, workers), more[worker]))
    scheme(recorded, PROBLEM.start(), len(more[worker]), rate)
    return recorded.seen


def reached(result: Result, target: float = TARGET) -> Reached | None:
    """When the loss was first at most TARGET; None if never."""
    before = None
    for t, _, w in in_time(result):
        if before is None or (w != before).any():  # in a synchronous step all have the same
            if PROBLEM.loss(torch.from_numpy(w)) <= target:
                return Reached(t, _gradients(result, t))
            before = w
    return None


def in_time(result: Result) -> list[tuple[float, int, Any]]:
    """(seconds, step, w) of all gradients, in the order in which they were begun."""
    return sorted(((t, n, w) for of_rank in result.values for n, (t, w) in enumerate(of_rank)), key=lambda row: row[:2])


def _gradients(result: Result, until: float) -> int:
    """How many gradients rank 0 had by then: received, or as its part of all-reduces."""
    of_server = result.trace.of_rank(0)
    received = sum(e.kind == "recv" and e.end <= until for e in of_server)
    return received + result.trace.ranks * sum(e.kind == "all_reduce" and e.end <= until for e in of_server)


def schemes_table(straggler: float = 4.0, now_and_then: bool = False, rate: float = RATE) -> Table:
    """Time and gradients until the loss is ``TARGET``, for each scheme. One worker takes ``straggler`` times as long as
    the others, or ``now_and_then`` each worker does, in one step out of ten."""
    on, more = stragglers(straggler, now_and_then)
    rows = []
    for name in counted([*ON_ALL, *WITH_SERVER], "Training"):
        result = trained(name, on, more, rate)
        found = reached(result)
        old = staleness_of(result.trace) if name in BOUNDS else {}
        rows.append([name, *_told(found), *_told_staleness(old)])
    caption = f"To a loss of {TARGET:g}: {WORKERS} workers, {_who(straggler, now_and_then)}, rate {rate:g}"
    head = ["scheme", "time to the loss", "gradients to it", "time a gradient", "mean staleness", "largest"]
    return Table(caption, head, rows)


def stragglers(straggler: float, now_and_then: bool, workers: int = WORKERS) -> tuple[Cluster, list[list[float]]]:
    """The machines, and by how much their gradients are delayed."""
    if now_and_then:
        return cluster(), drawn(workers, STEPS, (straggler - 1) * GRADIENT)
    return cluster(straggler), [[0.0] * STEPS] * workers


def _who(straggler: float, now_and_then: bool) -> str:
    if straggler == 1:
        return "all alike"
    slow = "each in one step of ten" if now_and_then else "one of them always"
    return f"{slow} {straggler:g} times as slow"


def _told(found: Reached | None) -> list[str]:
    if found is None:
        return ["never", "", ""]
    ms = 1e3 * found.seconds
    return [f"{ms:.0f} ms", str(found.gradients), f"{ms / found.gradients:.2f} ms"]


def _told_staleness(old: Mapping[int, int]) -> list[str]:
    """The mean and the largest staleness, as text; "" for a scheme without versions."""
    mean = sum(s * n for s, n in old.items()) / max(1, sum(old.values()))
    return [f"{mean:.1f}", str(max(old))] if old else ["", ""]


def staleness_table(straggler: float = 4.0, now_and_then: bool = False) -> Table:
    """The histogram of all gradients of a run by staleness, read off the trace, for several bounds."""
    on, more = stragglers(straggler, now_and_then)
    rows = []
    for name in counted(BOUNDS, "Training"):
        old = staleness_of(trained(name, on, more).trace)
        groups = [sum(n for s, n in old.items() if first <= s <= last) for first, last in GROUPED]
        rows.append([name, *map(str, groups), *_told_staleness(old)])
    who = _who(straggler, now_and_then)
    caption = f"Gradients by staleness: {WORKERS} workers with {STEPS} steps each, {who}"
    head = ["", *(str(a) if a == b else f"{a} to {b}" if b < MANY else f"{a} and more" for a, b in GROUPED)]
    return Table(caption, [*head, "mean", "largest"], rows)


MANY = 10**9
GROUPED = ((0, 0), (1, 3), (4, 7), (8, 15), (16, MANY))  # columns of the histogram, both ends in


def delayed_run(delay: bool = True, ranks: int = 4, steps: int = 4, beta: float = 5e-8) -> Result:
    """Some steps of SGD whose all-reduces take half as long as a gradient, with delay or without: ``.show()`` it."""
    scheme = ON_ALL["delayed all-reduce" if delay else "all-reduce"]
    return run(train, scheme, 0, [[0.0] * steps] * ranks, RATE, ranks=ranks, on=cluster(beta=beta))
