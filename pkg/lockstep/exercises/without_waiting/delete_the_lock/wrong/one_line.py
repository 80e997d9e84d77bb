"""The learner thought: one line is as good as two. Python reads the w[c] on the left before it calls gradient."""

import threading

MISCONCEPTION = "overwrites"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            w[c] -= rate * gradient(i, w[c])

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
