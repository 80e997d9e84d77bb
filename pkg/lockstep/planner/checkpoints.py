"""How many steps between two checkpoints: ``invoice``'s best interval, as a whole number of steps.

    d   seconds to write a checkpoint      M   seconds between two interruptions   R   seconds of a restart

    loss(t) = d/t + (t/2 + R)/M            least at t = sqrt(2·d·M)          goodput = 1/(1 + loss)

The loss is convex in t, so of whole numbers of steps one of the two next to the best t is best: the better one, which
need not be the nearer one. R costs goodput, and has no say in t.

Source: Young, "A first order approximation to the optimum checkpoint interval", CACM 1974.
"""

from __future__ import annotations

from math import floor

from lockstep.cost.loading import best_interval, goodput, lost

SECONDS_PER_HOUR = 3600


def checkpoint_interval(
    step: float, nbytes: float, bandwidth: float, gpu_hours: float, gpus: int, restart: float
) -> tuple[int, float]:
    """The best number of steps, 1 or more, and the goodput. ``step`` and ``restart`` in seconds, ``nbytes`` of a
    checkpoint, ``bandwidth`` in bytes a second; ``gpu_hours``: of one GPU, from one interruption to the next."""
    writing, between = nbytes / bandwidth, SECONDS_PER_HOUR * gpu_hours / gpus
    fewer = max(1, floor(best_interval(writing, between) / step))
    steps = min(fewer, fewer + 1, key=lambda n: lost(n * step, writing, between, restart))
    return steps, goodput(steps * step, writing, between, restart)
