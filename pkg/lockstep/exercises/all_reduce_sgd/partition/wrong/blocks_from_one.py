"""The learner thought: rank r's part ends at r times the size."""

import random

MISCONCEPTION = "counts-from-one"
TELL = "Rank 0 gets what is before the first part: ranks are counted from 0, so the part of rank r begins at r times the size, not at r - 1 times."
VARIANTS = ["ranks_from_one"]


def partition(dataset, rank, ranks, epoch):
    order = random.Random(epoch).sample(dataset, len(dataset))
    n = len(order)
    return order[max(0, (rank - 1) * n // ranks) : rank * n // ranks]
