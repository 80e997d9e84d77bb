"""``parallel_kmeans_step``: partial sums are mapped and added; no worker sends its labels, none gets all the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.plain import plain
from lockstep.checks.scikit_learn.handed import NOTHING, named
from lockstep.checks.scikit_learn.tasks import Log, lost
from lockstep.checks.scikit_learn.workers import handed_out
from lockstep.checks.values import told

POINTS = 3
ROWS, FEATURES, CENTRES = 4003, 3, 6
SLACK = 1024  # bytes: what pickling adds to a few small arrays
ONCE = 1.5  # times all rows: how much may go to the workers
LEAST = 1 / 16  # of all rows: float64 sent as int8 is 1/8

Step = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def _cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"told": f"{ROWS:,} rows, {CENTRES} centres and n_jobs = 3, 1, 2 and 4"})]


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    """Whole numbers, sorted, so that the workers' parts differ; the last centre is so far away that no row is near."""
    random = np.random.default_rng(case.seed)
    centres = np.vstack([random.permutation(200)[: CENTRES - 1], *random.integers(0, 200, (2, CENTRES - 1))]).T
    centres = np.vstack([centres, [10_000] * FEATURES]).astype(float)
    X = random.integers(0, 200, (2 * ROWS, FEATURES)).astype(float)
    near = np.sort(_squares(X, centres), axis=1)
    X = X[near[:, 0] < near[:, 1]][:ROWS]  # no row lies between two centres
    X = X[np.argsort(X[:, 0], kind="stable")]
    return (X, centres, 3), (X, centres, 1), (X, centres, 2), (X[:2], centres, 4)


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    from lockstep.checks.scikit_learn.tasks import recorded

    X, centres, n_jobs = arguments
    with recorded() as log:  # a learner may move the given centres themselves: the next call gets its own
        moved = fn(X.copy(), centres.copy(), n_jobs)
    array = torch.tensor(moved) if isinstance(moved, np.ndarray) and moved.dtype.kind in "fiu" else None
    return {"centres": array, "returned": plain(moved, depth=1), "list": isinstance(moved, list), "log": log}


def _squares(X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    found: np.ndarray = ((X[:, None, :] - centres[None]) ** 2).sum(axis=2)
    return found


def _sums(X: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    chosen = np.eye(len(centres))[_squares(X, centres).argmin(axis=1)]  # (n, k), one 1 a row
    return chosen.T @ X, chosen.sum(axis=0)


def _serial(X: np.ndarray, centres: np.ndarray, n_jobs: int = 1) -> np.ndarray:
    return _mean(*_sums(X, centres), empty=centres)


def _mean(sums: np.ndarray, counts: np.ndarray, empty: np.ndarray | float) -> np.ndarray:
    """Sums by counts, and ``empty`` where nothing was counted."""
    found: np.ndarray = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], empty)
    return found


def _mean_of_means(X: np.ndarray, centres: np.ndarray, n_jobs: int) -> np.ndarray:
    """Each worker's means, averaged over the workers that have any rows of that centre."""
    parts = [_sums(part, centres) for part in np.array_split(X, n_jobs)]
    means = [_mean(sums, counts, 0.0) for sums, counts in parts]
    having = sum((counts > 0).astype(float) for _, counts in parts)
    return _mean(np.asarray(sum(means)), np.asarray(having), centres)


def _mean_of_all(X: np.ndarray, centres: np.ndarray, n_jobs: int) -> np.ndarray:
    """Each worker's next centres, averaged over all workers."""
    found: np.ndarray = np.mean([_serial(part, centres) for part in np.array_split(X, n_jobs)], axis=0)
    return found


