"""The learner thought: processes are safer than threads."""

from joblib import Parallel, delayed

MISCONCEPTION = "needs-threads"


def mend_oversubscription(fits, cores):
    outer = min(cores, len(fits))
    return Parallel(n_jobs=outer)(delayed(fit)(cores // outer) for fit in fits)
