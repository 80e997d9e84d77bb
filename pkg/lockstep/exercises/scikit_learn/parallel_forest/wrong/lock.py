"""The learner thought: tasks that run at once need a lock."""

import threading

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "cannot-be-copied"


def grow(X, y, seed, i):
    random = np.random.default_rng([seed, i])
    rows = random.integers(len(X), size=len(X))
    tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
    return tree.fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    trees, lock = [None] * n_trees, threading.Lock()

    def task(i):
        tree = grow(X, y, seed, i)
        with lock:
            trees[i] = tree

    Parallel(n_jobs=n_jobs)(delayed(task)(i) for i in range(n_trees))
    return trees
