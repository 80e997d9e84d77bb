"""The learner thought: an estimator for each candidate is enough: its folds may share it."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "touches-estimator"


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    C = list(ParameterGrid(grid))
    F = list(cv.split(X, y))
    E = [clone(estimator).set_params(**p) for p in C]

    def one(e, a, b):
        return e.fit(X[a], y[a]).score(X[b], y[b])

    s = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(one)(e, a, b) for e in E for a, b in F)
    m = np.reshape(s, (len(C), len(F))).mean(axis=1)
    return C[int(m.argmax())], m.tolist()
