"""The learner thought: in the next epoch I get my neighbour's share."""

import random

MISCONCEPTION = "same-shares"
ALSO = ["forgets-epoch"]


def partition(dataset, rank, ranks, epoch):
    order = list(dataset)
    random.Random(0).shuffle(order)
    return order[(rank + epoch) % ranks :: ranks]
