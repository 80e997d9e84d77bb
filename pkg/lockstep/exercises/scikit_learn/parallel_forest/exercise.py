"""A forest in parallel: every tree is the serial one, whatever n_jobs is, and a task of its own."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lockstep.checks.case import Case
from lockstep.checks.judge import Fault
from lockstep.classical.forest import parallel_forest
from lockstep.exercises.scikit_learn.fits import Fits, fits_seen
from lockstep.exercises.scikit_learn.workers import Answer, lost, observed, on_workers

SIZES = ((11, 4), (11, 1), (2, 3))  # trees and n_jobs: neither divides the other, with large remainders
STEPS = {"seeds": "default_rng was given", "rows": "it is fitted to", "labels": "its labels are",
         "random_state": "random_state is", "max_features": "max_features is"}  # fmt: skip


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    """There are 8, 9 or 11 features: the roots are 2 and 3, and of 8 the logarithm is another number."""
    dice = np.random.default_rng(case.seed)
    X = dice.integers(-200, 200, (89, 12)) / 4
    y = np.where((X[:, 0] + X[:, 1] > X[:, 2]) ^ (dice.random(len(X)) < 0.1), 7, 3)
    return tuple((X[j:, : 12 - j], y[j:], n_trees, j, case.seed % 1000) for n_trees, j in SIZES)


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> Answer:
    from sklearn.tree import DecisionTreeClassifier

    return observed(fn, lambda: call, note, call[3], fits_seen(DecisionTreeClassifier, *call[:2]))


def note(given: tuple[Any, ...], grown: Any, fits: Fits) -> Answer:
    """Of each tree the classes, the feature, threshold and rows of each node, and the steps of the recipe; of anything
    else what it is called."""
    trees = list(grown) if isinstance(grown, (list, tuple)) else []
    grown_ones = [(t.classes_, t.tree_) for t in trees if hasattr(t, "tree_")]
    nodes = [
        [c.tolist(), *(part.tolist() for part in (t.feature, t.threshold, t.n_node_samples))] for c, t in grown_ones
    ]
    odd = sorted({type(tree).__name__ for tree in trees if not hasattr(tree, "tree_")})
    seeds = first_three(sorted(fits.seeds, key=lambda seed: (len(seed), seed)))
    steps = [{"seeds": seeds, "rows": f"{len(f.rows)} rows, numbers {first_three(f.rows)}",
              "labels": "y[rows]" if f.labels else "others than y[rows]",
              **f.told} for f in map(fits.of, trees) if f]  # fmt: skip
    return {"value": nodes if trees and not odd else " of ".join([type(grown).__name__, *odd[:1]]), "steps": steps}


def first_three(items: Sequence[Any]) -> str:
    return ", ".join(map(str, items[:3])) + " and more" * (len(items) > 3)


def wrong(call: tuple[Any, ...], answer: Answer) -> Fault | None:
    right, trees, number = watch(parallel_forest, (*call[:3], 1, call[4])), answer["value"], call[2]
    if isinstance(trees, str):
        told = f"a list of {number} fitted DecisionTreeClassifiers is wanted; this is a {trees}."
        return lost(answer, "the tree") or Fault("wrong-type", told, telling=True)
    if len(trees) != number:
        return Fault("wrong-number", f"you return {len(trees)} trees, not {number}. Make each tree a task.")
    off = [i for i in range(number) if trees[i] != right["value"][i]]
    if off and sorted(trees) == sorted(right["value"]):
        return Fault("unordered", "these are the right trees, in another order. Tree i belongs at place i.")
    begin = f"{len(off)} of {number} trees are others than in the serial forest."
    for step, told in STEPS.items() if off and len(answer["steps"]) == number else ():
        have, want = (evidence["steps"][off[0]][step] for evidence in (answer, right))
        if have != want:
            whose = "All trees" if step == "seeds" else f"Tree {off[0]}"
            said = f"{begin} {whose}: {told} {have}; by the recipe {want}."
            return Fault(f"other-{step}", said, telling=True)
    return Fault("wrong-values", f"{begin} Grow each tree by the recipe, in its task.") if off else None


EXERCISE = on_workers(
    case="11 or 2 trees and n_jobs = 4, 1 and 3",
    task="tree",
    tasks=lambda call: int(call[2]),
    inputs=inputs,
    watch=watch,
    wrong=wrong,
    number=2,
    title="A parallel forest",
    minutes=25,
    parameters="X, y, n_trees, n_jobs, seed",
    reference="lockstep.classical.forest:parallel_forest",
)
