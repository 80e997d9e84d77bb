"""Three programs with one decision left open, which lesson 06 asks for: they run the learner's line.

``parameter_server.py``, ``local_sgd.py`` and ``compression_with_error_feedback.py`` have the whole algorithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.events import Event, Trace
from lockstep.machines import Cluster
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.without_waiting.compression_with_error_feedback import topk_with_error_feedback
from lockstep.without_waiting.local_sgd import Gradient
from lockstep.without_waiting.parameter_server import staleness_of, work
from lockstep.without_waiting.problems import CLASSES, Digits, cluster
from lockstep.worlds import run

MayBegin = Callable[[int, list[int], float], bool]  # (step, what each other worker has done, bound)
Meets = Callable[[int, int, int], bool]  # (step, steps, period) -> whether all average after this step
Left = Callable[[Tensor, Tensor], Tensor]  # (total, sent) -> the residual

Program = Callable[[], Tensor]  # on a rank: the parameters that it ends with

RATE, WORKERS, SLOW = 0.5, 4, 4.0  # SLOW: times that the straggler takes
STEPS, LOCAL_STEPS, SENDING_STEPS = 40, 128, 64  # of a worker; of local SGD; of compressed SGD
PERIODS = (1, 8, 64)


def driven_server(
    w: Tensor,
    rate: float,
    bound: float,
    may_begin: MayBegin,
) -> Tensor:
    done = dict.fromkeys(range(1, dist.get_world_size()), 0)
    waiting = set(done)
    message = w.new_empty(1 + len(w))  # more to come? gradient
    while done:
        for r in sorted(waiting):
            others = [n for s, n in done.items() if s != r]
            if may_begin(done[r], others, bound):
                dist.send(w, r)
                waiting.remove(r)
        r = dist.recv(message)  # from whoever is first
        w = w - rate * message[1:]
        done[r] += 1  # steps of worker r
        waiting.add(r)
        if not message[0]:  # that was its last step
            del done[r]
            waiting.remove(r)
    return w


class Done(NamedTuple):
    """The parameters that rank 0 has at the end, and what was recorded of that program alone."""

    w: Tensor
    trace: Trace


def in_turn(programs: Sequence[Program], ranks: int, on: Cluster) -> list[Done]:
    """Run the programs one after another in the same run, each after a barrier: starting a run takes longer than
    training."""

    def each() -> list[Tensor]:
        ended = []
        for program in programs:
            dist.barrier()
            ended.append(program())
        return ended

    ran = run(each, ranks=ranks, on=on)
    begins = [event.end for event in ran.trace.of_rank(0) if event.kind == "barrier"]
    parts = []
    for begin, end in zip(begins, [*begins[1:], math.inf], strict=True):
        own = [event for event in ran.trace if begin <= event.posted and event.end < end and event.kind != "barrier"]
        parts.append(Trace.of([_earlier(event, begin) for event in own], ranks))
    return [Done(*pair) for pair in zip(ran.values[0], parts, strict=True)]


def _earlier(event: Event, by: float) -> Event:
    return event._replace(start=event.start - by, end=event.end - by, posting=event.posted - by)


def served(bound: float, may_begin: MayBegin) -> Tensor:
    """A program for every rank: rank 0 serves, the others train."""
    rank, workers, problem = dist.get_rank(), dist.get_world_size() - 1, Digits()
    if rank == 0:
        return driven_server(problem.start(), RATE / workers, bound, may_begin)
    return work(problem.of(rank - 1, workers), problem.start(), STEPS)


def bounds_table(may_begin: MayBegin, bounds: Sequence[float] = (0, 1, 4, math.inf), workers: int = WORKERS) -> Table:
    """A training with each bound, where rank 1 takes SLOW times as long for a gradient: when the others are done."""
    rows = []
    done = in_turn([partial(served, bound, may_begin) for bound in bounds], workers + 1, cluster(SLOW))
    for bound, (w, trace) in zip(bounds, done, strict=True):
        stale = staleness_of(trace)
        fast = max(event.end for event in trace.of_kind("send") if event.rank > 1)
        mean = sum(age * number for age, number in stale.items()) / sum(stale.values())
        told = "none" if bound == math.inf else f"{bound:g}"
        loss = f"{Digits().loss(w):.3f}"
        rows.append([told, f"{fast * 1e3:.0f} ms", f"{trace.time * 1e3:.0f} ms", f"{mean:.1f}", str(max(stale)), loss])
    head = ["bound", "the fast workers end after", "all end after", "staleness, mean", "most", "loss at the end"]
    caption = f"{workers} workers, {STEPS} steps each; one takes {SLOW:g} times as long for a gradient. By your line"
    return Table(caption, head, rows)


def driven_local(gradient: Gradient, w: Tensor, steps: int, rate: float, period: int, meets: Meets) -> Tensor:
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if meets(step, steps, period):
            dist.all_reduce(w)
            w = w / dist.get_world_size()
    return w


def meets(step: int, steps: int, period: int) -> bool:
    """Whether models are averaged after this step: after every ``period`` steps, and after the last one."""
    return (step + 1) % period == 0 or step + 1 == steps


def averaged(period: int, meets: Meets, alpha: float | None) -> Tensor:
    """A program for every rank: examples divided evenly, or by class (``alpha``, see ``Digits``)."""
    problem = Digits(alpha=alpha)
    mine = problem.of(dist.get_rank(), dist.get_world_size())
    return driven_local(mine, problem.start(), LOCAL_STEPS, RATE, period, meets)


def local_loss(period: int, alpha: float | None = None, ranks: int = 8) -> float:
    """The loss after that training, by the library's ``meets``: with the periods of the table, which often follows."""
    periods = PERIODS if period in PERIODS else (period,)
    return Digits().loss(_ended(meets, periods, alpha, ranks)[periods.index(period)].w)


