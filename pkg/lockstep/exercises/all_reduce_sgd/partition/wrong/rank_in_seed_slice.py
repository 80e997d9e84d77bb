"""The learner thought: each rank should have another order, so the rank belongs into the seed; the slices are disjoint anyway."""

import random

MISCONCEPTION = "own-orders"


def partition(dataset, rank, ranks, epoch):
    shuffled = random.Random(1000 * epoch + rank).sample(dataset, len(dataset))
    return shuffled[rank::ranks]
