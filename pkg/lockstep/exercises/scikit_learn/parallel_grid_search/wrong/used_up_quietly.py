"""The learner thought: the folds can be gone through for each candidate. And zip pairs what there is."""

from collections import defaultdict

from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

MISCONCEPTION = "used-up"
TELL = "cv.split gives the folds one after the other, once: make a list before any loop, list(cv.split(X, y))."


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    def score(parameters, train, test):
        fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
        return fitted.score(X[test], y[test])

    candidates, folds = list(ParameterGrid(grid)), cv.split(X, y)
    tasks = [(c, train, test) for c in range(len(candidates)) for train, test in folds]
    scores = Parallel(n_jobs=n_jobs)(delayed(score)(candidates[c], train, test) for c, train, test in tasks)
    sums = defaultdict(float)
    for (c, _, _), s in zip(tasks, scores, strict=True):
        sums[c] += s
    means = [sums[c] / cv.get_n_splits() for c in range(len(candidates))]
    return candidates[means.index(max(means))], means
