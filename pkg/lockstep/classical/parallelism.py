"""What runs in parallel inside a fit? Turn up one knob at a time, and see whether others take over a share."""

from __future__ import annotations

from lockstep.classical.knobs import Measure

KINDS = ("serial", "openmp", "blas", "threads", "processes")
LEAST = 0.2  # more of the CPU time than with every knob at 1


def classify_parallelism(measure: Measure) -> str:
    """The kind of parallelism behind ``measure(openmp=1, blas=1, n_jobs=1) -> Usage``: one of KINDS.

    With every knob at 1, threads may already burn CPU without any work: what a knob does is what comes on top.
    """
    idle = measure().elsewhere
    runs = {"openmp": measure(openmp=2), "blas": measure(blas=2), "n_jobs": measure(n_jobs=2)}
    taken_over = {knob: run.elsewhere - idle for knob, run in runs.items()}
    knob = max(taken_over, key=lambda k: taken_over[k])
    if taken_over[knob] < LEAST:
        return "serial"
    if knob != "n_jobs":
        return knob
    return "processes" if runs[knob].children > runs[knob].helpers else "threads"
