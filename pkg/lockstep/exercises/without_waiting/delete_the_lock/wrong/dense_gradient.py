"""The learner thought: the full gradient stays; only the write has to be sparse."""

import threading

import numpy as np

MISCONCEPTION = "as-long-as-w"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            full = np.zeros(len(w))
            full[c] = gradient(i, w[c])
            w[c] -= rate * full[c]

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
