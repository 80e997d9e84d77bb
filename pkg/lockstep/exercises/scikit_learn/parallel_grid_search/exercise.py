"""A grid search in parallel: the scores of the serial one, in one list of tasks, and the estimator left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.classical.fits import fits_seen
from lockstep.classical.folds import Folds
from lockstep.classical.search import score
from lockstep.classical.tasks import recorded
from lockstep.exercises.scikit_learn import workers
from lockstep.exercises.scikit_learn.workers import Answer

FOLDS = (20, 27, 44)  # rows: the mean over unequal folds is not that over the rows
GRID: dict[str, list[Any]] = {"max_depth": [1, 3, 30, 40], "criterion": ["gini", "entropy"]}
CANDIDATES, TASKS = 8, 24
CLONE = "Let every task make a copy of its own: clone(estimator).set_params(**parameters)."
SPLIT = "cv.split gives the folds one after the other, once: make a list before any loop, list(cv.split(X, y))."


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    return (tuple((n_jobs, case.seed) for n_jobs in (4, 1, 3)),)


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Deep trees are best, and those of depths 30 and 40 are the same: there is a tie for the first place."""
    X = np.random.default_rng(seed).integers(-200, 200, (sum(FOLDS), 4)) / 4
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@workers.watching
def watch(fn: Callable[..., Any], call: tuple[int, int]) -> Answer:
    """Makes estimator, data and folds beside the learner's code: they are no plain data."""
    from sklearn.tree import DecisionTreeClassifier

    n_jobs, seed = call
    (X, y), cv, estimator = data(seed), Folds(FOLDS, seed % 1000), DecisionTreeClassifier(random_state=0)
    before, arguments = estimator.get_params(), (estimator, GRID, X, y, cv, n_jobs)
    with recorded() as handed, fits_seen(DecisionTreeClassifier, X, y) as fits:
        found, ended = workers.called(fn, arguments, lambda: handed.explains or fits.contested > 1)
    pair = list(found) if isinstance(found, (tuple, list)) and len(found) == 2 else [found]
    pair = [sorted(map(list, p.items())) if isinstance(p, dict) else plain(p) for p in pair]
    scored = [[len(f.rows), len(f.predicted), len({*f.rows} & {*f.predicted})] for f in fits.every if f.predicted]
    seen = {"pair": pair, "touched": fits.of(estimator) is not None or estimator.get_params() != before}
    seen |= {"splits": cv.calls, "fits": fits.counts, "contested": fits.contested, "scored": scored}
    return workers.facts(handed, ended, n_jobs) | seen | {"kinds": len({str(fit.told) for fit in fits.every})}


def search(call: tuple[int, int], answer: Answer) -> Fault | None:
    """The first thing wrong with one search."""
    pair, table = answer["pair"], scores(call[1])
    right = table.mean(axis=1)
    if answer["contested"] > 1:
        shared = (
            f"{answer['contested']} tasks fit the same estimator. They are threads: each overwrites what the others "
        )
        return Fault("touches-estimator", f"{shared}have set and learned. {CLONE}")
    if not (len(pair) == 2 and isinstance(pair[0], list) and all(isinstance(p, list) for p in pair[0])):
        wanted = f"a pair (dict of parameters, list of mean scores) is wanted; this is {' and '.join(map(told, pair))}."
        return workers.lost(answer, "the score") or Fault("wrong-type", wanted)
    if 0 < answer["fits"][1] < TASKS:
        return Fault("used-up", f"{answer['fits'][1]} trees were fitted, not {TASKS}. {SPLIT}")
    means = pair[1] if isinstance(pair[1], list) else []
    if len(means) != CANDIDATES or not all(isinstance(m, (int, float)) for m in means):
        return Fault("wrong-shape", f"the mean score of each of {CANDIDATES} candidates is wanted, in a list; the "
                     f"second of the pair is {told(pair[1])}.")  # fmt: skip
    if answer["splits"] > 1:
        return Fault("splits-again", f"cv.split is called {answer['splits']} times, and draws other folds each time. "
                     "Candidates are only comparable on the same folds: split once.")  # fmt: skip
    if not np.allclose(means, right):
        return workers.lost(answer, "the score") or wrong_means(np.array(means), table, answer)
    if answer["touched"]:
        return Fault("touches-estimator", f"the estimator that you were given has been changed or fitted. {CLONE}")
    return wrong_best(dict(pair[0]), right)


