"""The learner thought: start it and join it, in one loop."""

import threading

MISCONCEPTION = "one-after-the-other"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            g = gradient(i, w[c])
            w[c] -= rate * g

    for t in range(threads):
        worker = threading.Thread(target=train, args=(t,))
        worker.start()
        worker.join()
