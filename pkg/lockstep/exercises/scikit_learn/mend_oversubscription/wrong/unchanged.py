"""The learner thought: every fit may use the machine."""

from joblib import Parallel, delayed

MISCONCEPTION = "oversubscribed"


def mend_oversubscription(fits, cores):
    return Parallel(n_jobs=cores, prefer="threads")(delayed(fit)(cores) for fit in fits)
