"""The learner thought: the lock may go from the write, where races are harmless, but not from the gradient."""

import threading

MISCONCEPTION = "lock-stays"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    lock = threading.Lock()

    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            with lock:
                g = gradient(i, w[c])
            w[c] -= rate * g

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
