"""``parallel_grid_search``: the scores of the serial search, in one list of tasks, and the estimator left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.plain import plain
from lockstep.checks.scikit_learn.fits import fits_counted, fitted_beforehand
from lockstep.checks.scikit_learn.folds import Folds
from lockstep.checks.scikit_learn.handed import NOTHING, ONE_ESTIMATOR, USED_UP, named
from lockstep.checks.scikit_learn.scores import (
    CANDIDATES,
    GRID,
    SPLITS,
    WRONG_REDUCTIONS,
    WRONG_SCORES,
    candidates,
    mean_scores,
    score,
    score_table,
    splitter,
    training_data,
)
from lockstep.checks.scikit_learn.tasks import Log, lost
from lockstep.checks.scikit_learn.workers import handed_out
from lockstep.checks.values import told
from lockstep.errors import UsageError

POINTS = 3
JOBS = (2, 1, 3)


def _cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"told": f"{CANDIDATES} candidates, {SPLITS} folds and n_jobs = 2, 1 and 3"})]


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple((n_jobs, case.seed) for n_jobs in JOBS)


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Makes estimator, data and folds beside the learner's code: they are no plain data."""
    from sklearn.tree import DecisionTreeClassifier

    from lockstep.checks.scikit_learn.tasks import recorded

    n_jobs, seed = arguments
    X, y = training_data(seed)
    estimator, cv = DecisionTreeClassifier(random_state=0), splitter(seed)
    before = estimator.get_params()

    def touched() -> bool:
        return hasattr(estimator, "tree_") or estimator.get_params() != before

    with recorded() as log, fits_counted(DecisionTreeClassifier) as fits:
        try:
            returned = fn(estimator, GRID, X, y, cv, n_jobs)
        except Exception as error:
            behind = _behind(error, cv, touched() and any(entry["shared"] for entry in log))
            if behind is None:
                raise
            raise behind.with_traceback(error.__traceback__) from error
    evidence = {"returned": _kept(returned), "touched": touched(), "splits": cv.calls, "used_up": cv.used_up}
    return {**evidence, "log": log, "fits": fits}


def _behind(error: Exception, cv: Folds, shares_estimator: bool) -> UsageError | None:
    """What lies behind an error of which nobody would guess it."""
    if isinstance(error, NotImplementedError):
        return None
    if cv.used_up:
        return UsageError(f"{USED_UP}: {_EMPTY}", _LIST, "used-up")
    return UsageError(f"{ONE_ESTIMATOR}: {_AT_ONCE}", _CLONE, "touches-estimator") if shares_estimator else None


_EMPTY = (
    "cv.split gives the folds one after the other, once. Your first loop took them all, and the next one found none."
)
_LIST = "Make a list of them before any loop: folds = list(cv.split(X, y))."
_AT_ONCE = "several threads set its parameters and fit it at the same time, and overwrite what the others learned."
_CLONE = "Let every task make a copy of its own: clone(estimator).set_params(**parameters)."


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
    if answer["used_up"]:
        return Fault("used-up", f"your folds are used up: {_EMPTY} {_LIST}")
    best, means = returned
    numbers = isinstance(means, list) and all(isinstance(m, (int, float)) for m in means)
    if not numbers or len(means) != CANDIDATES:
        wanted = f"{CANDIDATES} numbers, one for each candidate"
        folds = " These are as many as folds: the mean is over the folds of each candidate." if _by_fold(means) else ""
        message = f"the second of the pair is {told(means)}; wanted are {wanted}, in their order.{folds}"
        return Fault("wrong-shape", message)
    if answer["splits"] > 1:
        return Fault("splits-again", f"cv.split is called {answer['splits']} times, and draws other folds each time. "
                     "Candidates are only comparable on the same folds: split once.")  # fmt: skip
    right = mean_scores(seed, score)
    fault = None if np.allclose(means, right) else _wrong_means(seed, np.array(means), right)
    if fault and answer["touched"] and any(entry["shared"] for entry in answer["log"]):
        return Fault("touches-estimator", f"{ONE_ESTIMATOR[0].lower()}{ONE_ESTIMATOR[1:]}: {_AT_ONCE} {_CLONE}")
    if fault:
        return fault
    if answer["touched"]:
        return Fault("touches-estimator", "the estimator that you were given has been changed or fitted. Every task "
                     "works on a copy: sklearn.base.clone(estimator).set_params(**parameters).")  # fmt: skip
    return _wrong_best(best, right)


