"""``parallel_grid_search``: the scores of the serial search, in one list of tasks, and the estimator left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.plain import plain
from lockstep.checks.scikit_learn.folds import Folds
from lockstep.checks.scikit_learn.tasks import NOTHING, Log, lost
from lockstep.checks.scikit_learn.workers import handed_out
from lockstep.checks.values import told

POINTS = 3
JOBS = (2, 1, 3)
SPLITS = 3
GRID: dict[str, list[Any]] = {"max_depth": [1, 3, 30, 40], "criterion": ["gini", "entropy"]}
CANDIDATES = 8

Scores = Callable[[Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray], float]  # estimator, X, y, train, test


def _cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"told": f"{CANDIDATES} candidates, {SPLITS} folds and n_jobs = 2, 1 and 3"})]


def _data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Deep trees are best, and those of depths 30 and 40 are the same: there is a tie for the first place."""
    random = np.random.default_rng(seed)
    X = random.integers(-50, 50, (90, 4)).astype(float)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple((n_jobs, case.seed) for n_jobs in JOBS)


def _folds(seed: int) -> Folds:
    return Folds(SPLITS, seed % 1000)


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Makes estimator, data and folds beside the learner's code: they are no plain data."""
    from sklearn.tree import DecisionTreeClassifier

    from lockstep.checks.scikit_learn.tasks import recorded

    n_jobs, seed = arguments
    X, y = _data(seed)
    estimator, cv = DecisionTreeClassifier(random_state=0), _folds(seed)
    before = estimator.get_params()
    with recorded() as log:
        returned = fn(estimator, GRID, X, y, cv, n_jobs)
    touched = hasattr(estimator, "tree_") or estimator.get_params() != before
    return {"returned": _kept(returned), "touched": touched, "splits": cv.calls, "log": log}


def _kept(returned: Any) -> Any:
    """The pair as plain data: a dict becomes a list of pairs."""
    if isinstance(returned, (tuple, list)) and len(returned) == 2 and isinstance(returned[0], dict):
        return [[[str(k), plain(v)] for k, v in sorted(returned[0].items())], plain(returned[1])]
    return plain(returned)


def _examine(seen: Seen) -> Fault | None:
    for arguments, answer in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        fault = _one(arguments[1], answer)
        if fault:
            return Fault(fault.misconception, f"With n_jobs={arguments[0]}: {fault.message}")
    return None


def _one(seed: int, answer: dict[str, Any]) -> Fault | None:
    """The first thing wrong with one search."""
    returned = answer["returned"]
    if any(entry["by"].startswith("sklearn.model_selection._search") for entry in answer["log"]):
        return Fault("library-search", "this is the search of scikit-learn. Here you write it yourself: the list of "
                     "candidates and folds, and the task that scores one of them.")  # fmt: skip
    if lost(answer["log"]):
        return Fault("shared-list", f"{NOTHING} Return the score.")
    if not (isinstance(returned, list) and len(returned) == 2 and isinstance(returned[0], list)):
        if isinstance(returned, list) and len(returned) == 2 and isinstance(returned[0], (int, float)):
            return Fault("wrong-best", "the first of the pair is a number; wanted is the dict of parameters of the "
                         "best candidate.")  # fmt: skip
        return Fault("wrong-type", f"a pair (best parameters, mean scores) is wanted; this is {told(returned)}.")
    best, means = returned
    numbers = isinstance(means, list) and all(isinstance(m, (int, float)) for m in means)
    if not numbers or len(means) != CANDIDATES:
        wanted = f"{CANDIDATES} numbers, one for each candidate"
        return Fault("wrong-shape", f"the second of the pair is {told(means)}; wanted are {wanted}, in their order.")
    if answer["splits"] > 1:
        return Fault("splits-again", f"cv.split is called {answer['splits']} times, and draws other folds each time. "
                     "Candidates are only comparable on the same folds: split once.")  # fmt: skip
    right = _means(seed, _score)
    fault = None if np.allclose(means, right) else _wrong_means(seed, np.array(means), right)
    if fault:
        return fault
    if answer["touched"]:
        return Fault("touches-estimator", "the estimator that you were given has been changed or fitted. Every task "
                     "works on a copy: sklearn.base.clone(estimator).set_params(**parameters).")  # fmt: skip
    return _wrong_best(best, right)


