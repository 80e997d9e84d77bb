"""A pool of the standard library."""

from concurrent.futures import ThreadPoolExecutor


def mend_oversubscription(fits, cores):
    outer = min(cores, len(fits))
    with ThreadPoolExecutor(outer) as pool:
        return list(pool.map(lambda fit: fit(cores // outer), fits))