def _by_fold(means: Any) -> bool:
    return isinstance(means, list) and len(means) == SPLITS


def _wrong_means(seed: int, means: np.ndarray, right: np.ndarray) -> Fault:
    for id, message, scores in WRONG_SCORES:
        if np.allclose(means, mean_scores(seed, scores)):
            return Fault(id, message)
    if np.allclose(means, right * SPLITS):
        return Fault("sums", "these are sums over the folds. Return means.")
    for id, message, reduce in WRONG_REDUCTIONS:
        if np.allclose(means, reduce(score_table(seed, score), axis=1)):
            return Fault(id, message)
    if np.allclose(np.sort(means), np.sort(right)):
        return Fault("unordered", "these are the right scores, in another order than ParameterGrid(grid).")
    if np.ptp(means) < 1e-12:
        return Fault("same-parameters", "all candidates have the same score. Does each task set its parameters?")
    if np.allclose(
        means, np.resize(score_table(seed, score).T.ravel(), right.size * SPLITS).reshape(-1, SPLITS).mean(1)
    ):
        return Fault("mixed-up", "scores of different candidates are averaged. Look at the order of your tasks: which "
                     "index runs faster, that of the fold or that of the candidate?")  # fmt: skip
    wrong = int((~np.isclose(means, right)).sum())
    at = int((~np.isclose(means, right)).argmax())
    return Fault("wrong-values", f"{wrong} of {CANDIDATES} mean scores are wrong; the one at {at} is {means[at]:.4f}, "
                 f"not {right[at]:.4f}.")  # fmt: skip


def _wrong_best(best: Sequence[Any], right: np.ndarray) -> Fault | None:
    chosen = dict(best)
    known = candidates()
    if chosen not in known:
        return Fault("wrong-best", f"{chosen} is no candidate of the grid. Return its dict of parameters.")
    at, first = known.index(chosen), int(right.argmax())
    if at == first:
        return None
    if np.isclose(right[at], right[first]):
        told = f"candidates {first} and {at} have the same score. The first of several best ones is wanted."
        return Fault("last-of-ties", told)
    if np.isclose(right[at], right.min()):
        return Fault("picks-worst", "this is the worst candidate: the largest score is the best.")
    return Fault("wrong-best", f"candidate {at} has the score {right[at]:.4f}; the best has {right[first]:.4f}.")


def _cost(seen: Seen) -> list[Fault]:
    for arguments, answer in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        fault = _validated_by_library(answer["log"]) or handed_out(
            answer["log"], arguments[0], tasks=CANDIDATES * SPLITS, noun="candidate and fold"
        )
        fault = fault or fitted_beforehand(answer["fits"], arguments[0])
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
    found = named(mark(observation, POINTS, _examine, _cost), observation)
    return [_torn(finding, observation.failure_with(finding.case)) for finding in found]


def _torn(finding: Finding, failure: Failure | None) -> Finding:
    """Two threads that fit one tree may write to memory that neither owns any more: that ends the process."""
    if failure is None or failure.signal in ("", "SIGKILL"):
        return finding
    told = f"With {finding.case}: {failure.message}"
    why = f"If your tasks are threads that share an estimator, that is why: {_AT_ONCE} {_CLONE}"
    return replace(finding, misconception="touches-estimator", message=f"{told} {why}")


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
