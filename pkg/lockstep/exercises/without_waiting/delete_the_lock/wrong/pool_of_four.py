"""The learner thought: more threads than cores are of no use."""

from concurrent.futures import ThreadPoolExecutor

MISCONCEPTION = "too-few-threads"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            g = gradient(i, w[c])
            w[c] -= rate * g

    with ThreadPoolExecutor(max_workers=min(4, threads)) as pool:
        list(pool.map(train, range(threads)))
