"""The learner thought: what many workers save was parallel."""

MISCONCEPTION = "time-saved"


def fit_parallel_fraction(workers, times):
    return 1 - min(times) / max(times)
