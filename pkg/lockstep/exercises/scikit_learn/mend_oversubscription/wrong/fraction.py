"""The learner thought: / divides."""

from joblib import Parallel, delayed

MISCONCEPTION = "fraction-of-a-thread"


def mend_oversubscription(fits, cores):
    outer = min(cores, len(fits))
    return Parallel(n_jobs=outer, prefer="threads")(delayed(fit)(cores / outer) for fit in fits)
