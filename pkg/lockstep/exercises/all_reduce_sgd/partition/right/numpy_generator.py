"""NumPy's generator, seeded by epoch and a number of one's own; array_split shares out."""

import numpy as np


def partition(dataset, rank, ranks, epoch):
    order = np.random.default_rng([20, epoch]).permutation(len(dataset))
    return [dataset[i] for i in np.array_split(order, ranks)[rank]]
