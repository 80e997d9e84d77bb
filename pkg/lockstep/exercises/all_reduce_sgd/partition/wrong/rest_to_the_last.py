"""The learner thought: the last rank takes whatever is left."""

import random

MISCONCEPTION = "uneven"


def partition(dataset, rank, ranks, epoch):
    order = list(dataset)
    random.Random(epoch).shuffle(order)
    size = len(order) // ranks
    begin = rank * size
    return order[begin:] if rank == ranks - 1 else order[begin : begin + size]
