"""The learner thought: one fit after the other, each with all the cores."""

MISCONCEPTION = "one-at-a-time"


def mend_oversubscription(fits, cores):
    return [fit(cores) for fit in fits]
