"""The learner thought: shuffle needs no copy."""

import random

MISCONCEPTION = "changes-arguments"


def partition(dataset, rank, ranks, epoch):
    random.Random(epoch).shuffle(dataset)
    return dataset[rank::ranks]
