"""A step of k-means in parallel: partial sums are mapped and added. No worker sends its labels, none gets all rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Costs
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.classical.kmeans import parallel_kmeans_step
from lockstep.exercises.scikit_learn.fits import Fits
from lockstep.exercises.scikit_learn.workers import Answer, lost, observed, on_workers

FEATURES, CENTRES = 16, 6  # so many numbers in a sum that what packs them is less than a second count for each
AWAY = 2.0**17 * np.resize([-1, 1, -1], FEATURES)
SIZES = ((4004, 3), (203, 5), (2, 4), (203, 1))  # rows and n_jobs, with large remainders
ALL_ROWS = 8 * SIZES[0][0] * FEATURES  # bytes


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    """Quarters and a little more, sorted, so that the workers' parts differ; no row is near the last centre, none
    between two. They are far from 0: float32 holds neither them nor their sums."""
    dice = np.random.default_rng(case.seed)
    centres = AWAY + np.vstack([dice.integers(0, 800, (CENTRES - 1, FEATURES)) / 4, [10_000.1] * FEATURES])
    X = AWAY + dice.integers(0, 800, (3 * SIZES[0][0], FEATURES)) / 4 + 2.0**-8
    near = np.sort(((X[:, None] - centres) ** 2).sum(axis=2), axis=1)
    X = X[near[:, 0] < near[:, 1]]
    X = X[np.argsort(X[:, 0], kind="stable")]
    whole = [*[centres] * (len(SIZES) - 1), centres.astype(int)]  # whole numbers move, too, and to fractions
    return tuple((X[:: len(X) // rows][:rows], own, n_jobs) for own, (rows, n_jobs) in zip(whole, SIZES, strict=True))


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> Answer:
    return observed(fn, lambda: call, note, call[2], numbers=True)


def note(given: tuple[Any, ...], moved: Any, fits: Fits) -> Answer:
    is_array = isinstance(moved, np.ndarray) and moved.dtype.kind in "fiu"
    return {"value": moved.tolist() if is_array else plain(moved, depth=1)}


def wrong(call: tuple[Any, ...], answer: Answer) -> Fault | None:
    have, want = answer["value"], parallel_kmeans_step(call[0], call[1], 1)
    begin, nothing = f"with {len(call[0]):,} rows, ", lost(answer, "sums and counts")
    if np.shape(have) != want.shape:
        return nothing or Fault("wrong-type", f"{begin}an array of shape {want.shape} is wanted; this is {told(have)}.")
    off = np.argwhere(~np.isclose(have, want, rtol=1e-9, atol=0)).tolist()
    if not off:
        return None
    centre, place = off[0]
    moves = f"coordinate {place} of centre {centre} becomes {have[centre][place]:.10g}, not {want[centre, place]:.10g}"
    wrong = f"{begin}{moves} ({len(off)} of {want.size} coordinates are wrong)."
    return nothing or Fault("wrong-values", wrong, of_which_rows(call, np.array(have)))


def of_which_rows(call: tuple[Any, ...], moved: Any) -> str:
    """Whether these are the centres that some of the rows alone move, or that move with some rows counted twice."""
    X, centres, n_jobs = call
    some = range(1, min(n_jobs, len(X)))
    tried = [(f"the last {m} of the {len(X):,} rows are left out", X[:-m]) for m in some]
    tried += [(f"the first {m} of the {len(X):,} rows are left out", X[m:]) for m in some]
    even = np.linspace(0, len(X), n_jobs + 1).astype(int)[1:-1]
    for cut in (np.array_split(X, n_jobs), np.split(X, even)):
        parts = [part for part in cut if len(part)]
        tried += [
            ("the last row of each part is left out", np.vstack([part[:-1] for part in parts])),
            ("the first row of each part is left out", np.vstack([part[1:] for part in parts])),
            (
                "the last row of each part but the last is left out",
                np.vstack([*(p[:-1] for p in parts[:-1]), parts[-1]]),
            ),
            ("the first row of each part but the first counts twice", np.vstack([X, *(p[:1] for p in parts[1:])])),
            ("the last row of each part but the last counts twice", np.vstack([X, *(p[-1:] for p in parts[:-1])])),
        ]
    fitting = dict.fromkeys(told for told, rows in tried if len(rows) and _moves(rows, centres, moved))
    return f"These are the centres where {' or '.join(fitting)}." if fitting else ""


def _moves(rows: Any, centres: Any, moved: Any) -> bool:
    return np.allclose(parallel_kmeans_step(rows, centres, 1), moved, rtol=1e-12, atol=0)


def of_calls(seen: Seen, what: str) -> list[int]:
    """Of the call with many rows."""
    return [call[what] for call in seen.returned[0][0]["calls"]]


# What cannot be weighed counts as all rows.
SENT = Measure(lambda seen: sum(of_calls(seen, "sent")) or ALL_ROWS, "byte", "{} go to the workers",
               "{} to the workers", "bytes sent")  # fmt: skip
RETURNED = Measure(lambda seen: max(of_calls(seen, "returned"), default=0), "byte", "a worker sends back {}",
                   "{} from each", "bytes returned")  # fmt: skip

EXERCISE = on_workers(
    case="4,004 rows and fewer, 6 centres and n_jobs = 1 to 5",
    task="part",
    tasks=lambda call: min(call[2], len(call[0])),
    inputs=inputs,
    watch=watch,
    wrong=wrong,
    number=3,
    title="A parallel step of k-means",
    minutes=30,
    parameters="X, centres, n_jobs",
    reference="lockstep.classical.kmeans:parallel_kmeans_step",
    costs=Costs(
        algorithm="a step of k-means",
        budgets=(
            Budget(
                SENT,
                lambda case: ALL_ROWS,
                "n·d·8",
                at_most=1.5,
                at_least=1 / 16,
                advice="Hand each worker its own "
                "part of the rows, once; on threads, too. A function that names X takes all of X along.",
            ),
            Budget(
                RETURNED,
                lambda case: 8 * CENTRES * (FEATURES + 1),
                "8·k·(d + 1)",
                at_most=1.15,
                slack=lambda case: 400,
                advice="Send no labels and no rows, on threads, too: do the adding where the rows are. One count for "
                "each centre is enough.",
            ),
        ),
    ),
    comparison=Comparison(footprint=lambda seen: [round(10 * m.count(seen) / ALL_ROWS) for m in (SENT, RETURNED)]),
)
