"""The rows of the audit: each estimator and algorithm that the lecture notes name, and what they claim of it.

Estimators are built in the child process that measures them; only then scikit-learn is imported. Data sizes are such
that a fit takes between 0.05 and 0.5 s of CPU time on one thread.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

# What the notes claim of an estimator, and the kinds of parallelism that confirm it.
CLAIMS = {
    "parallel": ("openmp", "blas", "threads", "processes"),
    "several threads": ("openmp", "blas", "threads"),
    "OpenMP": ("openmp",),
    "n_jobs": ("threads", "processes"),
    "serial": ("serial",),
}


@dataclass(frozen=True)
class Subject:
    """Something to measure: ``act(make(n_jobs))``. Only ``act`` is measured."""

    make: Callable[[int], Any]
    act: Callable[[Any], Any]


@dataclass(frozen=True)
class Row:
    """An estimator with one of its algorithms; ``claim`` is a key of CLAIMS, or "" where there is none."""

    name: str
    claim: str
    build: Callable[[], Subject]
    has_n_jobs: bool = False


def classes(features: int = 20, rows: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Two classes with a non-linear boundary. X is (rows, features) float64, y is (rows,)."""
    X = np.random.default_rng(0).standard_normal((rows, features))
    return X, (X[:, 0] + X[:, 1] ** 2 + 0.3 * X[:, 2] > 1).astype(int)


def clusters(features: int, rows: int, centres: int = 50) -> np.ndarray:
    """Gaussian clusters, (rows, features) float64."""
    random = np.random.default_rng(0)
    means = random.uniform(-10, 10, (centres, features))
    found: np.ndarray = means[random.integers(centres, size=rows)] + random.standard_normal((rows, features))
    return found


def _build(
    path: str, X: np.ndarray, y: np.ndarray | None = None, method: str = "fit", **settings: Any
) -> Callable[[], Subject]:
    """Measures ``fit`` of ``path`` ("sklearn.svm:SVC") with ``settings``; or another ``method``, once it is fitted."""

    def build() -> Subject:
        module, _, name = path.partition(":")
        kind = getattr(importlib.import_module(module), name)

        def make(n_jobs: int) -> Any:
            jobs = {"n_jobs": n_jobs} if "n_jobs" in kind().get_params() else {}
            estimator = kind(**settings, **jobs)
            return estimator if method == "fit" else estimator.fit(X, y)

        return Subject(make, lambda e: e.fit(X, y) if method == "fit" else getattr(e, method)(X))

    return build


def _search(name: str, grid: str, **settings: Any) -> Callable[[], Subject]:
    """A hyperparameter search over support vector machines."""

    def build() -> Subject:
        from sklearn import model_selection
        from sklearn.experimental import enable_halving_search_cv  # noqa: F401
        from sklearn.svm import SVC

        X, y = classes(rows=1000)
        parameters = {grid: {"C": [0.1, 1.0, 10.0, 100.0]}}
        kind = getattr(model_selection, name)
        return Subject(lambda n_jobs: kind(SVC(), **parameters, **settings, cv=4, n_jobs=n_jobs), lambda e: e.fit(X, y))

    return build


def _cross_val_score() -> Subject:
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.model_selection import cross_val_score

    X, y = classes(rows=1000)
    estimator = GradientBoostingClassifier(n_estimators=20)
    return Subject(lambda n_jobs: n_jobs, lambda n_jobs: cross_val_score(estimator, X, y, cv=4, n_jobs=n_jobs))


def _both(stem: str, claim: str, module: str, rows: int, has_n_jobs: bool = False, **settings: Any) -> list[Row]:
    """The classifier and the regressor of one name."""
    X, y = classes(rows=rows)
    found = []
    for kind, target in (("Classifier", y), ("Regressor", X[:, 0] + y)):
        build = _build(f"sklearn.{module}:{stem}{kind}", X, target, **settings)
        found.append(Row(f"{stem}{kind}", claim, build, has_n_jobs))
    return found


def _neighbours(algorithm: str, features: int) -> list[Row]:
    """Nearest neighbours, whose work is in ``predict``: ``fit`` only stores the rows, or builds the tree."""
    X, y = classes(features, rows=4000)
    found = []
    for kind, target in (("Classifier", y), ("Regressor", X[:, 0] + y)):
        path = f"sklearn.neighbors:KNeighbors{kind}"
        build = _build(path, X, target, method="predict", algorithm=algorithm)
        found.append(Row(f"KNeighbors{kind} {algorithm}", "parallel", build, has_n_jobs=True))
    return found


