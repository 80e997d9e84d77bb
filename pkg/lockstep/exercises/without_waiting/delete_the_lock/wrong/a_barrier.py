"""The learner thought: without a lock they need a barrier after each step, so that all work on the same w."""

import threading

MISCONCEPTION = "waits-for-others"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    barrier = threading.Barrier(threads)

    def train(t):
        for begin in range(0, len(coordinates), threads):
            i = begin + t
            if i < len(coordinates):
                c = coordinates[i]
                g = gradient(i, w[c])
                w[c] -= rate * g
            barrier.wait()

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
