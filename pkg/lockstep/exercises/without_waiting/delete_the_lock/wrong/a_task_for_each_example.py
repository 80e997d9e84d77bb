"""The learner thought: a pool deals the examples out by itself."""

from concurrent.futures import ThreadPoolExecutor

MISCONCEPTION = "dealt-otherwise"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def step(i):
        c = coordinates[i]
        g = gradient(i, w[c])
        w[c] -= rate * g

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(step, range(len(coordinates))))
