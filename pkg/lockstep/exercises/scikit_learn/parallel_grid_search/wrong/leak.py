"""The learner thought: more rows make a better fit."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "scores-known-rows"
TELL = "The rows that a tree is scored on are known to it, so it looks better than it is: fit to train, score on test."


def score(estimator, parameters, X, y, train, test):
    fitted = clone(estimator).set_params(**parameters).fit(X, y)
    return fitted.score(X[test], y[test])


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    scores = Parallel(n_jobs=n_jobs)(
        delayed(score)(estimator, parameters, X, y, train, test) for parameters in candidates for train, test in folds
    )
    means = np.reshape(scores, (len(candidates), len(folds))).mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()
