"""The learner thought: each thread gets a block of the examples."""

import threading

MISCONCEPTION = "dealt-otherwise"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        begin, end = len(coordinates) * t // threads, len(coordinates) * (t + 1) // threads
        for i in range(begin, end):
            c = coordinates[i]
            g = gradient(i, w[c])
            w[c] -= rate * g

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
