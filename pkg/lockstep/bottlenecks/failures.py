"""Goodput: the share of a job's time that the training keeps, lived through in virtual time, failure by failure.

    ████████ write ████████ write █████ failure   restart   ████████ write …
                                  ╰ lost: redone after the restart

Failures come at random (a Poisson process). After one the job restarts, and begins again at the last checkpoint. The
formula for the mean is ``cost.loading.goodput``; this draws one life, and counts.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from lockstep.errors import UsageError


@dataclass(frozen=True)
class Life:
    """Where the seconds of a job went: ``kept`` training, ``writing`` checkpoints, ``lost`` work, ``restarting``."""

    kept: float
    writing: float
    lost: float
    restarting: float
    failures: int

    @property
    def time(self) -> float:
        return self.kept + self.writing + self.lost + self.restarting

    @property
    def goodput(self) -> float:
        return self.kept / self.time


def live(interval: float, write: float, between: float, restart: float, work: float, seed: int = 0) -> Life:
    """A job of ``work`` seconds of training, with a checkpoint after every ``interval`` seconds of it, which takes
    ``write`` seconds; failures every ``between`` seconds on average, and ``restart`` seconds after each.

    A failure may fall into a write, which is lost then; none falls into a restart. Raises UsageError where the job
    would hardly ever end: an interval and a write that last over 20 times as long as the mean time between failures."""
    if not (interval > 0 and between > 0 and write >= 0 and restart >= 0):
        raise UsageError("Interval and time between failures are above zero, write and restart not below.")
    if interval + write > 20 * between:
        raise UsageError("This job would not end: it fails long before each checkpoint.", "Give a shorter interval.")
    rng = random.Random(seed)
    kept = writing = lost = 0.0
    failures, until = 0, rng.expovariate(1 / between)
    while kept < work:
        own = min(interval, work - kept)
        if until >= own + write:
            until -= own + write
            kept, writing = kept + own, writing + write
        else:
            lost, failures = lost + until, failures + 1
            until = rng.expovariate(1 / between)
    return Life(kept, writing, lost, failures * restart, failures)
