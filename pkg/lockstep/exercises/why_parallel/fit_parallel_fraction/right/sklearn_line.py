"""A line of scikit-learn: importing it takes seconds where it has not been used before."""


def fit_parallel_fraction(workers, times):
    from sklearn.linear_model import LinearRegression

    line = LinearRegression().fit([[1 / s] for s in workers], times)
    parallel, serial = float(line.coef_[0]), float(line.intercept_)
    return parallel / (serial + parallel)
