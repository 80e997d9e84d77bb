"""The learner thought: set_params makes the estimator mine. All threads share it."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "touches-estimator"


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    def score(parameters, train, test):
        fitted = estimator.set_params(**parameters).fit(X[train], y[train])
        return fitted.score(X[test], y[test])

    candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
    scores = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(score)(parameters, train, test) for parameters in candidates for train, test in folds
    )
    means = np.reshape(scores, (len(candidates), len(folds))).mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()