def _wrong_means(seed: int, means: np.ndarray, right: np.ndarray) -> Fault:
    for id, message, scores in WRONG_SCORES:
        if np.allclose(means, _means(seed, scores)):
            return Fault(id, message)
    if np.allclose(means, right * SPLITS):
        return Fault("sums", "these are sums over the folds. Return means.")
    if np.allclose(np.sort(means), np.sort(right)):
        return Fault("unordered", "these are the right scores, in another order than ParameterGrid(grid).")
    if np.ptp(means) < 1e-12:
        return Fault("same-parameters", "all candidates have the same score. Does each task set its parameters?")
    if np.allclose(means, np.resize(_table(seed, _score).T.ravel(), right.size * SPLITS).reshape(-1, SPLITS).mean(1)):
        return Fault("mixed-up", "scores of different candidates are averaged. Look at the order of your tasks: which "
                     "index runs faster, that of the fold or that of the candidate?")  # fmt: skip
    wrong = int((~np.isclose(means, right)).sum())
    at = int((~np.isclose(means, right)).argmax())
    return Fault("wrong-values", f"{wrong} of {CANDIDATES} mean scores are wrong; the one at {at} is {means[at]:.4f}, "
                 f"not {right[at]:.4f}.")  # fmt: skip


def _wrong_best(best: Sequence[Any], right: np.ndarray) -> Fault | None:
    named = dict(best)
    candidates = _grid()
    if named not in candidates:
        return Fault("wrong-best", f"{named} is no candidate of the grid. Return its dict of parameters.")
    at, first = candidates.index(named), int(right.argmax())
    if at == first:
        return None
    if np.isclose(right[at], right[first]):
        told = f"candidates {first} and {at} have the same score. The first of several best ones is wanted."
        return Fault("last-of-ties", told)
    if np.isclose(right[at], right.min()):
        return Fault("picks-worst", "this is the worst candidate: the largest score is the best.")
    return Fault("wrong-best", f"candidate {at} has the score {right[at]:.4f}; the best has {right[first]:.4f}.")


def _grid() -> list[dict[str, Any]]:
    from sklearn.model_selection import ParameterGrid

    return list(ParameterGrid(GRID))


def _table(seed: int, scores: Scores) -> np.ndarray:
    """The score of every candidate (row) on every fold (column)."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = _data(seed)
    folds = list(_folds(seed).split(X, y))
    return np.array([
        [scores(DecisionTreeClassifier(random_state=0, **p), X, y, train, test) for train, test in folds]
        for p in _grid()
    ])  # fmt: skip


def _means(seed: int, scores: Scores) -> np.ndarray:
    found: np.ndarray = _table(seed, scores).mean(axis=1)
    return found


def _score(estimator: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    return float(estimator.fit(X[train], y[train]).score(X[test], y[test]))


def _on_training(estimator: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    return float(estimator.fit(X[train], y[train]).score(X[train], y[train]))


def _leak(estimator: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    return float(estimator.fit(X, y).score(X[test], y[test]))


def _swapped(estimator: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    return float(estimator.fit(X[test], y[test]).score(X[train], y[train]))


WRONG_SCORES: Sequence[tuple[str, str, Scores]] = (
    ("scores-training-rows", "you score on the rows that you fitted. Deep trees look perfect there. Score on the rows "
     "of the fold that were left out.", _on_training),
    ("leak", "you fit to all the rows, those of the fold included. Fit to the rows `train` only.", _leak),
    ("swapped", "train and test are exchanged: cv.split gives (train, test).", _swapped),
)  # fmt: skip


def _cost(seen: Seen) -> list[Fault]:
    for arguments, answer in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        fault = _validated_by_library(answer["log"]) or handed_out(
            answer["log"], arguments[0], tasks=CANDIDATES * SPLITS, noun="candidate and fold"
        )
        if fault:
            return [fault]
    return []


def _validated_by_library(log: Log) -> Fault | None:
    """cross_val_score and its like call Parallel themselves, inside of tasks or in a loop."""
    calls = sum(entry["by"].startswith("sklearn.model_selection") for entry in log)
    if not calls:
        return None
    message = (
        f"cross_val_score, or what you use in its place, calls Parallel itself, {calls} times here, each for one "
        "candidate. Its folds are then no tasks of yours. Fit and score in your own task: one for each candidate and "
        "fold."
    )
    return Fault("barriers", message)


def _judge(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _examine, _cost)


SEARCH = Exercise(
    id="scikit_learn.parallel_grid_search",
    title="A parallel grid search",
    points=POINTS,
    minutes=25,
    parameters="estimator, grid, X, y, cv, n_jobs",
    cases=_cases,
    inputs=_calls,
    judge=_judge,
    reference="lockstep.classical.search:parallel_grid_search",
    worlds=(1,),
    pure=True,
    watch=_watch,
    real=True,
)
