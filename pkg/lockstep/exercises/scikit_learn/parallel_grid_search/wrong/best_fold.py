"""The learner thought: a candidate is as good as its best fold."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "not-the-mean"
TELL = "These are the scores of the best fold of each candidate: take the mean over its folds."


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    def score(parameters, train, test):
        fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
        return fitted.score(X[test], y[test])

    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    scores = Parallel(n_jobs=n_jobs)(delayed(score)(p, train, test) for p in candidates for train, test in folds)
    means = np.reshape(scores, (len(candidates), len(folds))).max(axis=1)
    return candidates[int(means.argmax())], means.tolist()
