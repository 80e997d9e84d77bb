"""The learner thought: what many workers save was parallel."""

MISCONCEPTION = "time-saved"
TELL = (
    "This is a share of the time that was saved in these runs. p is what could be saved at best, with endlessly "
    "many workers."
)


def fit_parallel_fraction(workers, times):
    return 1 - min(times) / max(times)
