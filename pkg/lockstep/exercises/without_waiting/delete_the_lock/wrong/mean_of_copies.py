"""The learner thought: each thread trains a model, and the models are averaged, as in local SGD."""

from concurrent.futures import ThreadPoolExecutor

MISCONCEPTION = "private-w"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        own = w.copy()
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            own[c] -= rate * gradient(i, own[c])
        return own

    with ThreadPoolExecutor(threads) as pool:
        models = list(pool.map(train, range(threads)))
    w[:] = sum(models) / threads
