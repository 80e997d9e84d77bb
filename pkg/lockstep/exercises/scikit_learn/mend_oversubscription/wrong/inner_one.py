"""The learner thought: outer parallelism alone is enough."""

from joblib import Parallel, delayed

MISCONCEPTION = "idle-cores"


def mend_oversubscription(fits, cores):
    return Parallel(n_jobs=cores, prefer="threads")(delayed(fit)(1) for fit in fits)
