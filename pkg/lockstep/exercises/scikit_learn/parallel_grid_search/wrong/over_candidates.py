"""The learner thought: axis 0 is the first, so it is the one to take."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "wrong-type"


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    def score(parameters, train, test):
        fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
        return fitted.score(X[test], y[test])

    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    scores = Parallel(n_jobs=n_jobs)(delayed(score)(p, train, test) for p in candidates for train, test in folds)
    means = np.reshape(scores, (len(candidates), len(folds))).mean(axis=0)
    return candidates[int(means.argmax())], means.tolist()
