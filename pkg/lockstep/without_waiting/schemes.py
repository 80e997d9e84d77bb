"""The four schemes side by side: who waits for whom, what it costs, and how stale the gradients are.

    all-reduce       all wait for the slowest, and for the all-reduce
    delayed          all wait for the slowest; the all-reduce is hidden; each gradient is one step old
    synchronous      a server takes the mean of all gradients; all wait for the slowest
    bound            a server takes each gradient as it comes; who is too far ahead waits
    asynchronous     nobody waits; a gradient may be of any age

Each trains ``Digits`` on the same number of workers, with the same rate for each gradient. The time until the loss is
small enough is the product of two: how many gradients it takes, and how long one gradient takes all of them together.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.machines import Cluster
from lockstep.tables import Table
from lockstep.without_waiting.delayed import delayed
from lockstep.without_waiting.parameter_server import Gradient, parameter_server, synchronous
from lockstep.without_waiting.problems import Digits, Recorded, cluster
from lockstep.without_waiting.staleness import staleness_of
from lockstep.worlds import Result, run

PROBLEM = Digits()
RATE = 0.5  # for the mean gradient of all workers
TARGET = 0.7  # the loss that is wanted; it begins with 2.30

Seen = list[tuple[float, object]]  # when a gradient was begun, in virtual seconds, and with which w
Scheme = Callable[[Gradient, Tensor, int, float], Tensor]  # (gradient, w, steps, rate): as on each rank of the run


@dataclass(frozen=True)
class Reached:
    """When the loss was small enough first, and how many gradients were in w then."""

    seconds: float
    gradients: int


def all_reduce(gradient: Gradient, w: Tensor, steps: int, rate: float) -> Tensor:
    """What unit 05 does."""
    for step in range(steps):
        g = gradient(w, step)
        dist.all_reduce(g)
        w = w - rate / dist.get_world_size() * g
    return w


def served(bound: float, gradient: Gradient, w: Tensor, steps: int, rate: float) -> Tensor:
    """The parameter server with the rate of one gradient."""
    return parameter_server(gradient, w, steps, rate / (dist.get_world_size() - 1), bound)


ON_ALL: Mapping[str, Scheme] = {"all-reduce": all_reduce, "delayed all-reduce": delayed}
BOUNDS = {"bound = 0": 0, "bound = 4": 4, "asynchronous": math.inf}
WITH_SERVER: Mapping[str, Scheme] = {
    "synchronous server": synchronous,
    **{name: partial(served, bound) for name, bound in BOUNDS.items()},
}


def trained(name: str, on: Cluster, workers: int, steps: int, rate: float = RATE) -> Result:
    """A run of that scheme. Its values are what each rank's gradients saw; a server, if there is one, is rank 0."""
    if name in ON_ALL:
        return run(_train, ON_ALL[name], 0, steps, rate, ranks=workers, on=on)
    return run(_train, WITH_SERVER[name], 1, steps, rate, ranks=workers + 1, on=on)


def _train(scheme: Scheme, servers: int, steps: int, rate: float) -> Seen:
    rank, workers = dist.get_rank() - servers, dist.get_world_size() - servers
    recorded = Recorded(PROBLEM.of(max(0, rank), workers))
    scheme(recorded, PROBLEM.start(), steps, rate)
    return recorded.seen


def reached(result: Result, target: float = TARGET) -> Reached | None:
    """None if the last w is not good enough. The loss falls, but for noise: where it crosses is found by bisection."""
    seen = sorted(((t, n, w) for of_rank in result.values for n, (t, w) in enumerate(of_rank)), key=lambda row: row[:2])

    def good(row: tuple[float, int, Any]) -> bool:
        return PROBLEM.loss(torch.from_numpy(row[2])) <= target

    if not good(seen[-1]):
        return None
    t = seen[bisect_left(seen, True, key=good)][0]
    return Reached(t, _gradients(result, t))


def _gradients(result: Result, until: float) -> int:
    """How many gradients rank 0 had by then: received, or as its part of all-reduces."""
    of_server = result.trace.of_rank(0)
    received = sum(e.kind == "recv" and e.end <= until for e in of_server)
    return received + result.trace.ranks * sum(e.kind == "all_reduce" and e.end <= until for e in of_server)


def schemes_table(straggler: float = 4.0, jitter: float = 0.0, workers: int = 4, steps: int = 60) -> Table:
    """Time and gradients until the loss is ``TARGET``, for each scheme; one worker takes ``straggler`` times as long as
    the others. With ``jitter`` the time of each of a worker's matrix products varies, by that coefficient of variation.
    """
    on = machines(straggler, jitter)
    rows = []
    for name in [*ON_ALL, *WITH_SERVER]:
        result = trained(name, on, workers, steps)
        found = reached(result)
        old = staleness_of(result.trace) if name in BOUNDS else {}
        mean = sum(s * n for s, n in old.items()) / max(1, sum(old.values()))
        rows.append(
            [
                name,
                f"{1e3 * found.seconds:.0f} ms" if found else "never",
                str(found.gradients) if found else "",
                f"{1e3 * found.seconds / found.gradients:.2f} ms" if found else "",
                f"{mean:.1f}" if old else "",
                str(max(old)) if old else "",
            ]
        )
    slow = f"one of them {straggler:g} times slower" if straggler != 1 else "all alike"
    varied = f", times vary by {jitter:.0%}" if jitter else ""
    head = ["scheme", "time to the loss", "gradients to it", "time a gradient", "mean staleness", "largest"]
    return Table(f"To a loss of {TARGET:g}: {workers} workers, {slow}{varied}", head, rows)


def machines(straggler: float, jitter: float, seed: int = 0) -> Cluster:
    on = cluster(straggler)
    return on.with_jitter(compute=jitter, seed=seed) if jitter else on


def staleness_table(straggler: float = 4.0, workers: int = 4, steps: int = 60) -> Table:
    """Of all gradients of a run, how many were how stale: read off the trace, for several bounds."""
    names = ["bound = 0", "bound = 4", "asynchronous"]
    found = [staleness_of(trained(name, machines(straggler, 0.0), workers, steps).trace) for name in names]
    rows = [[name, *(str(old.get(s, 0)) for s in range(6)), str(sum(n for s, n in old.items() if s > 5)), str(max(old))]
            for name, old in zip(names, found, strict=True)]  # fmt: skip
    caption = f"Gradients by staleness: {workers} workers with {steps} steps each, one {straggler:g} times slower"
    return Table(caption, ["", *map(str, range(6)), "6 and more", "largest"], rows)


def delayed_run(delay: bool = True, ranks: int = 4, steps: int = 4, beta: float = 5e-8) -> Result:
    """Some steps of SGD whose all-reduces take nearly as long as a gradient, with delay or without: ``.show()`` it."""
    scheme = ON_ALL["delayed all-reduce" if delay else "all-reduce"]
    return run(_train, scheme, 0, steps, RATE, ranks=ranks, on=cluster(beta=beta))
