"""The learner thought: threads are counted from 1."""

import threading

MISCONCEPTION = "skips-examples"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            g = gradient(i, w[c])
            w[c] -= rate * g

    workers = [threading.Thread(target=train, args=(t,)) for t in range(1, threads + 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
