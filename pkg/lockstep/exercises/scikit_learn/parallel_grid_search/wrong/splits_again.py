"""The learner thought: each candidate is cross-validated on its own."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "splits-again"


def score(estimator, parameters, X, y, train, test):
    fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
    return fitted.score(X[test], y[test])


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates = list(ParameterGrid(grid))
    scores = Parallel(n_jobs=n_jobs)(
        delayed(score)(estimator, parameters, X, y, train, test)
        for parameters in candidates
        for train, test in cv.split(X, y)
    )
    means = np.reshape(scores, (len(candidates), -1)).mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()
