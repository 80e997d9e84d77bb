"""The learner thought: delete the lock, and nothing but the lock."""

import threading

import numpy as np

MISCONCEPTION = "dense-write"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            full = np.zeros(len(w))
            full[coordinates[i]] = gradient(i, w[coordinates[i]])
            w[:] -= rate * full

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
