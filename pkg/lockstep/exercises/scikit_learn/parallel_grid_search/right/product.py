"""Tasks by itertools.product; scores in a dict."""

from itertools import product

from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid


def one(estimator, p, X, y, fold):
    train, test = fold
    return clone(estimator).set_params(**p).fit(X[train], y[train]).score(X[test], y[test])


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    pairs = list(product(range(len(candidates)), range(len(folds))))
    found = Parallel(n_jobs=n_jobs)(delayed(one)(estimator, candidates[c], X, y, folds[f]) for c, f in pairs)
    table = dict(zip(pairs, found, strict=True))
    means = [sum(table[c, f] for f in range(len(folds))) / len(folds) for c in range(len(candidates))]
    return max(zip(candidates, means, strict=True), key=lambda pair: pair[1])[0], means
