"""The learner thought: the gradient is needed twice, once to look whether there is anything to do."""

import threading

import numpy as np

MISCONCEPTION = "example-twice"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            if np.any(gradient(i, w[c])):
                g = gradient(i, w[c])
                w[c] -= rate * g

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
