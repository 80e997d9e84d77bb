"""The learner thought: the first time is that of one worker, and 1/S is a line."""

import numpy as np

MISCONCEPTION = "first-is-one-worker"
TELL = (
    "Here the first time counts as that of one worker. Nobody says that it is: look at workers. A line through t "
    "against 1/s needs no such time."
)


def fit_parallel_fraction(workers, times):
    return float(np.polyfit([1 / s for s in workers], [t / times[0] for t in times], 1)[0])
