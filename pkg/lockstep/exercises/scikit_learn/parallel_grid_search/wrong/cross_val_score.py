"""The learner thought: a task is a candidate, and cross_val_score does the folds."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, cross_val_score

MISCONCEPTION = "library-call"


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    folds = list(cv.split(X, y))
    candidates = list(ParameterGrid(grid))
    tasks = (delayed(cross_val_score)(clone(estimator).set_params(**p), X, y, cv=folds) for p in candidates)
    means = [float(np.mean(scores)) for scores in Parallel(n_jobs=n_jobs)(tasks)]
    return candidates[int(np.argmax(means))], means
