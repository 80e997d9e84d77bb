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
from lockstep.exercises.scikit_learn.handed import (
    HINTS,
    Answer,
    called,
    done_by_caller,
    economising,
    examining,
    explains,
    facts,
    handed_out,
    lost,
    watching,
)

SIZES = ((11, 4), (11, 1), (2, 3))  # trees and n_jobs: neither divides the other, with large remainders
ADVICE = {
    "NoneType": " Does every way through your functions end with return?",
    "generator": " Put list(...) around it.",
    "ndarray": " Return what Parallel gives you, as it is.",
    "list of list": " Put the workers' lists together to one.",
    "list of DecisionTreeClassifier": " They are not fitted: call .fit(X[rows], y[rows]).",
}


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    random, found = np.random.default_rng(case.seed), []
    for n_trees, n_jobs in SIZES:
        X = random.integers(-200, 200, (90 - n_jobs, 6)) / 4
        y = (X[:, 0] + X[:, 1] > X[:, 2]) ^ (random.random(len(X)) < 0.1)
        found.append((X, y.astype(int), n_trees, n_jobs, case.seed % 1000))
    return (tuple(found),)


def nodes(tree: Any) -> torch.Tensor | None:
    """The feature and the threshold of each node; None of anything but a fitted tree."""
    inside = getattr(tree, "tree_", None)
    return None if inside is None else torch.tensor(np.stack([inside.feature, inside.threshold]))


@watching
def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> Answer:
    from sklearn.tree import DecisionTreeClassifier

    with recorded() as handed, fits_seen(DecisionTreeClassifier, *call[:2]) as fits:
        grown, ended = called(fn, call, lambda: explains(handed))
    trees = list(grown) if isinstance(grown, (list, tuple)) else []
    recipes = [
        {"rows": fit.rows, "labels": fit.labels, **{k: repr(v) for k, v in fit.parameters.items()}}
        for fit in map(fits.of, trees)
        if fit
    ]
    kinds = sorted({type(tree).__name__ for tree in trees if nodes(tree) is None})
    kind = " of ".join([type(grown).__name__, *kinds[:1]])
    return {
        **facts(handed, ended, call[3]), "trees": [nodes(tree) for tree in trees], "kind": kind, "recipes": recipes,
        "seeds": fits.seeds, "fits": [fits.inside, len(fits.every)],
    }  # fmt: skip


def forest(call: tuple[Any, ...], answer: Answer) -> Fault | None:
    """The first thing wrong with one forest."""
    X, y, n_trees, _, seed = call
    trees = answer["trees"]
    right = [nodes(grow(X, y, seed, i)) for i in range(n_trees)]
    if not trees or any(tree is None for tree in trees):
        wanted = f"a list of {n_trees} fitted DecisionTreeClassifiers is wanted; this is a {answer['kind']}."
        return lost(answer, "the tree") or Fault("wrong-type", wanted + ADVICE.get(answer["kind"], ""))
    if len(trees) != n_trees:
        every = "Make each tree a task, and let joblib hand them out."
        return Fault("wrong-number", f"you return {len(trees)} trees, not {n_trees}. {every}")
    wrong = [i for i, tree in enumerate(trees) if not same(tree, right[i])]
    if not wrong:
        return None
    if all(any(same(tree, other) for tree in trees) for other in right):
        return Fault("unordered", "these are the right trees, in another order. Tree i belongs at place i.")
    told = f"{len(wrong)} of {n_trees} trees are others than in the serial forest. "
    found = recipe(call, answer, wrong[0]) or Fault("wrong-trees", "Follow the recipe step by step.")
    return Fault(found.misconception, told + found.message)


def same(tree: Any, other: Any) -> bool:
    return bool(tree.shape == other.shape and torch.equal(tree, other))


def recipe(call: tuple[Any, ...], answer: Answer, i: int) -> Fault | None:
    """Where tree ``i`` leaves the recipe."""
    X, _, n_trees, _, seed = call
    every, seeds = answer["recipes"], answer["seeds"]
    if len(every) != n_trees:
        return None
    random = np.random.default_rng([seed, i])
    rows, state = random.integers(len(X), size=len(X)).tolist(), repr(int(random.integers(2**31)))
    mine, n = every[i], len(X)
    if len(seeds) == 1:
        told = f"One generator, default_rng({seeds[0]}), was made for all of them: "
        how = "copies of it draw the same" if all(e == mine for e in every) else "each tree hangs on those before it"
        return Fault("one-generator", f"{told}{how}. Make one in each task: default_rng([seed, i]).")
    if seeds and sorted(seeds) != sorted(f"[{seed}, {k}]" for k in range(n_trees)):
        told = f"default_rng was given {', '.join(seeds[:3])}, ...; the recipe has [{seed}, 0], [{seed}, 1], ...: "
        return Fault("other-seeds", f"{told}[seed, i] for tree i, and i begins with 0.")
    if sorted(mine["rows"]) == list(range(n)):
        return Fault(
            "no-bootstrap", f"Tree {i} is fitted to every row once. Draw rows with replacement, and fit to X[rows]."
        )
    if mine["rows"] != rows:
        return Fault("other-rows", f"The rows of tree {i} are not the first draw from default_rng([{seed}, {i}]): first "
                     "the rows, then the random_state.")  # fmt: skip
    if not mine["labels"]:
        return Fault("other-labels", f"Tree {i} is fitted to the right rows of X with labels of other rows: y[rows].")
    if mine["random_state"] != state:
        told = f"The rows of tree {i} are right; its random_state is {mine['random_state']}, and the generator's next draw "
        return Fault("random-state", f"{told}is {state}: int(random.integers(2**31)).")
    told = f'Tree {i} has max_features={mine["max_features"]}; "sqrt" is wanted.'
    return Fault("max-features", told) if mine["max_features"] != "'sqrt'" else None


def waste(call: tuple[Any, ...], answer: Answer) -> Fault | None:
    return handed_out(answer, call[2], "tree") or done_by_caller(answer, call[2])


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
    examine=examining(inputs, forest),
    economise=economising(inputs, waste),
    hints=HINTS,
    worlds=(1,),
    pure=True,
    real=True,
)
