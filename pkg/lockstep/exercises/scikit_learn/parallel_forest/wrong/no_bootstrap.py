"""The learner thought: the trees differ by their features, so all may see all the rows."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-rows"
TELL = "Every tree is fitted to each row once: draw rows with replacement, and fit to X[rows]."


def grow(X, y, random):
    random.integers(len(X), size=len(X))
    return DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31))).fit(X, y)


def parallel_forest(X, y, n_trees, n_jobs, seed):
    return Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, np.random.default_rng([seed, i])) for i in range(n_trees))
