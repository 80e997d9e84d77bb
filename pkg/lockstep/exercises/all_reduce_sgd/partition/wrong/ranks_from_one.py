"""The learner thought: rank 1 is the first, so its part begins at 0."""

import random

MISCONCEPTION = "counts-from-one"
TELL = "Rank 0 gets what is before the first part: ranks are counted from 0, so the part of rank r begins at r, not at r - 1."
VARIANTS = ["blocks_from_one"]


def partition(dataset, rank, ranks, epoch):
    order = random.Random(epoch).sample(dataset, len(dataset))
    return order[rank - 1 :: ranks]
