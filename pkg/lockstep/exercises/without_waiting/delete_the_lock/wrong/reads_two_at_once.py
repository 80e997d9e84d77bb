"""The learner thought: one read of w is good for two steps."""

import threading

MISCONCEPTION = "old-values"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        mine = range(t, len(coordinates), threads)
        for n in range(0, len(mine), 2):
            for i, values in [(i, w[coordinates[i]]) for i in mine[n : n + 2]]:
                w[coordinates[i]] -= rate * gradient(i, values)

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
