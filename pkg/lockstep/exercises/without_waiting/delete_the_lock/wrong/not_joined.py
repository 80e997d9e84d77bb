"""The learner thought: a thread that has been started takes care of itself."""

import threading

MISCONCEPTION = "not-joined"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            g = gradient(i, w[c])
            w[c] -= rate * g

    for t in range(threads):
        threading.Thread(target=train, args=(t,)).start()
