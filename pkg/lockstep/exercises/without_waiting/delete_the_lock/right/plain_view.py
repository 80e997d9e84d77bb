"""A view of the same memory, as a plain array; a class of its own for the threads."""

import threading

import numpy as np


class Trainer(threading.Thread):
    def __init__(self, number, gradient, coordinates, w, rate, threads):
        super().__init__()
        self.examples = range(number, len(coordinates), threads)
        self.gradient, self.coordinates, self.w, self.rate = gradient, coordinates, np.asarray(w), rate

    def run(self):
        for i in self.examples:
            c = self.coordinates[i]
            g = self.gradient(i, self.w[c].copy())
            self.w[c] = self.w[c] - self.rate * g


def delete_the_lock(gradient, coordinates, w, rate, threads):
    trainers = [Trainer(t, gradient, coordinates, w, rate, threads) for t in range(threads)]
    for trainer in trainers:
        trainer.start()
    for trainer in trainers:
        trainer.join()
