"""The race: one model, one target loss, eight machines, and eight ways to train. Which is first? That depends.

    time       virtual seconds until the loss is reached
    bytes      that all ranks together have sent until then
    updates    gradients of a minibatch, of all ranks together, that were begun until then

``race(straggler=4, link="slow")`` runs all of METHODS on a virtual cluster whose rank 1 takes four times as long for
its computation, and returns the three numbers of each. ``recorded()`` has them for a grid of settings.

- The digits are divided by class (alpha = 0.3), so that models drift apart where they are not averaged often.
- The loss is that of all 1,280 digits, at the parameters that a method has at that time: those that all ranks share; of
  a server those that it has sent last; where each rank has its own, their mean, which no rank has computed.
- Of an all-reduce of N bytes each rank sends 2(K-1)/K·N, the least there is; of an all-gather that brings N, (K-1)/K·N.
- A server is one of the eight machines. It computes no gradients, and the other seven share the digits.
- Gradients are rounded to multiples of GRID. Many elements of a gradient are equal, and which of them are among the
  largest would depend on the last bit, so on the processor.
- A method has the learning rate of RATES with which it took the fewest updates on the fast link without a straggler
  (``tune``), and keeps it in all settings.

Everything is virtual and seeded: the same setting gives the same numbers again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor

from lockstep.errors import UsageError
from lockstep.events import Event
from lockstep.machines import Link
from lockstep.show.race_results import RANKS, TARGET, Arrival, Race, recorded
from lockstep.tally import counted
from lockstep.this_machine.measure import one_thread
from lockstep.without_waiting.compression_with_error_feedback import (
    compressed_sgd,
    topk_with_error_feedback,
    uncompressed,
)
from lockstep.without_waiting.delayed import delayed
from lockstep.without_waiting.gossip import d_psgd, ring
from lockstep.without_waiting.local_sgd import Gradient, local_sgd, post_local_sgd
from lockstep.without_waiting.parameter_server import parameter_server
from lockstep.without_waiting.problems import Digits, Recorded, cluster
from lockstep.worlds import run

__all__ = ["LINKS", "METHODS", "RATES", "STRAGGLERS", "Arrival", "Method", "Race", "grid", "race", "recorded", "tune"]

PROBLEM = Digits(alpha=0.3)
STRAGGLERS = (1, 4, 16)  # times as long as the others
LINKS: Mapping[str, Link] = {  # a gradient takes 1 ms, and a message with all parameters
    "fast": Link(20e-6, 1e-9),  # 0.025 ms
    "slow": Link(200e-6, 1e-7),  # 0.72 ms
    "very slow": Link(1e-3, 1e-6),  # 6.2 ms
}
GRID = 2.0**-24
RATES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
Train = Callable[[Gradient, Tensor, int, float], Tensor]  # gradient, w, steps of each rank, learning rate
Path = tuple[list[float], NDArray[np.float64]]  # of a rank: when it had which parameters
State = tuple[float, NDArray[np.float64]]


@dataclass(frozen=True)
class Method:
    """A way to train. ``has``: whose parameters count: those that all ranks "share", a "server"'s, or the "mean" of the
    ranks' own. ``steps``: of each rank, more than it needs."""

    name: str
    train: Train
    rate: float
    steps: int
    has: str = "share"


def synchronous(gradient: Gradient, w: Tensor, steps: int, rate: float) -> Tensor:
    return compressed_sgd(gradient, w, steps, rate, uncompressed)


def largest(gradient: Gradient, w: Tensor, steps: int, rate: float) -> Tensor:
    """Top-k with error feedback: 20 of 650 elements are sent."""
    return compressed_sgd(gradient, w, steps, rate, partial(topk_with_error_feedback, k=20))


def served(gradient: Gradient, w: Tensor, steps: int, rate: float, bound: float) -> Tensor:
    return parameter_server(gradient, w, steps if dist.get_rank() else None, rate, bound)


METHODS = (
    Method("synchronous", synchronous, 4.0, 50),
    Method("delayed by a step", delayed, 2.0, 70),
    Method("server, bound 3", partial(served, bound=3), 0.5, 60, "server"),
    Method("server, asynchronous", partial(served, bound=math.inf), 0.5, 60, "server"),
    Method("local SGD, period 8", partial(local_sgd, period=8), 4.0, 100, "mean"),
    Method("post-local SGD", partial(post_local_sgd, period=8, switch=16), 4.0, 100, "mean"),
    Method("gossip on a ring", partial(d_psgd, mixing=ring(RANKS)), 2.0, 90, "mean"),
    Method("top-k, 20 of 650", largest, 4.0, 50),
)


