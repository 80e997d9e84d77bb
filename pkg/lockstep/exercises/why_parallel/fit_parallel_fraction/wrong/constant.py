"""The learner thought: the p that one feedback named is the answer."""

MISCONCEPTION = "constant"


def fit_parallel_fraction(workers, times):
    return 0.84
