"""The learner thought: each task writes its score into my table."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "shared-list"


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    table = np.zeros((len(candidates), len(folds)))

    def score(i, j):
        train, test = folds[j]
        fitted = clone(estimator).set_params(**candidates[i]).fit(X[train], y[train])
        table[i, j] = fitted.score(X[test], y[test])

    Parallel(n_jobs=n_jobs)(delayed(score)(i, j) for i in range(len(candidates)) for j in range(len(folds)))
    means = table.mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()
