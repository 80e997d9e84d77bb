"""The learner returned the number of threads beside each result."""

from joblib import Parallel, delayed

MISCONCEPTION = "wrong-results"


def mend_oversubscription(fits, cores):
    outer = min(cores, len(fits))
    inner, rest = divmod(cores, outer)
    threads = [inner + (i < rest) for i in range(len(fits))] if len(fits) <= cores else [1] * len(fits)
    tasks = (delayed(fit)(n) for fit, n in zip(fits, threads, strict=True))
    return list(zip(Parallel(n_jobs=outer, prefer="threads")(tasks), threads, strict=True))
