"""The learner thought: all ranks train on the dataset, each in an order of its own."""

import random

MISCONCEPTION = "everything-everywhere"
TELL = "Every rank has all examples, and so the ranks do the same work: each is to have a part, which nobody else has."


def partition(dataset, rank, ranks, epoch):
    return random.Random(epoch + rank).sample(dataset, len(dataset))
