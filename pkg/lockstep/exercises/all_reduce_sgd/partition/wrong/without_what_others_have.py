"""The learner thought: each rank draws from what the ones before it have left, by comparing examples."""

import random

MISCONCEPTION = "loses-equal-ones"
TELL = 'Some examples are equal: whoever takes those that are "not in" a list loses one of them. Share out positions, and look the examples up at the end.'


def partition(dataset, rank, ranks, epoch):
    generator, rest = random.Random(epoch), list(dataset)
    for r in range(rank + 1):
        size = len(dataset) // ranks + (r < len(dataset) % ranks)
        share = generator.sample(rest, min(size, len(rest)))
        rest = [example for example in rest if example not in share]
    return share