def _without_rest(X: np.ndarray, centres: np.ndarray, n_jobs: int) -> np.ndarray:
    return _serial(X[: len(X) // n_jobs * n_jobs], centres)


def _first_part(X: np.ndarray, centres: np.ndarray, n_jobs: int) -> np.ndarray:
    return _serial(np.array_split(X, n_jobs)[0], centres)


def _last_part(X: np.ndarray, centres: np.ndarray, n_jobs: int) -> np.ndarray:
    return _serial(np.array_split(X, n_jobs)[-1], centres)


def _one_row_of_each(X: np.ndarray, centres: np.ndarray, n_jobs: int) -> np.ndarray:
    """``sums[labels] += part`` in each worker: of the rows with one label, the last is added."""
    sums = np.zeros(centres.shape)
    for part in np.array_split(X, n_jobs):
        of_part = np.zeros(centres.shape)
        of_part[_squares(part, centres).argmin(axis=1)] += part
        sums += of_part
    return _mean(sums, _sums(X, centres)[1], empty=centres)


def _by_absolute_distance(X: np.ndarray, centres: np.ndarray, n_jobs: int) -> np.ndarray:
    chosen = np.eye(len(centres))[np.abs(X[:, None, :] - centres[None]).sum(axis=2).argmin(axis=1)]
    return _mean(chosen.T @ X, chosen.sum(axis=0), empty=centres)


_MEANS = (
    "these are averages of the workers' means. A worker with 3 rows of a cluster counts as much there as one with "
    "1,000. Add sums and add counts, and divide once, at the end."
)
_REDUCE = "these are the means of one worker's rows. Add the sums and the counts of all workers first."
WRONG_STEPS: Sequence[tuple[str, str, Step]] = (
    ("mean-of-means", _MEANS, _mean_of_means),
    ("mean-of-means", _MEANS, _mean_of_all),
    ("loses-rows", "the last rows are lost where n_jobs does not divide their number. np.array_split cuts any number.",
     _without_rest),
    ("no-reduce", _REDUCE, _first_part),
    ("no-reduce", _REDUCE, _last_part),
    ("not-divided", "these are sums. Divide them by the counts.", lambda X, c, n: _sums(X, c)[0]),
    ("adds-one-row", "sums[labels] += part adds only one row to each centre: where a label occurs several times, the "
     "last one wins. np.add.at(sums, labels, part) adds them all.", _one_row_of_each),
    ("other-distance", "your rows belong to other centres: this is the distance |x| + |y| + ... Nearest is by the sum "
     "of squares.", _by_absolute_distance),
    ("whole-numbers", "the right centres, cut to whole numbers: your array holds integers. Make it one of floats, "
     "centres.astype(float).", lambda X, c, n: np.trunc(_serial(X, c))),
    ("empty-centre", "a centre without rows became 0. It stays where it is.",
     lambda X, c, n: _mean(*_sums(X, c), empty=0.0)),
    ("unchanged", "the centres are as they were. Return the moved ones.", lambda X, c, n: c),
)  # fmt: skip


def _examine(seen: Seen) -> Fault | None:
    for arguments, answer in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        fault = _one(arguments, answer)
        if fault:
            rows = f"{len(arguments[0]):,} rows and n_jobs={arguments[2]}"
            return Fault(fault.misconception, f"With {rows}: {fault.message}")
    return None


def _one(arguments: tuple[Any, ...], answer: dict[str, Any]) -> Fault | None:
    X, centres, n_jobs = arguments
    if answer["centres"] is None and answer["list"]:
        return Fault("wrong-type", "an array of centres is wanted; this is a list. Make it one: np.array(...).")
    if answer["centres"] is None:
        return Fault("wrong-type", f"an array of centres is wanted; this is {told(answer['returned'])}.")
    held = answer["centres"].numpy()
    if lost(answer["log"]) and not np.array_equal(held, _serial(X, centres)):
        return Fault("shared-list", f"{NOTHING} Return it.")
    if held.shape != centres.shape:
        return Fault("wrong-shape", f"the result has the shape {held.shape}; the centres have {centres.shape}.")
    right = _serial(X, centres)
    if np.allclose(held, right, rtol=1e-9, atol=0):
        return None
    if np.isnan(held).any():
        place = int(np.isnan(held).any(axis=1).argmax())
        return Fault("empty-centre", f"centre {place} is NaN: 0 rows divided by 0. A centre without rows stays put.")
    for id, message, step in WRONG_STEPS:
        if np.allclose(held, step(X, centres, n_jobs), rtol=1e-9, atol=0):
            return Fault(id, message)
    wrong = int((~np.isclose(held, right, rtol=1e-9, atol=0)).any(axis=1).sum())
    at = int((~np.isclose(held, right, rtol=1e-9, atol=0)).any(axis=1).argmax())
    shown = f"centre {at} moves to {np.round(held[at], 3).tolist()}, not to {np.round(right[at], 3).tolist()}"
    return Fault("wrong-values", f"{shown} ({wrong} of {len(centres)} centres are wrong).")


def _cost(seen: Seen) -> list[Fault]:
    for arguments, answer in zip(_calls(seen.case, 0)[:3], seen.returned[0], strict=False):
        fault = _wasteful(arguments, answer["log"])
        if fault:
            return [fault]
    return []


def _wasteful(arguments: tuple[Any, ...], log: Sequence[Any]) -> Fault | None:
    X, centres, n_jobs = arguments
    fault = handed_out(list(log), n_jobs, tasks=n_jobs, noun="part")
    if fault or n_jobs == 1:
        return fault
    least = 2 * 8 * centres.shape[0] * (centres.shape[1] + 1) + SLACK
    back, there = max(entry["returned"] for entry in log), sum(entry["sent"] for entry in log)
    if back > least:
        wanted = f"k·(d + 1) = {centres.shape[0] * (centres.shape[1] + 1)} numbers"
        message = (
            f"With n_jobs={n_jobs} a worker sends back {back:,} bytes. Its sums and its counts are {wanted}, however "
            "many rows it has. Do not send labels or rows: do the adding where the rows are."
            f"{_SHARED if any(entry['shared'] for entry in log) else ''}"
        )
        return Fault("sends-labels", message)
    if 0 < there < LEAST * X.nbytes:  # 0 is what cannot be weighed
        message = (
            f"With n_jobs={n_jobs} only {there:,} bytes go to the workers; all rows together are {X.nbytes:,}. So the "
            "rows were added up before any worker began: what stands in the brackets of a task is computed at once, by "
            "the caller. Hand each worker its rows: delayed(f)(part)."
        )
        return Fault("called-at-once", message)
    if there > ONCE * X.nbytes:
        cause = _cause(list(log), n_jobs)
        message = (
            f"With n_jobs={n_jobs}, {there:,} bytes go to the workers; all rows together are "
            f"{X.nbytes:,}. {cause}{_SHARED if any(entry['shared'] for entry in log) else ''}"
        )
        return Fault("sends-everything", message)
    return None


_SHARED = " (Threads copy nothing; what is counted is what processes would be sent.)"


def _cause(log: Log, n_jobs: int) -> str:
    """Why so many bytes go to the workers."""
    tasks = sum(entry["tasks"] for entry in log)
    if tasks > 10 * n_jobs:
        return f"You make {tasks:,} tasks, and the centres go with each. Hand each worker one part with many rows."
    if len(log) > 1:
        return f"You call Parallel {len(log)} times, and send the rows each time. Sum and count in one task."
    return "Cut the rows first, and hand each worker its own part only. A function that names X takes all of X along."


def _judge(observation: Observation) -> list[Finding]:
    return named(mark(observation, POINTS, _examine, _cost), observation)


KMEANS = Exercise(
    id="scikit_learn.parallel_kmeans_step",
    title="A parallel step of k-means",
    points=POINTS,
    minutes=30,
    parameters="X, centres, n_jobs",
    cases=_cases,
    inputs=_calls,
    judge=_judge,
    reference="lockstep.classical.kmeans:parallel_kmeans_step",
    worlds=(1,),
    pure=True,
    watch=_watch,
    real=True,
)