def race(straggler: float = 4, link: str | Link = "slow", methods: Sequence[Method] = METHODS) -> Race:
    """Run each method with rank 1 ``straggler`` times as slow as the others, on a ``link`` of LINKS or one of your own:
    ``Link(alpha, beta)``, in seconds and seconds a byte. Takes some seconds, and shows progress.

    Raises UsageError for an unknown link, or a straggler below 1."""
    name, own = _link(link)
    if not 1 <= straggler < math.inf:
        raise UsageError(f"A straggler takes at least as long as the others, not {straggler!r} times.", "Try 4.")
    return Race(straggler, name, [arrival(m, straggler, name, own) for m in counted(methods, "Racing", each=2.0)])


def arrival(method: Method, straggler: float, name: str, link: Link) -> Arrival:
    """One run of a method: its price until it reaches TARGET."""
    result = run(train, method, ranks=RANKS, on=cluster(straggler, link.alpha, link.beta))
    end, lowest = reached(states(method.has, result.values))
    until = math.inf if end is None else end
    updates = sum(t < until for times, _ in result.values for t in times[:-1])
    nbytes = round(sum(sent(event) for event in result.trace if event.end <= until))
    return Arrival(method.name, straggler, name, end, nbytes, updates, lowest)


def reached(states: Iterator[State]) -> tuple[float | None, float]:
    """When the loss was at most TARGET for the first time, None if never; and the lowest loss until then."""
    lowest = math.inf
    with one_thread():
        for now, w in states:
            lowest = min(lowest, PROBLEM.loss(torch.from_numpy(w)))
            if lowest <= TARGET:
                return now, lowest
    return None, lowest


def train(method: Method) -> Path:
    """The program of every rank: which parameters it had at the beginning of each of its gradients, and at the end."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    own = PROBLEM.of(rank - 1, ranks - 1) if method.has == "server" else PROBLEM.of(rank, ranks)
    gradient = Recorded(rounded(own))
    w = method.train(gradient, PROBLEM.start(), method.steps, method.rate)
    times, ws = zip(*gradient.seen, (time.perf_counter(), w.numpy()), strict=True)
    return list(times), np.stack(ws)


def rounded(gradient: Gradient) -> Gradient:
    """The same gradient in multiples of GRID: their sums are exact, and what is equal by the formula is equal."""
    return lambda w, step: gradient(w, step).div_(GRID).round_().mul_(GRID)


def states(has: str, paths: Sequence[Path]) -> Iterator[State]:
    """The times at which the method's parameters changed, and the parameters, in order."""
    if has == "share":
        yield from zip(*paths[0], strict=True)
        return
    steps = sorted((now, rank, n) for rank, (times, _) in enumerate(paths) for n, now in enumerate(times))
    own = [ws[0] for _, ws in paths]
    for (now, rank, n), (later, *_) in zip(steps, [*steps[1:], (math.inf, 0, 0)], strict=True):
        own[rank] = paths[rank][1][n]
        if has == "server":
            yield now, own[rank]
        elif later > now:
            yield now, np.mean(own, axis=0)


def sent(event: Event) -> float:
    """Bytes that a rank sends for this event."""
    shares = {"send": 1.0, "all_reduce": 2 * (RANKS - 1) / RANKS, "all_gather": (RANKS - 1) / RANKS}
    return event.nbytes * shares.get(event.kind, 0.0)


def tune(method: Method) -> dict[float, int | None]:
    """By learning rate, the number of updates on the fast link without a straggler; None: more than the limit."""
    found = {}
    for rate in RATES:
        tried = Method(method.name, method.train, rate, method.steps, method.has)
        made = arrival(tried, 1, "fast", LINKS["fast"])
        found[rate] = made.updates if made.seconds is not None else None
    return found


# ---- the grid


def grid(full: bool = False) -> list[Race]:
    """The recorded races; with ``full=True`` run anew, which takes a minute or two."""
    if not full:
        return recorded()
    settings = [(s, link) for s in STRAGGLERS for link in LINKS]
    return [race(s, link) for s, link in settings]


def _link(link: str | Link) -> tuple[str, Link]:
    if isinstance(link, Link):
        return f"α = {link.alpha:g} s, {link.bandwidth / 1e6:g} MB/s", link
    if link not in LINKS:
        raise UsageError(f"There is no link {link!r}.", f"Choose one of {', '.join(LINKS)}, or give a Link.")
    return link, LINKS[link]
