"""The learner thought: tasks are what is counted; the scores are computed by the caller all the same."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "called-at-once"


def score(estimator, parameters, X, y, train, test):
    fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
    return fitted.score(X[test], y[test])


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    tasks = [(estimator, parameters, X, y, train, test) for parameters in candidates for train, test in folds]
    Parallel(n_jobs=n_jobs)(delayed(score)(*task) for task in tasks)
    means = np.reshape([score(*task) for task in tasks], (len(candidates), len(folds))).mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()
