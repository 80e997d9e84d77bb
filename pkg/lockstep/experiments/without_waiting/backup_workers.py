"""Synchronous SGD with backup workers, the accepted advice: measured under one fixed trace of stragglers.

    synchronous            each step waits for the slowest of N workers
    with b backup workers  each step takes the first N - b gradients; later ones are dropped
    asynchronous           each gradient is applied as it arrives, however stale it is

Asynchronous SGD computes the most gradients a second, since nobody waits; but they are stale, the more so the more
workers there are, so that it needs more of them. A few backup workers recover most of the time lost to stragglers, and
none of their gradients is stale. On this small convex problem both reach the loss in about the same time; with large
deep networks the paper finds that synchronous SGD with backup workers converges faster than asynchronous SGD, and to
better test accuracies.

Source: J. Chen, X. Pan, R. Monga, S. Bengio and R. Jozefowicz, Revisiting Distributed Synchronous SGD, 2016,
arXiv:1604.00981. The trace of stragglers is that of unit 05 (``data_parallel.stragglers.drawn_seconds``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from torch import Tensor

from lockstep.data_parallel.stragglers import drawn_seconds, train_with_backups
from lockstep.experiments.without_waiting.schemes import TARGET, WITH_SERVER, Scheme, in_time, reached, train
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.without_waiting.local_sgd import Gradient
from lockstep.without_waiting.parameter_server import staleness_of
from lockstep.without_waiting.problems import GRADIENT, cluster
from lockstep.worlds import run

WORKERS, STEPS, RATE = 24, 20, 2.0
LEAST = 0.95  # of the time of a gradient: the least in the trace of stragglers
BACKUPS = (0, 2, 4)


@dataclass(frozen=True)
class Trained:
    """What training until the loss was small enough took. ``gradients``: those that the server had received by then,
    ``thrown_away``: those of them that are not in w; ``staleness``: the mean."""

    scheme: str
    seconds: float
    updates: int
    gradients: int
    thrown_away: int
    staleness: float


def with_backups(backups: int, gradient: Gradient, w: Tensor, steps: int, rate: float) -> Tensor:
    return train_with_backups(gradient, w, steps, rate, backups)[0]


@cache
def compared(workers: int = WORKERS, backups: Sequence[int] = BACKUPS) -> list[Trained]:
    """Each scheme once, with the same stragglers in the same steps. Messages take next to no time."""
    found = []
    for b in counted([*backups, None], "Training"):
        scheme = WITH_SERVER["asynchronous"] if b is None else partial(with_backups, b)
        found.append(_trained(scheme, b, stragglers(workers)))
    return found


def stragglers(workers: int) -> list[list[float]]:
    """By worker and step, how much longer a gradient takes: in one step of fifty up to four times as long, otherwise a
    little."""
    by_step = drawn_seconds(workers, STEPS)
    return [[GRADIENT * (seconds[worker] - LEAST) for seconds in by_step] for worker in range(workers)]


def _trained(scheme: Scheme, backups: int | None, more: Sequence[Sequence[float]]) -> Trained:
    on = cluster(alpha=1e-6, beta=1e-10)
    result = run(train, scheme, 1, more, RATE, ranks=len(more) + 1, on=on)
    found = reached(result)
    assert found is not None, "STEPS are too few"
    if backups is None:
        old = staleness_of(result.trace)
        mean = sum(s * n for s, n in old.items()) / sum(old.values())
        return Trained("asynchronous", found.seconds, found.gradients, found.gradients, 0, mean)
    updates = len({w.tobytes() for t, _, w in in_time(result) if t <= found.seconds}) - 1
    name = f"{backups} backup worker{'s' if backups > 1 else ''}" if backups else "synchronous"
    thrown_away = found.gradients - updates * (len(more) - backups)
    return Trained(name, found.seconds, updates, found.gradients, thrown_away, 0.0)


def advice_table() -> Table:
    """Time, updates and gradients until the loss is small enough, for each scheme."""
    rows = [
        [
            one.scheme,
            f"{1e3 * one.seconds:.1f} ms",
            str(one.updates),
            str(one.gradients),
            str(one.thrown_away),
            f"{1e3 * one.seconds / one.gradients:.3f} ms",
            f"{one.staleness:.0f}",
        ]
        for one in compared()
    ]
    head = [
        "scheme",
        "time to the loss",
        "updates of w",
        "gradients",
        "thrown away",
        "time a gradient",
        "mean staleness",
    ]
    return Table(f"To a loss of {TARGET:g}: {WORKERS} workers, each late in one step of fifty", head, rows)
