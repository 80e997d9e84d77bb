"""The learner thought: / divides."""

from joblib import Parallel, delayed

MISCONCEPTION = "no-number-of-threads"


def mend_oversubscription(fits, cores):
    outer = min(cores, len(fits))
    return Parallel(n_jobs=outer, prefer="threads")(delayed(fit)(cores / outer) for fit in fits)
