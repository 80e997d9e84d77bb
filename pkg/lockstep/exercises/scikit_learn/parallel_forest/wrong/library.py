"""The learner thought: scikit-learn has a forest already."""

from sklearn.ensemble import RandomForestClassifier

MISCONCEPTION = "library-call"


def parallel_forest(X, y, n_trees, n_jobs, seed):
    return RandomForestClassifier(n_trees, n_jobs=n_jobs, random_state=seed).fit(X, y).estimators_
