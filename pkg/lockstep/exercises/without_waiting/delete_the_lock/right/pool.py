"""A pool of threads, and a loop over the coordinates."""

from concurrent.futures import ThreadPoolExecutor


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            values = w[coordinates[i]]
            for v, g in zip(coordinates[i], gradient(i, values), strict=True):
                w[v] -= rate * g

    with ThreadPoolExecutor(max_workers=threads) as pool:
        list(pool.map(train, range(threads)))
