"""The learner thought: every row counts alike, so the mean is that over the rows."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "not-the-mean"
TELL = (
    "These are means over the rows. Folds are of unequal sizes, and each counts alike: take the mean of their scores."
)


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    C = list(ParameterGrid(grid))
    F = list(cv.split(X, y))

    def hits(p, tr, te):
        return (clone(estimator).set_params(**p).fit(X[tr], y[tr]).predict(X[te]) == y[te]).sum()

    s = Parallel(n_jobs=n_jobs)(delayed(hits)(p, a, b) for p in C for a, b in F)
    m = np.reshape(s, (len(C), len(F))).sum(axis=1) / len(X)
    return C[int(m.argmax())], m.tolist()