def candidates() -> list[dict[str, Any]]:
    from sklearn.model_selection import ParameterGrid

    return list(ParameterGrid(GRID))


def scores(seed: int) -> np.ndarray:
    """Of every candidate (row) on every fold (column)."""
    from sklearn.tree import DecisionTreeClassifier

    (X, y), tree = data(seed), DecisionTreeClassifier(random_state=0)
    folds = list(Folds(FOLDS, seed % 1000).split(X))
    return np.array([[score(tree, p, X, y, train, test) for train, test in folds] for p in candidates()])


def wrong_means(means: np.ndarray, table: np.ndarray, answer: Answer) -> Fault:
    right, scored = table.mean(axis=1), answer["scored"]
    if np.allclose(np.sort(means), np.sort(right)):
        return Fault("unordered", "these are the right scores, in another order than ParameterGrid(grid).")
    if answer["kinds"] == 1:
        return Fault("same-parameters", "all trees are fitted with the same parameters: set_params(**parameters).")
    known = next(((fitted, tested, both) for fitted, tested, both in scored if both), None)
    if known:
        told = "a tree that was fitted to {} rows is scored on {} rows, {} of which it was fitted to. ".format(*known)
        return Fault("scores-known-rows", f"{told}So it looks better than it is: fit to train, score on test.")
    if scored and scored[0][0] < scored[0][1]:
        told = "a tree is fitted to {} rows and scored on {}: train and test are exchanged. ".format(*scored[0])
        return Fault("swapped", f"{told}cv.split gives (train, test).")
    if np.allclose(means, table.T.reshape(table.shape).mean(axis=1)):
        return Fault("mixed-up", "scores of different candidates are averaged. Look at the order of your tasks: which "
                     "index runs faster, that of the fold or that of the candidate?")  # fmt: skip
    wrong = np.flatnonzero(~np.isclose(means, right))
    at, on_folds = wrong[0], ", ".join(f"{s:.4f}" for s in table[wrong[0]])
    return Fault("not-the-mean", f"candidate {at} scores {on_folds} on the folds, {right[at]:.4f} in the mean; you "
                 f"return {means[at]:.4f} ({len(wrong)} of {CANDIDATES} are wrong).")  # fmt: skip


def wrong_best(chosen: dict[str, Any], right: np.ndarray) -> Fault | None:
    known, first = candidates(), int(right.argmax())
    if chosen not in known:
        return Fault("wrong-best", f"{chosen} is no candidate of the grid. Return its dict of parameters.")
    at = known.index(chosen)
    if at != first and np.isclose(right[at], right[first]):
        return Fault(
            "last-of-ties", f"candidates {first} and {at} have the same score. The first of the best is wanted."
        )
    best = f"you choose candidate {at}, with {right[at]:.4f}; the largest score is {right[first]:.4f}."
    return Fault("wrong-best", best) if at != first else None


def waste(call: tuple[int, int], answer: Answer) -> Fault | None:
    return workers.handed_out(answer, TASKS, "candidate and fold") or workers.done_by_caller(answer, TASKS)


EXERCISE = Exercise(
    number=4,
    title="A parallel grid search",
    points=3,
    minutes=25,
    parameters="estimator, grid, X, y, cv, n_jobs",
    reference="lockstep.classical.search:parallel_grid_search",
    cases=lambda ranks, seed: [Case(1, seed, settings={"told": "8 candidates, 3 folds and n_jobs = 4, 1 and 3"})],
    inputs=inputs,
    watch=watch,
    examine=workers.examining(inputs, search),
    economise=workers.economising(inputs, waste),
    hints=(
        *workers.HINTS,
        (r"set_params\(\) takes 1 positional", "set_params wants names: set_params(**parameters) unpacks the dict."),
        (r"'generator' has no len|cannot reshape array of size 3 ", SPLIT),
    ),
    worlds=(1,),
    pure=True,
    real=True,
)  # fmt: skip
