"""The learner thought: random.seed makes shuffle repeatable."""

import random

MISCONCEPTION = "touches-generator"


def partition(dataset, rank, ranks, epoch):
    random.seed(epoch)
    return random.sample(dataset, len(dataset))[rank::ranks]
