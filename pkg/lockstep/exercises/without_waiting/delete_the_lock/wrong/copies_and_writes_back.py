"""The learner thought: work on a copy and put it back, so that nobody sees half an update."""

import threading

MISCONCEPTION = "dense-write"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            g = gradient(i, w[coordinates[i]])
            new = w.copy()
            new[coordinates[i]] -= rate * g
            w[:] = new

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
