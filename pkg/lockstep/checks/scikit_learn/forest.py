"""``parallel_forest``: every tree equals the serial one, for every ``n_jobs``; every tree is a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.plain import Other, plain
from lockstep.checks.scikit_learn.fits import fits_counted, fitted_beforehand
from lockstep.checks.scikit_learn.handed import NOTHING, named
from lockstep.checks.scikit_learn.tasks import lost
from lockstep.checks.scikit_learn.workers import handed_out
from lockstep.checks.values import told
from lockstep.checks.wording import counted

POINTS = 3
JOBS = (2, 1, 3)
TREES = 7  # no multiple of the workers

Nodes = tuple[list[int], list[float]]  # of a tree: the feature and the threshold of each node
Recipe = Callable[[np.ndarray, np.ndarray, int, int], list[Any]]  # X, y, n_trees, seed -> fitted trees


def _cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"told": f"{TREES} trees and n_jobs = 2, 1 and 3"})]


def _data(case: Case) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(case.seed)
    X = random.integers(-50, 50, (80, 6)).astype(float)
    return X, ((X[:, 0] + X[:, 1] > X[:, 2]) ^ (random.random(80) < 0.1)).astype(int)


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    X, y = _data(case)
    return tuple((X, y, TREES, n_jobs, case.seed % 1000) for n_jobs in JOBS)


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    from sklearn.tree import DecisionTreeClassifier

    from lockstep.checks.scikit_learn.tasks import recorded

    with recorded() as log, fits_counted(DecisionTreeClassifier) as fits:
        grown = fn(*arguments)
    trees = [_nodes(t) for t in grown] if isinstance(grown, (list, tuple)) else None
    return {"trees": trees, "returned": plain(grown, depth=1), "kind": type(grown).__name__, "log": log, "fits": fits}


def _nodes(tree: Any) -> Any:
    """A fitted tree as two tensors; None for anything else."""
    inside = getattr(tree, "tree_", None)
    if inside is None:
        return None
    return [torch.tensor(np.array(inside.feature)), torch.tensor(np.array(inside.threshold))]


def _examine(seen: Seen) -> Fault | None:
    for arguments, answer in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        fault = _one(arguments, answer)
        if fault:
            return Fault(fault.misconception, f"With n_jobs={arguments[3]}: {fault.message}")
    return None


def _one(arguments: tuple[Any, ...], answer: dict[str, Any]) -> Fault | None:
    """The first thing wrong with one forest."""
    X, y, n_trees, _, seed = arguments
    held = answer["trees"]
    if lost(answer["log"]):
        return Fault("shared-list", f"{NOTHING} Return the tree.")
    if held is None:
        return Fault("wrong-type", f"a list of fitted trees is wanted; this is {_no_list(answer)}")
    if not held:
        return Fault("shared-list", f"you return no trees. {_COPIES}")
    if len(held) != n_trees and all(t is not None for t in held):
        return Fault("loses-trees", f"you return {counted(len(held), 'tree')}, not {n_trees}. {_CHUNKS}")
    if any(t is None for t in held):
        wanted = f"wanted is a list of {n_trees} fitted DecisionTreeClassifiers"
        return Fault("wrong-type", f"{wanted}; this is {_contents(answer['returned'])}")
    right = [_key(_nodes(t)) for t in _serial(X, y, n_trees, seed)]
    mine = [_key(t) for t in held]
    if mine == right:
        return None
    if sorted(mine) == sorted(right):
        return Fault("unordered", "these are the right trees, in another order. Tree i belongs at place i.")
    for id, message, recipe in WRONG_RECIPES:
        if mine == [_key(_nodes(t)) for t in recipe(X, y, n_trees, seed)]:
            return Fault(id, message)
    same = sum(a == b for a, b in zip(mine, right, strict=True))
    if len(set(mine)) == 1:
        return Fault("same-tree", "all trees are the same. Each needs randomness of its own: [seed, i].")
    return Fault("wrong-trees", f"{same} of {n_trees} trees equal those of the serial forest. {_RECIPE}")


def _no_list(answer: dict[str, Any]) -> str:
    """What came back in place of a list, to the end of the sentence."""
    if answer["returned"] is None:
        return "nothing (None). Does your function end with return?"
    if answer["kind"] == "ndarray":
        return "an array. Return what Parallel gives you, as it is."
    advice = " Put list(...) around it." if answer["kind"] == "generator" else ""
    return f"{told(answer['returned'])}.{advice}"


def _contents(returned: Any) -> str:
    """The kinds of things in a list that are no trees, to the end of the sentence."""
    if isinstance(returned, list) and returned and all(item is None for item in returned):
        return f"{len(returned)} times None: does your task return its tree?"
    if isinstance(returned, list) and returned and getattr(returned[0], "type", "") == "DecisionTreeClassifier":
        return f"{len(returned)} of them that are not fitted: call .fit(X[rows], y[rows])."
    if isinstance(returned, list) and returned and isinstance(returned[0], Other):
        nested = " Put the workers' lists together to one." if returned[0].type in ("list", "tuple") else ""
        return f"{len(returned)} of type {returned[0].type}.{nested}"
    return f"{told(returned)}."


_COPIES = "A task works on copies: what it appends to a list of yours is lost. Let it return its tree."
_CHUNKS = "n_jobs need not divide n_trees: make each tree a task, and let joblib hand them out."
_RECIPE = (
    "Tree i is fully described by (seed, i): random = np.random.default_rng([seed, i]), first the rows, then the "
    "random_state. Nothing else may decide, neither the worker nor the trees before."
)


def _key(nodes: Sequence[torch.Tensor]) -> Any:
    return tuple(tuple(part.tolist()) for part in nodes)


_before_the_rows = -1  # a random_state that is drawn first


def _grown(random: np.random.Generator, X: np.ndarray, y: np.ndarray, bootstrap: bool = True, features: Any = "sqrt",
           replace: bool = True, state: int | None = None, labels: bool = True) -> Any:  # fmt: skip
    """The recipe of the lab, with what learners change in it."""
    from sklearn.tree import DecisionTreeClassifier

    n = len(X)
    if state == _before_the_rows:
        state = int(random.integers(2**31))
    rows = random.integers(n, size=n) if replace else random.permutation(n)
    state = int(random.integers(2**31)) if state is None else state
    tree = DecisionTreeClassifier(max_features=features, random_state=state)
    return tree.fit(X[rows], y[rows] if labels else y) if bootstrap else tree.fit(X, y)


def _serial(X: np.ndarray, y: np.ndarray, n_trees: int, seed: int, **changed: Any) -> list[Any]:
    return [_grown(np.random.default_rng([seed, i]), X, y, **changed) for i in range(n_trees)]


def _one_generator(X: np.ndarray, y: np.ndarray, n_trees: int, seed: int) -> list[Any]:
    random = np.random.default_rng(seed)
    return [_grown(random, X, y) for _ in range(n_trees)]


def _same_start(X: np.ndarray, y: np.ndarray, n_trees: int, seed: int) -> list[Any]:
    return [_grown(np.random.default_rng(seed), X, y) for _ in range(n_trees)]


def _shifted_seed(X: np.ndarray, y: np.ndarray, n_trees: int, seed: int) -> list[Any]:
    return [_grown(np.random.default_rng(seed + i), X, y) for i in range(n_trees)]


def _library(X: np.ndarray, y: np.ndarray, n_trees: int, seed: int) -> list[Any]:
    from sklearn.ensemble import RandomForestClassifier

    return list(RandomForestClassifier(n_trees, random_state=seed).fit(X, y).estimators_)


WRONG_RECIPES: Sequence[tuple[str, str, Recipe]] = (
    ("same-tree", "all trees are the same: each starts with the same seed, or with a copy of one "
     "generator. Use default_rng([seed, i]) in the task.", _same_start),
    ("shared-generator", "your trees draw from one generator, one after the other. That forest hangs on the order in "
     "which trees are grown, and copies of the generator go to the workers. Use default_rng([seed, i]) in the task.",
     _one_generator),
    ("seed-plus-i", "you seed tree i with seed + i. Then the forests of seeds 1 and 2 share all trees but one. Use "
     "[seed, i].", _shifted_seed),
    ("off-by-one", "these are the trees of i = 1, 2, ... The first tree has i = 0.",
     lambda X, y, n, seed: [_grown(np.random.default_rng([seed, i + 1]), X, y) for i in range(n)]),
    ("seed-order", "your generator starts from [i, seed]. It is [seed, i].",
     lambda X, y, n, seed: [_grown(np.random.default_rng([i, seed]), X, y) for i in range(n)]),
    ("draw-order", "you draw the random_state before the rows, so both are others. First the rows, then the state.",
     lambda X, y, n, seed: _serial(X, y, n, seed, state=_before_the_rows)),
    ("random-state", "your rows are right, but the random_state of tree i is i. Draw it after the rows: "
     "int(random.integers(2**31)).", lambda X, y, n, seed: [_grown(np.random.default_rng([seed, i]), X, y, state=i)
                                                           for i in range(n)]),
    ("random-state", "your rows are right, but the random_state of every tree is the seed. Draw it after the rows: "
     "int(random.integers(2**31)).", lambda X, y, n, seed: _serial(X, y, n, seed, state=seed)),
    ("labels-not-drawn", "you draw rows of X, and keep y as it is: a row's label stands elsewhere. Fit to X[rows] and "
     "y[rows].", lambda X, y, n, seed: _serial(X, y, n, seed, labels=False)),
    ("no-bootstrap", "every tree is fitted to all the rows. Fit it to the rows that were drawn.",
     lambda X, y, n, seed: _serial(X, y, n, seed, bootstrap=False)),
    ("all-features", 'your trees look at every feature at each split. A forest wants max_features="sqrt".',
     lambda X, y, n, seed: _serial(X, y, n, seed, features=None)),
    ("without-replacement", "the rows are only shuffled. Draw them with replacement: random.integers(n, size=n).",
     lambda X, y, n, seed: _serial(X, y, n, seed, replace=False)),
    ("library-forest", "these are the trees of scikit-learn's RandomForestClassifier. Here you build the forest "
     "yourself, from single trees.", _library),
)  # fmt: skip


def _cost(seen: Seen) -> list[Fault]:
    found = []
    for arguments, answer in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        fault = handed_out(answer["log"], n_jobs=arguments[3], tasks=TREES, noun="tree")
        fault = fault or fitted_beforehand(answer["fits"], arguments[3])
        found += [fault] if fault else []
    return found[:1]


def _judge(observation: Observation) -> list[Finding]:
    return named(mark(observation, POINTS, _examine, _cost), observation)


FOREST = Exercise(
    id="scikit_learn.parallel_forest",
    title="A parallel forest",
    points=POINTS,
    minutes=25,
    parameters="X, y, n_trees, n_jobs, seed",
    cases=_cases,
    inputs=_calls,
    judge=_judge,
    reference="lockstep.classical.forest:parallel_forest",
    worlds=(1,),
    pure=True,
    watch=_watch,
    real=True,
)
