"""NumPy's own in-place subtraction; the caller's thread is one of the threads."""

import threading

import numpy as np


def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i, c in list(enumerate(coordinates))[t::threads]:
            step = rate * gradient(i, w.take(c))
            np.subtract.at(w, c, step)

    others = [threading.Thread(target=train, args=(t,)) for t in range(1, threads)]
    for other in others:
        other.start()
    train(0)
    for other in others:
        other.join()