def _ended(by: Meets, periods: tuple[int, ...], alpha: float | None, ranks: int) -> list[Done]:
    """The trainings by this line. The library's own are cached; a learner's are not, since what the line reads may have
    changed."""
    return _by_the_librarys(periods, alpha, ranks) if by is meets else _trained(by, periods, alpha, ranks)


@cache
def _by_the_librarys(periods: tuple[int, ...], alpha: float | None, ranks: int) -> list[Done]:
    return _trained(meets, periods, alpha, ranks)


def _trained(by: Meets, periods: tuple[int, ...], alpha: float | None, ranks: int) -> list[Done]:
    return in_turn([partial(averaged, period, by, alpha) for period in periods], ranks, cluster())


def periods_table(meets: Meets, periods: Sequence[int] = PERIODS, alpha: float | None = None, ranks: int = 8) -> Table:
    """That training with each period."""
    problem, rows = Digits(), []
    for period, (w, trace) in zip(periods, _ended(meets, tuple(periods), alpha, ranks), strict=True):
        number = sum(event.kind == "all_reduce" for event in trace.of_rank(0))
        rows.append([str(period), str(number), f"{problem.loss(w):.3f}", f"{problem.accuracy(w):.1%}"])
    dealt = "dealt out evenly" if alpha is None else "divided by class"
    head = ["period", "all-reduces", "loss", "test digits that are right"]
    return Table(f"{ranks} ranks, {LOCAL_STEPS} steps each, examples {dealt}", head, rows)


def classes_table(alpha: float = 0.1, ranks: int = 8) -> Table:
    """How many examples of each digit each rank has."""
    rows = []
    for rank in range(ranks):
        _, y = Digits(alpha=alpha).examples(rank, ranks)
        rows.append([str(rank), *(str(n) if n else "" for n in torch.bincount(y, minlength=CLASSES).tolist())])
    return Table("Examples of each digit", ["rank", *map(str, range(CLASSES))], rows)


def driven_topk(gradient: Gradient, w: Tensor, steps: int, rate: float, k: int, left: Left) -> Tensor:
    residual = torch.zeros_like(w)
    for step in range(steps):
        total = gradient(w, step) + residual
        mean, kept = topk_with_error_feedback(total, torch.zeros_like(total), k)
        w = w - rate * mean
        residual = left(total, total - kept)
    return w


def largest(k: int, left: Left) -> Tensor:
    """A program for every rank: it sends the k largest of 650 numbers."""
    problem = Digits()
    mine = problem.of(dist.get_rank(), dist.get_world_size())
    return driven_topk(mine, problem.start(), SENDING_STEPS, RATE, k, left)


def thrown_away(total: Tensor, sent: Tensor) -> Tensor:
    return torch.zeros_like(total)


def feedback_table(left: Left, sizes: Sequence[int] = (650, 65, 6), ranks: int = WORKERS) -> Table:
    """That training for some k: with the residual that ``left`` keeps, and with none."""
    rows = []
    for k in counted(sizes, "Training", each=1):
        ends = in_turn([partial(largest, k, way) for way in (left, thrown_away)], ranks, cluster())
        rows.append([str(k), f"{k / 650:.0%}", *(f"{Digits().loss(end.w):.3f}" for end in ends)])
    head = ["k", "of 650", "loss, residual by your line", "loss, residual thrown away"]
    told = "A loss a little below that of 100 %, in one training, proves nothing."
    return Table(f"{ranks} ranks, {SENDING_STEPS} steps. {told}", head, rows)
