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
from lockstep.classical.fits import Fits, fits_seen
from lockstep.classical.folds import Folds
from lockstep.classical.search import score
from lockstep.classical.tasks import recorded
from lockstep.exercises.scikit_learn.handed import (
    HINTS, Answer, called, done_by_caller, economising, examining, explains, facts, handed_out, lost, watching,
)  # fmt: skip

JOBS = (4, 1, 3)
FOLDS = (20, 27, 44)  # rows: of unequal folds the mean is not that of the rows
GRID: dict[str, list[Any]] = {"max_depth": [1, 3, 30, 40], "criterion": ["gini", "entropy"]}
CANDIDATES, TASKS = 8, 24
CLONE = "Let every task make a copy of its own: clone(estimator).set_params(**parameters)."


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    return (tuple((n_jobs, case.seed) for n_jobs in JOBS),)


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Deep trees are best, and those of depths 30 and 40 are the same: there is a tie for the first place."""
    X = np.random.default_rng(seed).integers(-200, 200, (sum(FOLDS), 4)) / 4
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@watching
def watch(fn: Callable[..., Any], call: tuple[int, int]) -> Answer:
    """Makes estimator, data and folds beside the learner's code: they are no plain data."""
    from sklearn.tree import DecisionTreeClassifier

    n_jobs, seed = call
    (X, y), cv, estimator = data(seed), Folds(FOLDS, seed % 1000), DecisionTreeClassifier(random_state=0)
    before = estimator.get_params()
    with recorded() as handed, fits_seen(DecisionTreeClassifier, X, y) as fits:
        arguments = (estimator, GRID, X, y, cv, n_jobs)
        returned, ended = called(fn, arguments, lambda: explains(handed) or cv.used_up or fits.contested > 1)
    touched = fits.of(estimator) is not None or estimator.get_params() != before
    return {
        **facts(handed, ended, n_jobs), "returned": pair(returned), "fits": [fits.inside, len(fits.every)],
        "contested": fits.contested, "touched": touched, "splits": cv.calls, "used_up": cv.used_up, **rows(fits),
    }  # fmt: skip


def pair(returned: Any) -> Any:
    """The pair as plain data: a dict becomes a list of pairs."""
    if isinstance(returned, (tuple, list)) and len(returned) == 2 and isinstance(returned[0], dict):
        return [[[str(k), plain(v)] for k, v in sorted(returned[0].items())], plain(returned[1])]
    return plain(returned)


def rows(fits: Fits) -> Answer:
    """Of how many fits the scored rows had been fitted, in part at least; sizes; the candidates that were fitted."""
    scored = [fit for fit in fits.every if fit.predicted]
    sizes = [[len(fit.rows), len(fit.predicted)] for fit in scored]
    known = [len({*fit.rows} & {*fit.predicted}) for fit in scored]
    return {"sizes": sizes, "known": known, "parameters": len({str(fit.parameters) for fit in fits.every})}


def examine(call: tuple[int, int], answer: Answer) -> Fault | None:
    returned = answer["returned"]
    if answer["used_up"]:
        return Fault("used-up", "cv.split gives the folds one after the other, once. A loop took them all, and the next "
                     "one found none. Make a list of them first: folds = list(cv.split(X, y)).")  # fmt: skip
    if answer["contested"] > 1:
        return Fault("touches-estimator", f"{answer['contested']} tasks fit the same estimator. They are threads: each "
                     f"sets its parameters and overwrites what the others learned. {CLONE}")  # fmt: skip
    if not (isinstance(returned, list) and len(returned) == 2 and isinstance(returned[0], list)):
        wanted = f"a pair (dict of parameters, list of mean scores) is wanted; this is {kind(returned)}."
        return lost(answer, "the score") or Fault("wrong-type", wanted)
    best, means = returned
    if not (isinstance(means, list) and len(means) == CANDIDATES and all(isinstance(m, (int, float)) for m in means)):
        wanted = f"{CANDIDATES} numbers, one for each candidate, in their order"
        return lost(answer, "the score") or Fault(
            "wrong-shape", f"the second of the pair is {told(means)}; wanted are {wanted}."
        )
    if answer["splits"] > 1:
        return Fault("splits-again", f"cv.split is called {answer['splits']} times, and draws other folds each time. "
                     "Candidates are only comparable on the same folds: split once.")  # fmt: skip
    table = scores(call[1])
    right = table.mean(axis=1)
    if not np.allclose(means, right):
        return lost(answer, "the score") or wrong_means(np.array(means), table, answer)
    if answer["touched"]:
        return Fault("touches-estimator", f"the estimator that you were given has been changed or fitted. {CLONE}")
    return wrong_best(dict(best), right)


