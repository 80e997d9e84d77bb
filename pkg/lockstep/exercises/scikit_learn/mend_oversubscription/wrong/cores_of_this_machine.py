"""The learner thought: no machine runs more threads than it has cores."""

import os

from joblib import Parallel, delayed

MISCONCEPTION = "idle-cores"


def mend_oversubscription(fits, cores):
    cores = min(cores, os.cpu_count())
    outer = min(len(fits), cores)
    return Parallel(n_jobs=outer, prefer="threads")(delayed(fit)(cores // outer) for fit in fits)
