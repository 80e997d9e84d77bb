"""The learner thought: the gradient takes w."""

import threading

MISCONCEPTION = "misused"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            g = gradient(i, w)
            w[coordinates[i]] -= rate * g

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
