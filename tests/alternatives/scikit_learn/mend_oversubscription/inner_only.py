"""One fit after the other, each with all the cores."""


def mend_oversubscription(fits, cores):
    return [fit(cores) for fit in fits]
