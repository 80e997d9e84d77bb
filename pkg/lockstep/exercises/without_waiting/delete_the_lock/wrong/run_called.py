"""The learner thought: target=train(t) gives the thread its number."""

import threading

MISCONCEPTION = "one-thread"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            g = gradient(i, w[c])
            w[c] -= rate * g

    workers = [threading.Thread(target=train(t)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
