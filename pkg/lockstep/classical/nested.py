"""Nested parallelism and oversubscription: outer × inner threads must not exceed the cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from joblib import Parallel, delayed, parallel_config

from lockstep.classical.usage import Usage, light_workers, usage
from lockstep.tables import Table
from lockstep.tally import counted

Fit = Callable[[int], Any]  # fit(n_threads): computes with so many threads


def mend_oversubscription(fits: Sequence[Fit], cores: int) -> list[Any]:
    """The result of every ``fit``, in order, with never more than ``cores`` threads at work.

    As many fits at once as there are cores, since whole fits seldom wait for each other; cores that are left over
    become threads of each fit."""
    outer = max(1, min(cores, len(fits)))
    inner = cores // outer
    return list(Parallel(n_jobs=outer, prefer="threads")(delayed(fit)(inner) for fit in fits))


def oversubscribed(fits: Sequence[Fit], cores: int) -> list[Any]:
    """The program to be mended: every fit uses all cores, so that there are cores² threads."""
    return list(Parallel(n_jobs=cores, prefer="threads")(delayed(fit)(cores) for fit in fits))


class Nested(NamedTuple):
    """``n_jobs`` of the folds and of the trees in each; whether the folds run in processes, or in threads of this
    one."""

    folds: int
    trees: int
    processes: bool


ONE, EIGHT = Nested(1, 1, processes=False), Nested(8, 8, processes=False)
NESTED = (ONE, Nested(1, -1, processes=False), Nested(-1, 1, processes=True), Nested(-1, -1, processes=True), EIGHT)
FOLDS = 8


def nested_usage(nested: Nested, rows: int = 200) -> Usage:
    """The usage of the notes' own example, a forest of 100 trees in a cross-validation; with fewer rows, and 8 folds.

    Imports and the start of workers are done before, and not counted."""
    from sklearn.datasets import make_classification
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.model_selection import cross_val_score

    X, y = make_classification(n_samples=rows, n_features=20, random_state=42)
    forest = RandomForestClassifier(n_estimators=100, n_jobs=nested.trees, random_state=42)
    with light_workers(), parallel_config("loky" if nested.processes else "threading"):
        cross_val_score(ExtraTreesClassifier(1), X, y, cv=FOLDS, n_jobs=nested.folds)
        return usage(lambda: cross_val_score(forest, X, y, cv=FOLDS, n_jobs=nested.folds))


def nested_table(known: Mapping[Nested, Usage] = MappingProxyType({})) -> Table:
    """All combinations of the notes' example; those in ``known`` are not run again."""
    rows = []
    for nested in counted(NESTED, "Running", each=3.0):
        u = known.get(nested) or nested_usage(nested)
        threads = "–" if nested.processes else str(u.threads)
        where = f"{u.children / u.cpu:.0%}"
        rows.append([f"{nested.folds}", f"{nested.trees}", f"{u.cpu:.2f} s", f"{u.cpu / u.wall:.1f}", where, threads])
    head = ["n_jobs of the folds", "n_jobs of the forest", "CPU time", "cores busy", "in other processes",
            "most threads here"]  # fmt: skip
    return Table(f"Cross-validation of a forest of 100 trees, {FOLDS} folds", head, rows)
