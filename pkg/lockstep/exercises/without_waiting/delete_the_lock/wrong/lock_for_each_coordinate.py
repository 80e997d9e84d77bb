"""The learner thought: a lock for each coordinate, so that only those wait who would meet."""

import threading
from contextlib import ExitStack

MISCONCEPTION = "lock-stays"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    locks = {int(v): threading.Lock() for c in coordinates for v in c}

    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            with ExitStack() as held:
                for v in sorted(c):
                    held.enter_context(locks[int(v)])
                w[c] -= rate * gradient(i, w[c])

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
