"""The learner thought: Python's threads wait for the GIL, so processes are faster."""

import multiprocessing

MISCONCEPTION = "needs-threads"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            g = gradient(i, w[c])
            w[c] -= rate * g

    workers = [multiprocessing.get_context("fork").Process(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
