"""A grid search in parallel: the scores of the serial one, in one list of tasks, and the estimator left alone."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart
from lockstep.checks.plain import plain
from lockstep.checks.run_faults import row
from lockstep.checks.values import told
from lockstep.classical.grid_search import parallel_grid_search
from lockstep.exercises.scikit_learn.fits import Fits, fits_seen
from lockstep.exercises.scikit_learn.folds import Folds
from lockstep.exercises.scikit_learn.workers import Answer, lost, observed, on_workers

FOLDS = (20, 27, 44)  # rows: the mean over unequal folds is not that over the rows
DEPTHS, CRITERIA = (1, 3, 30, 40), ("gini", "entropy")
TASKS = 24


def watch(fn: Callable[..., Any], call: tuple[int, int]) -> Answer:
    """Makes estimator, data and folds in the learner's process: they are no plain data. Deep trees are best, and those
    of depths 30 and 40 are the same: there is a tie for the first place."""
    from sklearn.tree import DecisionTreeClassifier as Tree

    n_jobs, seed = call
    X = np.random.default_rng(seed).integers(-200, 200, (sum(FOLDS), 4)) / 4
    y = (X[:, 0] * X[:, 1] > 0).astype(int)

    def given() -> tuple[Any, ...]:
        grid = {"max_depth": [*DEPTHS], "criterion": [*CRITERIA]}
        return Tree(random_state=0), grid, X, y, Folds(FOLDS, seed % 1000), n_jobs

    return observed(fn, given, note, n_jobs, fits_seen(Tree, X, y))


def note(given: tuple[Any, ...], found: Any, fits: Fits) -> Answer:
    """Who was fitted to how many rows and scored on how many, of which it knew how many; as sets, for tasks end in any
    order."""
    estimator, cv = given[0], given[4]
    pair = list(found) if isinstance(found, (tuple, list)) and len(found) == 2 else [found]
    scored = {(len(f.rows), len(f.predicted), len({*f.rows} & {*f.predicted})) for f in fits.every if f.predicted}
    touched = fits.of(estimator) is not None or estimator.get_params() != type(estimator)(random_state=0).get_params()
    value = [sorted(map(list, p.items())) if isinstance(p, dict) else plain(p) for p in pair]
    return {"value": value, "touched": touched, "splits": cv.calls, "scored": sorted(map(list, scored))}


def wrong(call: tuple[int, int], answer: Answer) -> Fault | None:
    right, value = watch(parallel_grid_search, (1, call[1])), answer["value"]
    (best, want), means, nothing = right["value"], row(value[-1]), lost(answer, "the score")
    is_pair = len(value) == 2 and isinstance(value[0], list) and all(isinstance(item, list) for item in value[0])
    off = [i for i, (have, wanted) in enumerate(zip(means, want, strict=False)) if not np.isclose(have, wanted)]
    first = ", that of candidate {} is {}, not {}".format(off[0], *apart(means[off[0]], want[off[0]])) if off else ""
    known = next((scored for scored in answer["scored"] if scored not in right["scored"]), None)
    rules = (
        (answer["contested"] > 1 or answer["touched"], "touches-estimator", "several tasks fit one estimator, or change"
         " the one that you were given; threads overwrite what the others have set and learned. Let every task make a "
         "copy of its own: clone(estimator).set_params(**parameters)."),
        (nothing and (not is_pair or off), "shared-list", nothing and nothing.message),
        (not is_pair or len(means) != len(want), "wrong-type", f"a pair (dict of parameters, list of {len(want)} mean "
         f"scores) is wanted; this is {' and '.join(map(told, value))}."),
        (answer["splits"] > 1, "splits-again", f"cv.split is called {answer['splits']} times, and draws other folds "
         "each time. Candidates are only comparable on the same folds: split once."),
        (off, "wrong-values", f"the mean scores of {len(off)} of {len(want)} candidates are wrong{first}."
         + (" A tree was fitted to {} rows and scored on {}, {} of which it knew.".format(*known) if known else "")),
        (value[0] != best, "wrong-best", f"the largest mean score, the first of equal ones, is that of {dict(best)}."),
    )  # fmt: skip
    return next((Fault(id, str(said), telling=id == "wrong-best") for holds, id, said in rules if holds), None)


EXERCISE = on_workers(
    case="8 candidates, 3 folds and n_jobs = 4, 1 and 3",
    task="candidate and fold",
    tasks=lambda call: TASKS,
    inputs=lambda case, rank: tuple((n_jobs, case.seed) for n_jobs in (4, 1, 3)),
    watch=watch,
    wrong=wrong,
    number=4,
    title="A parallel grid search",
    minutes=25,
    parameters="estimator, grid, X, y, cv, n_jobs",
    reference="lockstep.classical.grid_search:parallel_grid_search",
)
