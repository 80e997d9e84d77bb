"""The learner thought: shuffle, then take every K-th: the ranks all run the same program."""

import random

MISCONCEPTION = "unseeded"


def partition(dataset, rank, ranks, epoch):
    order = list(dataset)
    random.shuffle(order)
    return order[rank::ranks]
