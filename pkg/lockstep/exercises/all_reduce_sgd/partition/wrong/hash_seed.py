"""The learner thought: hash makes a number out of anything."""

import random

MISCONCEPTION = "salted-hash"


def partition(dataset, rank, ranks, epoch):
    order = list(dataset)
    random.Random(hash(f"epoch {epoch}")).shuffle(order)
    return order[rank::ranks]
