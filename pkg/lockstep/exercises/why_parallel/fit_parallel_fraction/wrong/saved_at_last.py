"""The learner thought: what the last run saves was parallel."""

MISCONCEPTION = "time-saved"
TELL = (
    "This is a share of the time that was saved in these runs. p is what could be saved at best, with endlessly "
    "many workers."
)


def fit_parallel_fraction(workers, times):
    return 1 - times[-1] / times[0]
