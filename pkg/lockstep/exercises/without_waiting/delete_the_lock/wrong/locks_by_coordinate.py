"""The learner thought: a lock for each coordinate lets threads write in different places, and loses no update."""

import threading

MISCONCEPTION = "lock-at-the-write"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    locks = [threading.Lock() for _ in range(64)]

    def train(t):
        for i in range(t, len(coordinates), threads):
            g = gradient(i, w[coordinates[i]])
            for n, at in enumerate(coordinates[i]):
                with locks[at % 64]:
                    w[at] -= rate * g[n]

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
