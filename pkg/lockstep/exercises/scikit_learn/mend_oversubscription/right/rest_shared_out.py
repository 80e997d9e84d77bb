"""The cores that are left over go to the first fits."""

from joblib import Parallel, delayed


def mend_oversubscription(fits, cores):
    outer = min(cores, len(fits))
    inner, rest = divmod(cores, outer)
    threads = [inner + (i < rest) for i in range(len(fits))] if len(fits) <= cores else [1] * len(fits)
    tasks = (delayed(fit)(n) for fit, n in zip(fits, threads, strict=True))
    return Parallel(n_jobs=outer, prefer="threads")(tasks)
