"""The learner thought: the lambda keeps the t of its turn. All of them look at the last one."""

import threading

MISCONCEPTION = "dealt-otherwise"
ALSO = ["skips-examples"]


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            g = gradient(i, w[c])
            w[c] -= rate * g

    workers = []
    for t in range(threads):
        workers.append(threading.Thread(target=lambda: train(t)))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
