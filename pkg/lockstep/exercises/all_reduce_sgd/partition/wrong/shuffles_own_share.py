"""The learner thought: first each rank's share, then shuffle it: the ranks need not agree on anything."""

import random

MISCONCEPTION = "same-shares"


def partition(dataset, rank, ranks, epoch):
    share = dataset[rank::ranks]
    random.Random(epoch * 1000 + rank).shuffle(share)
    return share
