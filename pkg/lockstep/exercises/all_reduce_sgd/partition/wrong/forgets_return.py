"""The learner thought: the share is complete."""

import random

MISCONCEPTION = "wrong-type"


def partition(dataset, rank, ranks, epoch):
    share = random.Random(epoch).sample(dataset, len(dataset))[rank::ranks]
