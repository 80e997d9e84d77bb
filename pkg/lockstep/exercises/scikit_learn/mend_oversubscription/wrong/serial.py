"""The learner thought: one thread at a time cannot be too many."""

MISCONCEPTION = "idle-cores"


def mend_oversubscription(fits, cores):
    return [fit(1) for fit in fits]
