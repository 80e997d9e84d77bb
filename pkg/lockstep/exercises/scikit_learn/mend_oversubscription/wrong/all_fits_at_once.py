"""The learner thought: as many workers as fits, and the cores divided among them."""

from joblib import Parallel, delayed

MISCONCEPTION = "no-number-of-threads"


def mend_oversubscription(fits, cores):
    return Parallel(n_jobs=len(fits), prefer="threads")(delayed(fit)(cores // len(fits)) for fit in fits)
