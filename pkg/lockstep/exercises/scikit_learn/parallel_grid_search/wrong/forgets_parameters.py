"""The learner thought: the grid is for the table only."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "same-parameters"
TELL = "All trees are fitted with the same parameters: set_params(**parameters)."


def score(estimator, parameters, X, y, train, test):
    fitted = clone(estimator).fit(X[train], y[train])
    return fitted.score(X[test], y[test])


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    scores = Parallel(n_jobs=n_jobs)(
        delayed(score)(estimator, parameters, X, y, train, test) for parameters in candidates for train, test in folds
    )
    means = np.reshape(scores, (len(candidates), len(folds))).mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()