def _vectors() -> list[Row]:
    X, y = classes(rows=3000)
    wide, wide_y = classes(30, rows=20_000)
    linear = "several threads"
    return [
        Row("LinearSVC", linear, _build("sklearn.svm:LinearSVC", wide, wide_y, dual=False)),
        Row("LinearSVR", linear, _build("sklearn.svm:LinearSVR", wide, wide[:, 0], max_iter=200)),
        Row("SVC", "serial", _build("sklearn.svm:SVC", X, y)),
        Row("SVR", "serial", _build("sklearn.svm:SVR", X[:1500], X[:1500, 0] + y[:1500])),
    ]


def _clusterings() -> list[Row]:
    wide, narrow = clusters(20, 5000), clusters(4, 12_000)
    big, dbscan = clusters(30, 30_000), "sklearn.cluster:DBSCAN"
    k: dict[str, Any] = {"n_clusters": 50, "random_state": 0}
    agglomerative = _build("sklearn.cluster:AgglomerativeClustering", wide[:2500], n_clusters=8)
    return [
        Row("DBSCAN brute", "serial", _build(dbscan, wide, eps=4.5, algorithm="brute"), True),
        Row("DBSCAN kd_tree", "serial", _build(dbscan, narrow, eps=0.5, algorithm="kd_tree"), True),
        Row("AgglomerativeClustering", "serial", agglomerative),
        Row("KMeans", "OpenMP", _build("sklearn.cluster:KMeans", big, n_init=1, max_iter=30, init="random", **k)),
        Row("MiniBatchKMeans", "parallel", _build("sklearn.cluster:MiniBatchKMeans", big, batch_size=4096, **k)),
    ]


def _decompositions() -> list[Row]:
    X = np.random.default_rng(0).standard_normal((2500, 500))
    pca = "sklearn.decomposition:PCA"
    truncated = _build("sklearn.decomposition:TruncatedSVD", X, n_components=50, random_state=0)
    ridge = _build("sklearn.linear_model:RidgeCV", X[:1500], X[:1500, 0], alphas=tuple(np.logspace(-3, 3, 20)))
    sizes = {"full": X[:1500, :400], "covariance_eigh": X, "randomized": X}  # a full decomposition takes long
    return [
        *(
            Row(f"PCA {solver}", "serial", _build(pca, rows, n_components=20, svd_solver=solver))
            for solver, rows in sizes.items()
        ),
        Row("TruncatedSVD", "n_jobs", truncated),
        Row("RidgeCV", "several threads", ridge),
    ]


def catalogue() -> list[Row]:
    """All rows, in the order of the notes."""
    trees = {"n_estimators": 60, "random_state": 0}
    grid, drawn = "param_grid", "param_distributions"
    return [
        *_both("RandomForest", "parallel", "ensemble", 600, True, **trees),
        *_both("ExtraTrees", "parallel", "ensemble", 1000, True, **trees),
        *_both("GradientBoosting", "parallel", "ensemble", 1200, n_estimators=30),
        *_both("HistGradientBoosting", "parallel", "ensemble", 20_000, max_iter=15, early_stopping=False),
        *_neighbours("brute", 20),
        *_neighbours("kd_tree", 6),
        *_vectors(),
        *_clusterings(),
        *_decompositions(),
        Row("cross_val_score", "n_jobs", _cross_val_score, True),
        Row("GridSearchCV", "n_jobs", _search("GridSearchCV", grid), True),
        Row("RandomizedSearchCV", "n_jobs", _search("RandomizedSearchCV", drawn, n_iter=4), True),
        Row("HalvingGridSearchCV", "n_jobs", _search("HalvingGridSearchCV", grid, min_resources=200), True),
        Row("HalvingRandomSearchCV", "n_jobs", _search("HalvingRandomSearchCV", drawn, n_candidates=4,
                                                       min_resources=200), True),
    ]  # fmt: skip


@cache
def claims() -> dict[str, str]:
    """What the notes claim of each row, by its name."""
    return {row.name: row.claim for row in catalogue()}
