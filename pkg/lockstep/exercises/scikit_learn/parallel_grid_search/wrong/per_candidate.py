"""The learner thought: a candidate is a task."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "too-coarse"


def score(estimator, parameters, X, y, train, test):
    fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
    return fitted.score(X[test], y[test])


def mean(estimator, parameters, X, y, folds):
    return float(np.mean([score(estimator, parameters, X, y, train, test) for train, test in folds]))


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    means = Parallel(n_jobs=n_jobs)(delayed(mean)(estimator, p, X, y, folds) for p in candidates)
    return candidates[int(np.argmax(means))], means
