"""The learner thought: cores / fits, rounded up, so that no core is idle."""

import math

from joblib import Parallel, delayed

MISCONCEPTION = "oversubscribed"


def mend_oversubscription(fits, cores):
    outer = min(cores, len(fits))
    return Parallel(n_jobs=outer, prefer="threads")(delayed(fit)(math.ceil(cores / outer)) for fit in fits)
