"""The learner thought: read all values once, before the threads begin; only writing has to be shared."""

import threading

MISCONCEPTION = "start"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    values = [w[c] for c in coordinates]

    def train(t):
        for i in range(t, len(coordinates), threads):
            g = gradient(i, values[i])
            w[coordinates[i]] -= rate * g

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
