"""The learner thought: two loops do it."""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "serial"


def score(estimator, parameters, X, y, train, test):
    fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
    return fitted.score(X[test], y[test])


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    scores = [score(estimator, p, X, y, train, test) for p in candidates for train, test in folds]
    means = np.reshape(scores, (len(candidates), len(folds))).mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()
