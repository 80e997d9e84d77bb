"""The learner thought: without a lock, each thread needs a w of its own; the updates are added up at the end."""

import threading

MISCONCEPTION = "private-w"
ALSO = ["dense-write"]


def delete_the_lock(gradient, coordinates, w, rate, threads):
    start = w.copy()
    copies = [w.copy() for _ in range(threads)]

    def train(t):
        own = copies[t]
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            own[c] -= rate * gradient(i, own[c])

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for own in copies:
        w += own - start
