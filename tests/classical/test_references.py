"""The references of unit 01 equal what is serial, for every n_jobs."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from lockstep.classical.forest import grow, parallel_forest
from lockstep.classical.grid_search import parallel_grid_search
from lockstep.classical.kmeans import parallel_kmeans_step
from lockstep.classical.nested import mend_oversubscription, oversubscribed
from lockstep.classical.parallelism import classify_parallelism
from lockstep.classical.usage import Usage


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(3).standard_normal((120, 5))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("n_jobs", "backend"), [(1, "threading"), (2, "threading"), (5, "threading"), (2, "loky")])
def test_the_forest_is_the_serial_one_tree_by_tree(data: Any, n_jobs: int, backend: str) -> None:
    X, y = data
    with parallel_config(backend):
        forest = parallel_forest(X, y, 7, n_jobs, seed=4)
    for i, tree in enumerate(forest):
        alone = grow(X, y, 4, i)
        assert np.array_equal(tree.tree_.feature, alone.tree_.feature)
        assert np.array_equal(tree.tree_.threshold, alone.tree_.threshold)
    assert len({tree.tree_.threshold.tobytes() for tree in forest}) == 7


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7])
def test_a_step_of_k_means_is_scikit_learns(data: Any, n_jobs: int) -> None:
    X, _ = data
    centres = X[:6].copy()
    with parallel_config("threading"):
        moved = parallel_kmeans_step(X, centres, n_jobs)
    once = KMeans(6, init=centres, n_init=1, max_iter=1).fit(X)
    nearest = ((X[:, None] - centres) ** 2).sum(2).argmin(1)
    assert np.allclose(moved, [X[nearest == k].mean(0) for k in range(6)])
    assert np.allclose(moved, once.cluster_centers_)


def test_a_centre_without_rows_stays_and_parts_may_be_empty() -> None:
    X, centres = np.array([[0.0], [1.0]]), np.array([[0], [50]])
    with parallel_config("threading"):
        assert parallel_kmeans_step(X, centres, n_jobs=4).tolist() == [[0.5], [50.0]]
    assert centres.dtype == np.int64  # and the caller's array is as it was
    assert centres.tolist() == [[0], [50]]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_search_is_scikit_learns(data: Any, n_jobs: int) -> None:
    X, y = data
    grid, cv = {"max_depth": [1, 2, 8, 9], "min_samples_leaf": [1, 4]}, StratifiedKFold(3)
    estimator = DecisionTreeClassifier(random_state=0)
    with parallel_config("threading"):
        best, means = parallel_grid_search(estimator, grid, X, y, cv, n_jobs)
    theirs = GridSearchCV(estimator, grid, cv=cv).fit(X, y)
    assert best == theirs.best_params_
    assert np.allclose(means, theirs.cv_results_["mean_test_score"])
    assert not hasattr(estimator, "tree_")


class Counting:
    """Fits that count the threads that they would have: no thread needs to run for that."""

    def __init__(self) -> None:
        self.lock, self.alive, self.most = threading.Lock(), 0, 0

    def fit(self, result: int) -> Any:
        def run(n_threads: int) -> int:
            with self.lock:
                self.alive += n_threads
                self.most = max(self.most, self.alive)
            threading.Event().wait(0.02)
            with self.lock:
                self.alive -= n_threads
            return result

        return run


@pytest.mark.parametrize(("fits", "cores"), [(1, 4), (2, 8), (3, 8), (5, 8), (9, 4)])
def test_outer_times_inner_fits_the_cores(fits: int, cores: int) -> None:
    count = Counting()
    assert mend_oversubscription([count.fit(i) for i in range(fits)], cores) == list(range(fits))
    assert 1 <= count.most <= cores


def test_the_program_to_be_mended_needs_mending() -> None:
    count = Counting()
    assert oversubscribed([count.fit(i) for i in range(4)], 4) == [0, 1, 2, 3]
    assert count.most > 4


@pytest.mark.parametrize(
    ("moved", "kind"),
    [
        ({}, "serial"),
        ({"openmp": (0.5, 0.0)}, "openmp"),
        ({"blas": (0.4, 0.0)}, "blas"),
        ({"n_jobs": (0.9, 0.0)}, "threads"),
        ({"n_jobs": (0.1, 0.9)}, "processes"),
    ],
)
@pytest.mark.parametrize("burnt", [0.0, 0.3])
def test_a_kind_is_what_its_knob_moves(moved: dict[str, tuple[float, float]], kind: str, burnt: float) -> None:
    """``burnt``: CPU time that a thread wastes with every setting."""

    def measure(**knobs: int) -> Usage:
        (knob,) = knobs or ("none",)
        helpers, children = moved.get(knob, (0.0, 0.0))
        main = max(0.0, 1.0 - helpers - children)
        return Usage(1.0, main, helpers + burnt * main, children, 0.0, 1, 1)

    assert classify_parallelism(measure) == kind
