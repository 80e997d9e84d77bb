"""The learner thought: scikit-learn has this already."""

from sklearn.model_selection import GridSearchCV

MISCONCEPTION = "library-call"


def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    search = GridSearchCV(estimator, grid, cv=cv, n_jobs=n_jobs).fit(X, y)
    return search.best_params_, list(search.cv_results_["mean_test_score"])
