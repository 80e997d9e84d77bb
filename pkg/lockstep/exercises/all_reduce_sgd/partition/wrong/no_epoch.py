"""The learner thought: a seed makes all ranks shuffle alike: any number will do."""

import random

MISCONCEPTION = "forgets-epoch"


def partition(dataset, rank, ranks, epoch):
    order = list(range(len(dataset)))
    random.Random(42).shuffle(order)
    return [dataset[i] for i in order[rank::ranks]]