def kind(returned: Any) -> str:
    if isinstance(returned, list) and len(returned) == 2:
        return f"({told(returned[0])}, {told(returned[1])})"
    return told(returned)


def candidates() -> list[dict[str, Any]]:
    from sklearn.model_selection import ParameterGrid

    return list(ParameterGrid(GRID))


def scores(seed: int) -> np.ndarray:
    """Of every candidate (row) on every fold (column)."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = data(seed)
    folds = list(Folds(FOLDS, seed % 1000).split(X))
    tree = DecisionTreeClassifier(random_state=0)
    return np.array([[score(tree, p, X, y, train, test) for train, test in folds] for p in candidates()])


def wrong_means(means: np.ndarray, table: np.ndarray, answer: Answer) -> Fault:
    right = table.mean(axis=1)
    if np.allclose(np.sort(means), np.sort(right)):
        return Fault("unordered", "these are the right scores, in another order than ParameterGrid(grid).")
    if answer["parameters"] == 1:
        return Fault("same-parameters", "all trees are fitted with the same parameters: set_params(**parameters).")
    known = [k for k in answer["known"] if k]
    if known:
        fitted, scored = next(s for s, k in zip(answer["sizes"], answer["known"], strict=True) if k)
        told = f"a tree that was fitted to {fitted} rows is scored on {scored} rows, {known[0]} of which it was fitted "
        return Fault("scores-known-rows", f"{told}to: it looks better than it is. Fit to train, score on test.")
    if answer["sizes"] and all(fitted < scored for fitted, scored in answer["sizes"][:2]):
        fitted, scored = answer["sizes"][0]
        told = f"a tree is fitted to {fitted} rows and scored on {scored}: train and test are exchanged. cv.split gives "
        return Fault("swapped", f"{told}(train, test).")
    if np.allclose(means, table.T.reshape(table.shape).mean(axis=1)):
        return Fault("mixed-up", "scores of different candidates are averaged. Look at the order of your tasks: which "
                     "index runs faster, that of the fold or that of the candidate?")  # fmt: skip
    at = int((~np.isclose(means, right)).argmax())
    on_folds = ", ".join(f"{s:.4f}" for s in table[at])
    told = f"candidate {at} scores {on_folds} on the folds, {right[at]:.4f} in the mean; you return {means[at]:.4f} "
    return Fault("not-the-mean", f"{told}({int((~np.isclose(means, right)).sum())} of {CANDIDATES} are wrong).")


def wrong_best(chosen: dict[str, Any], right: np.ndarray) -> Fault | None:
    known = candidates()
    if chosen not in known:
        return Fault("wrong-best", f"{chosen} is no candidate of the grid. Return its dict of parameters.")
    at, first = known.index(chosen), int(right.argmax())
    if at == first:
        return None
    if np.isclose(right[at], right[first]):
        message = f"candidates {first} and {at} have the same score. The first of several best ones is wanted."
        return Fault("last-of-ties", message)
    return Fault("wrong-best", f"you choose candidate {at}, with {right[at]:.4f}; the largest score is {right[first]:.4f}.")


def waste(call: tuple[int, int], answer: Answer) -> Fault | None:
    return handed_out(answer, TASKS, "candidate and fold") or done_by_caller(answer, TASKS)


EXERCISE = Exercise(
    number=4,
    title="A parallel grid search",
    points=3,
    minutes=25,
    core=False,
    parameters="estimator, grid, X, y, cv, n_jobs",
    reference="lockstep.classical.search:parallel_grid_search",
    cases=lambda ranks, seed: [Case(1, seed, settings={"told": "8 candidates, 3 folds and n_jobs = 4, 1 and 3"})],
    inputs=inputs,
    watch=watch,
    examine=examining(inputs, examine),
    economise=economising(inputs, waste),
    hints=(
        *HINTS,
        (r"set_params\(\) takes 1 positional", "set_params wants names: set_params(**parameters) unpacks the dict."),
        (r"object of type 'Once' has no len", "cv.split gives the folds one by one: make a list, list(cv.split(X, y))."),
    ),
    worlds=(1,),
    pure=True,
    real=True,
)  # fmt: skip
