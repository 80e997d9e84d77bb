"""The learner thought: the next values may be read while the gradient is fresh."""

import threading

MISCONCEPTION = "old-values"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        mine = range(t, len(coordinates), threads)
        values = [w[coordinates[i]] for i in mine[:1]]
        for n, i in enumerate(mine):
            step = rate * gradient(i, values[-1])
            values += [w[coordinates[j]] for j in mine[n + 1 : n + 2]]
            w[coordinates[i]] -= step

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
