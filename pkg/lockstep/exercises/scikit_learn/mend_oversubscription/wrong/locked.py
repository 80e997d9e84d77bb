"""The learner thought: a lock keeps the fits from disturbing each other."""

import threading

from joblib import Parallel, delayed

MISCONCEPTION = "one-at-a-time"


def mend_oversubscription(fits, cores):
    lock = threading.Lock()

    def alone(fit):
        with lock:
            return fit(cores)

    return Parallel(n_jobs=cores, prefer="threads")(delayed(alone)(fit) for fit in fits)
