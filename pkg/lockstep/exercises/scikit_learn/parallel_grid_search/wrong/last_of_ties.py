"""The learner thought: go through the list and keep what is at least as good."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "last-of-ties"
TELL = "Two candidates have the same score, and you take the last. The first of the best is wanted."
ALSO = ["wrong-best"]


def score(estimator, parameters, X, y, train, test):
    fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
    return fitted.score(X[test], y[test])


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    scores = Parallel(n_jobs=n_jobs)(
        delayed(score)(estimator, parameters, X, y, train, test) for parameters in candidates for train, test in folds
    )
    means = np.reshape(scores, (len(candidates), len(folds))).mean(axis=1)
    best = 0
    for i, value in enumerate(means):
        if value >= means[best]:
            best = i
    return candidates[best], means.tolist()
