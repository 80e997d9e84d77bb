"""The learner thought: the share is n / ranks, rounded up, so that nothing is left over."""

import math
import random

MISCONCEPTION = "uneven"


def partition(dataset, rank, ranks, epoch):
    order = list(dataset)
    random.Random(epoch).shuffle(order)
    size = math.ceil(len(order) / ranks)
    return order[rank * size : (rank + 1) * size]
