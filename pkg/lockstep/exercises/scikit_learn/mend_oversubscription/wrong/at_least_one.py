"""The learner thought: at least one thread for each of the fits, all at once."""

from joblib import Parallel, delayed

MISCONCEPTION = "oversubscribed"


def mend_oversubscription(fits, cores):
    inner = max(1, cores // len(fits))
    return Parallel(n_jobs=len(fits), prefer="threads")(delayed(fit)(inner) for fit in fits)
