"""The learner thought: values is what w holds."""

import threading

MISCONCEPTION = "overwrites"


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            values = w[coordinates[i]]
            w[coordinates[i]] = values - rate * gradient(i, values)

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
