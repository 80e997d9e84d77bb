"""The learner thought: the results may come as the fits end."""

from joblib import Parallel, delayed

MISCONCEPTION = "wrong-results"


def mend_oversubscription(fits, cores):
    outer = min(cores, len(fits))
    inner = cores // outer
    tasks = (delayed(fit)(inner) for fit in fits)
    return sorted(Parallel(n_jobs=outer, prefer="threads")(tasks))
