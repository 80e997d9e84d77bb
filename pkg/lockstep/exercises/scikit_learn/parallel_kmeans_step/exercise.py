"""A step of k-means in parallel: partial sums are mapped and added. No worker sends its labels, none gets all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.plain import plain
from lockstep.checks.transforms import changed_tensors
from lockstep.checks.values import told
from lockstep.classical.kmeans import parallel_kmeans_step, sums_and_counts
from lockstep.classical.tasks import recorded
from lockstep.exercises.scikit_learn import workers
from lockstep.exercises.scikit_learn.workers import Answer

FEATURES, CENTRES = 3, 6
SIZES = ((4004, 3), (203, 5), (2, 4), (203, 1))  # rows and n_jobs, with large remainders
SLACK = 1024  # bytes: what pickling adds to a few small arrays
ONCE = 1.5  # times all rows: how much may go to the workers
LEAST = 1 / 16  # of all rows: float64 sent as int8 is 1/8


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    """Quarters, sorted, so that the workers' parts differ; no row is near the last centre, none between two."""
    random = np.random.default_rng(case.seed)
    centres = np.vstack([random.integers(0, 800, (CENTRES - 1, FEATURES)) / 4, [10_000.0] * FEATURES])
    X = random.integers(0, 800, (3 * SIZES[0][0], FEATURES)) / 4
    near = np.sort(((X[:, None] - centres) ** 2).sum(axis=2), axis=1)
    X = X[near[:, 0] < near[:, 1]]
    X = X[np.argsort(X[:, 0], kind="stable")]
    return (tuple((X[:: len(X) // rows][:rows], centres, n_jobs) for rows, n_jobs in SIZES),)


@workers.watching
def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> Answer:
    X, centres, n_jobs = call
    with recorded() as handed:  # a learner may move the given centres themselves: the next call gets its own
        moved, ended = workers.called(fn, (X.copy(), centres.copy(), n_jobs), lambda: handed.explains)
    number = isinstance(moved, np.ndarray) and moved.dtype.kind in "fiu"
    return {**workers.facts(handed, ended, n_jobs), "centres": torch.tensor(moved) if number else plain(moved, depth=1)}


def examine(call: tuple[Any, ...], answer: Answer) -> Fault | None:
    X, given, _ = call
    held, centres, right = answer["centres"], torch.tensor(given), torch.tensor(parallel_kmeans_step(X, given, 1))
    begin = f"with {len(X):,} rows, "
    if not isinstance(held, torch.Tensor):
        wanted = f"{begin}an array of numbers is wanted; this is {told(held)}."
        return workers.lost(answer, "sums and counts") or Fault("wrong-type", wanted)
    if held.shape != right.shape:
        shapes = f"the result has the shape {tuple(held.shape)}; the centres have {tuple(right.shape)}."
        return Fault("wrong-shape", begin + shapes)
    wrong = (~torch.isclose(held.double(), right, rtol=1e-9, atol=0)).any(dim=1)
    if not wrong.any():
        return None
    if answer["lost"]:
        return workers.lost(answer, "sums and counts")
    at = int(wrong.int().argmax())
    counts = sums_and_counts(X, given)[1]
    if not counts[wrong.numpy()].any():
        now = [round(v, 3) for v in held[at].tolist()]
        return Fault("empty-centre", f"{begin}centre {at}, which no row is nearest to, becomes {now}. It stays.")
    change = changed_tensors([held], [right], [centres])
    off = (~torch.isclose(held[at].double(), right[at], rtol=1e-9, atol=0)).tolist().index(True)
    value, wanted = (f"{float(values[at, off]):.10g}" for values in (held, right))
    moves = f"{begin}coordinate {off} of centre {at} becomes {value}, not {wanted} "
    moves += f"({int(wrong.sum())} of {len(right)} centres are wrong)."
    return Fault(change[0] if change else "wrong-values", f"{moves} {change[1] if change else ''}".strip())


def waste(call: tuple[Any, ...], answer: Answer) -> Fault | None:
    """Too little or too much on the way to the workers and back; of a few rows nothing is said."""
    X, centres, n_jobs = call
    fault = workers.handed_out(answer, min(n_jobs, len(X)), "part")
    if fault or len(X) < 1000:
        return fault
    numbers, calls = centres.size + len(centres), answer["calls"]
    back, there, tasks = (
        max(c["returned"] for c in calls),
        sum(c["sent"] for c in calls),
        sum(c["tasks"] for c in calls),
    )
    wanted = f"a worker's sums and counts are k·(d + 1) = {numbers} numbers, however many rows it has"
    if 0 < back * tasks < 4 * numbers:  # as float32
        told = f"the {tasks} tasks send back {back} bytes each, and {wanted}: the centres are not made of these."
        return Fault("not-by-messages", told)
    if 0 < there < LEAST * X.nbytes:  # 0 is what cannot be weighed
        return Fault("called-at-once", f"{there:,} bytes go to the workers; all rows are {X.nbytes:,}. So the rows are "
                     "added up before any worker begins. What stands in the brackets of a task is computed at once, by "
                     "the caller: hand each worker its rows, delayed(f)(part).")  # fmt: skip
    if back > 2 * 8 * numbers + SLACK:
        return Fault("sends-labels", f"a worker sends back {back:,} bytes; {wanted}. Send no labels and no rows: do "
                     f"the adding where the rows are.{threads(answer)}")  # fmt: skip
    if there > ONCE * X.nbytes:
        return Fault("sends-everything", f"{there:,} bytes go to the workers, in {tasks:,} tasks; all rows are "
                     f"{X.nbytes:,}. Hand each worker its own part of the rows, once. A function that names X takes "
                     f"all of X along.{threads(answer)}")  # fmt: skip
    return None


def threads(answer: Answer) -> str:
    shared = any(c["shared"] for c in answer["calls"])
    return " (Threads copy nothing; what is counted is what processes would be sent.)" if shared else ""


EXERCISE = Exercise(
    number=3,
    title="A parallel step of k-means",
    points=3,
    minutes=30,
    parameters="X, centres, n_jobs",
    reference="lockstep.classical.kmeans:parallel_kmeans_step",
    cases=lambda ranks, seed: [Case(1, seed, settings={"told": "4,004 rows and fewer, 6 centres and n_jobs = 1 to 5"})],
    inputs=inputs,
    watch=watch,
    examine=workers.examining(inputs, examine),
    economise=workers.economising(inputs, waste),
    alike=lambda seen: [answer["centres"] for answer in seen.returned[0][0]],
    hints=(
        *workers.HINTS,
        (r"for \+: 'int' and 'tuple'", "sum cannot add pairs. Add their parts: sum(s for s, _ in found), and the same "
         "for the counts."),
        (r"shapes \((\d+),\d+\) \(\1,\)", "Each row is to be divided by its own count: counts[:, None] makes a column "
         "of the counts."),
        (r"shapes \(\d+,(\d+)\) \(\d+,1\)|shapes \(\d+,\) \(\d+,\)", "There is not a count for each centre. "
         "np.bincount is only as long as its largest label: np.bincount(..., minlength=len(centres))."),
        (r"index \d+ is out of bounds for axis 0 with size (.|\n)*argmin", "The distances have a row for each row of "
         "X: argmin(axis=1) is the nearest centre of each."),
    ),
    worlds=(1,),
    pure=True,
    real=True,
)  # fmt: skip
