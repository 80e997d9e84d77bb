"""The learner thought: folds outside, candidates inside, and reshape."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "mixed-up"
TELL = (
    "Scores of different candidates are averaged. Look at the order of your tasks: which index runs faster, that of the "
    "fold or that of the candidate?"
)


def score(estimator, parameters, X, y, train, test):
    fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
    return fitted.score(X[test], y[test])


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    scores = Parallel(n_jobs=n_jobs)(
        delayed(score)(estimator, parameters, X, y, train, test) for train, test in folds for parameters in candidates
    )
    means = np.reshape(scores, (len(candidates), len(folds))).mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()
