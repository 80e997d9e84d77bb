"""The learner thought: joblib knows what -1 means inside of a worker."""

from joblib import Parallel, delayed

MISCONCEPTION = "oversubscribed"


def mend_oversubscription(fits, cores):
    return Parallel(n_jobs=cores, prefer="threads")(delayed(fit)(-1) for fit in fits)
