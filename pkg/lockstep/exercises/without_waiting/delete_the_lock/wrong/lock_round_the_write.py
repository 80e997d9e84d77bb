"""The learner thought: gradients may go side by side, but an update must not be lost."""

import threading

MISCONCEPTION = "lock-at-the-write"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    lock = threading.Lock()

    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            g = gradient(i, w[c])
            with lock:
                w[c] -= rate * g

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
