"""Which knob makes a fit parallel: turn up one at a time, and measure whether other threads or processes take over."""

from __future__ import annotations

from lockstep.classical.knobs import Measure

KINDS = ("serial", "openmp", "blas", "threads", "processes")
LEAST = 0.25  # the share of the CPU time, above that with every knob at 1


def classify_parallelism(measure: Measure) -> str:
    """The kind of parallelism behind ``measure(openmp=1, blas=1, n_jobs=1) -> Usage``: one of KINDS.

    With every knob at 1, spinning threads may already burn CPU time: only the increase is due to a knob.
    """
    idle = measure()
    runs = {"openmp": measure(openmp=2), "blas": measure(blas=2), "n_jobs": measure(n_jobs=2)}
    taken_over = {knob: run.elsewhere - idle.elsewhere for knob, run in runs.items()}
    knob = max(taken_over, key=lambda k: taken_over[k])
    if taken_over[knob] < LEAST:
        return "serial"
    if knob != "n_jobs":
        return knob
    by_children, by_helpers = runs[knob].children - idle.children, runs[knob].helpers - idle.helpers
    return "processes" if by_children > by_helpers else "threads"
