"""Goodput over the interval between checkpoints: by the formula, and lived through."""

from __future__ import annotations

from lockstep.bottlenecks.failures import live
from lockstep.cost.loading import best_interval, goodput
from lockstep.show.chart import Chart
from lockstep.show.curves import curves

WRITE, BETWEEN, RESTART = 60.0, 4 * 3600.0, 600.0  # seconds
MINUTES = (2, 5, 10, 20, 40, 80, 160, 320)


def goodput_chart(days: int = 30) -> Chart:
    """The share of the time that a job keeps: a checkpoint takes a minute, failures come every four hours, a restart
    takes ten minutes. Each point of "one job" is a life of so many days of training, drawn by a seed."""
    found = {
        "by the formula": {float(m): 100 * goodput(60 * m, WRITE, BETWEEN, RESTART) for m in MINUTES},
        "one job": {
            float(m): 100 * live(60 * m, WRITE, BETWEEN, RESTART, days * 86_400, seed=m).goodput for m in MINUTES
        },
    }
    best = best_interval(WRITE, BETWEEN) / 60
    return curves(
        found, "minutes between checkpoints", "% of the time kept", "Goodput", {"Young’s interval": best}, log="x"
    )
