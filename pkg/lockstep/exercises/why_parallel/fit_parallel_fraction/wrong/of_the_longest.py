"""The learner thought: the longest run was that of one worker."""

import numpy as np

MISCONCEPTION = "share-of-the-longest"
TELL = (
    "These are the parallel seconds b, divided by the longest time. That is a measurement, and need not be of one worker: "
    "on the line one worker takes a + b seconds."
)


def fit_parallel_fraction(workers, times):
    parallel, _ = np.polyfit([1 / s for s in workers], times, 1)
    return float(parallel / max(times))
