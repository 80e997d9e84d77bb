"""The learner thought: an array holds the items as they are."""

import numpy as np

MISCONCEPTION = "no-example"


def partition(dataset, rank, ranks, epoch):
    order = np.random.default_rng(epoch).permutation(len(dataset))
    return np.asarray(dataset)[order[rank::ranks]].tolist()
