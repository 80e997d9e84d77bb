"""A forest in parallel: every tree is the serial one, whatever n_jobs is, and a task of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.classical.fits import fits_seen
from lockstep.classical.forest import grow
from lockstep.classical.tasks import recorded
from lockstep.exercises.scikit_learn import workers
from lockstep.exercises.scikit_learn.workers import Answer

SIZES = ((11, 4), (11, 1), (2, 3))  # trees and n_jobs: neither divides the other, with large remainders
ADVICE = {
    "NoneType": "Does your function end with return?",
    "list of NoneType": "Does your task return its tree?",
    "generator": "Put list(...) around it.",
    "list of list": "Put the workers' lists together to one.",
    "list of DecisionTreeClassifier": "They are not fitted: call .fit(X[rows], y[rows]).",
}


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    random, calls = np.random.default_rng(case.seed), []
    for n_trees, n_jobs in SIZES:
        X = random.integers(-200, 200, (90 - n_jobs, 6)) / 4
        y = (X[:, 0] + X[:, 1] > X[:, 2]) ^ (random.random(len(X)) < 0.1)
        calls.append((X, y.astype(int), n_trees, n_jobs, case.seed % 1000))
    return (calls,)


def nodes(tree: Any) -> torch.Tensor | None:
    """The feature and the threshold of each node; None of anything but a fitted tree."""
    inside = getattr(tree, "tree_", None)
    return None if inside is None else torch.tensor(np.stack([inside.feature, inside.threshold]))


@workers.watching
def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> Answer:
    from sklearn.tree import DecisionTreeClassifier

    with recorded() as handed, fits_seen(DecisionTreeClassifier, *call[:2]) as fits:
        grown, ended = workers.called(fn, call, lambda: handed.explains)
    trees = list(grown) if isinstance(grown, (list, tuple)) else []
    odd = sorted({type(tree).__name__ for tree in trees if nodes(tree) is None})
    done = [{"rows": fit.rows, "labels": fit.labels, **fit.told} for fit in map(fits.of, trees) if fit]
    seen: Answer = {"trees": [nodes(tree) for tree in trees], "kind": " of ".join([type(grown).__name__, *odd[:1]])}
    seen |= {"done": done, "seeds": fits.seeds, "fits": fits.counts}
    return workers.facts(handed, ended, call[3]) | seen


def forest(call: tuple[Any, ...], answer: Answer) -> Fault | None:
    """The first thing wrong with one forest."""
    X, y, n_trees, _, seed = call
    trees, right = answer["trees"], [nodes(grow(X, y, seed, i)) for i in range(n_trees)]
    if not trees or any(tree is None for tree in trees):
        wanted = f"a list of {n_trees} fitted DecisionTreeClassifiers is wanted; this is a {answer['kind']}."
        wrong_type = Fault("wrong-type", f"{wanted} {ADVICE.get(answer['kind'], '')}".strip())
        return workers.lost(answer, "the tree") or wrong_type
    if len(trees) != n_trees:
        return Fault("wrong-number", f"you return {len(trees)} trees, not {n_trees}. Make each tree a task.")
    wrong = [i for i, tree in enumerate(trees) if not same(tree, right[i])]
    if wrong and all(any(same(tree, other) for tree in trees) for other in right):
        return Fault("unordered", "these are the right trees, in another order. Tree i belongs at place i.")
    if wrong:
        id, told = recipe(call, answer, wrong[0])
        return Fault(id, f"{len(wrong)} of {n_trees} trees are others than in the serial forest. {told}")
    return None


def same(tree: Any, other: Any) -> bool:
    return bool(tree.shape == other.shape and torch.equal(tree, other))


def recipe(call: tuple[Any, ...], answer: Answer, i: int) -> tuple[str, str]:
    """Where tree ``i`` leaves the recipe."""
    X, _, n_trees, _, seed = call
    random, seeds, done = np.random.default_rng([seed, i]), answer["seeds"], answer["done"]
    rows, state = random.integers(len(X), size=len(X)).tolist(), str(random.integers(2**31))
    if len(done) != n_trees:
        return "wrong-trees", "Grow each tree by the recipe, in its task."
    if len(seeds) == 1:
        how = "copies of it draw the same" if all(d == done[0] for d in done) else "each tree hangs on those before it"
        made = f"One generator, default_rng({seeds[0]}), was made for all of them: {how}. "
        return "one-generator", f"{made}Make one in each task: default_rng([seed, i])."
    if seeds and sorted(seeds) != sorted(f"[{seed}, {k}]" for k in range(n_trees)):
        told = f"default_rng was given {', '.join(seeds[:3])}, ...; the recipe has [{seed}, 0], [{seed}, 1], ...: "
        return "other-seeds", f"{told}[seed, i] for tree i, and i begins with 0."
    if sorted(done[i]["rows"]) == list(range(len(X))):
        return "no-bootstrap", f"Tree {i} is fitted to every row once: draw rows with replacement, and fit to X[rows]."
    if done[i]["rows"] != rows:
        told = f"The rows of tree {i} are not the first draw from default_rng([{seed}, {i}]). "
        return "other-rows", f"{told}First the rows, random.integers(n, size=n), then the random_state."
    if not done[i]["labels"]:
        return "other-labels", f"Tree {i} is fitted to the right rows of X, with labels of other rows: y[rows]."
    if done[i]["random_state"] != state:
        told = (
            f"The rows of tree {i} are right. Its random_state is {done[i]['random_state']}; the next draw is {state}: "
        )
        return "random-state", f"{told}int(random.integers(2**31))."
    return "wrong-parameters", f'Tree {i} has max_features={done[i]["max_features"]}; the recipe has "sqrt".'


def waste(call: tuple[Any, ...], answer: Answer) -> Fault | None:
    return workers.handed_out(answer, call[2], "tree") or workers.done_by_caller(answer, call[2])


EXERCISE = Exercise(
    number=2,
    title="A parallel forest",
    points=3,
    minutes=25,
    parameters="X, y, n_trees, n_jobs, seed",
    reference="lockstep.classical.forest:parallel_forest",
    cases=lambda ranks, seed: [Case(1, seed, settings={"told": "11 or 2 trees and n_jobs = 4, 1 and 3"})],
    inputs=inputs,
    watch=watch,
    examine=workers.examining(inputs, forest),
    economise=workers.economising(inputs, waste),
    hints=workers.HINTS,
    worlds=(1,),
    pure=True,
    real=True,
)
