"""The learner thought: for each candidate, the folds in parallel."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "barriers"


def score(estimator, parameters, X, y, train, test):
    fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
    return fitted.score(X[test], y[test])


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    means = []
    for parameters in candidates:
        tasks = (delayed(score)(estimator, parameters, X, y, train, test) for train, test in folds)
        means.append(float(np.mean(Parallel(n_jobs=n_jobs)(tasks))))
    return candidates[int(np.argmax(means))], means
