"""The learner thought: the folds are a list."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "crashed:RankRaised"
RAISES = r"'generator' has no len|cannot reshape array of size 3 "
TELL = "cv.split gives the folds one after the other, once: make a list before any loop, list(cv.split(X, y))."


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    def score(parameters, train, test):
        fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
        return fitted.score(X[test], y[test])

    candidates, folds = list(ParameterGrid(grid)), cv.split(X, y)
    scores = Parallel(n_jobs=n_jobs)(delayed(score)(p, train, test) for p in candidates for train, test in folds)
    means = np.reshape(scores, (len(candidates), -1)).mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()
