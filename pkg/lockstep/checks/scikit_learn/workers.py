"""What all exercises on joblib's Parallel have in common: is the work handed out, to as many workers as asked for?"""

from __future__ import annotations

from lockstep.checks.judge import Fault
from lockstep.checks.scikit_learn.tasks import Log


def handed_out(log: Log, n_jobs: int, tasks: int, noun: str) -> Fault | None:
    """None if one call of Parallel got ``tasks`` tasks or more, with ``n_jobs`` workers. ``noun`` names a task."""
    if n_jobs == 1:
        return None
    if not any(entry["tasks"] for entry in log):
        told = f"With n_jobs={n_jobs} nothing was handed to joblib: Parallel(n_jobs=n_jobs)(delayed(f)(...) for ...)."
        if any(entry["n_jobs"] == 1 for entry in log):
            told = f"With n_jobs={n_jobs} you call Parallel with one worker. Hand n_jobs on: Parallel(n_jobs=n_jobs)."
        return Fault("serial", told)
    largest = max(log, key=lambda entry: entry["tasks"])
    if largest["n_jobs"] != n_jobs:
        told = (
            f"You were asked for n_jobs={n_jobs} and started {largest['n_jobs']} workers. Hand n_jobs on to Parallel."
        )
        return Fault("ignores-n_jobs", told)
    if len(log) > 1 and largest["tasks"] < tasks:
        told = (
            f"You call Parallel {len(log)} times, with {_counts(log)} tasks. Each call waits for its slowest task "
            f"before the next one starts. Make one list of tasks, one for each {noun}, and call Parallel once."
        )
        return Fault("barriers", told)
    if largest["tasks"] < tasks:
        told = (
            f"You hand out {largest['tasks']} tasks where there could be {tasks}, one for each {noun}. With more "
            "workers than tasks some have nothing to do, and the slowest task decides."
        )
        return Fault("too-coarse", told)
    return None


def _counts(log: Log) -> str:
    counts = [str(entry["tasks"]) for entry in log]
    return ", ".join(counts[:4] + (["..."] if len(counts) > 4 else []))
