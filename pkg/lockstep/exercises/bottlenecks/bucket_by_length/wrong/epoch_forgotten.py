"""The learner thought: the seed makes it random."""

import random

MISCONCEPTION = "same-each-epoch"


def bucket_by_length(lengths, size, ranks, window, seed, epoch):
    dice, step = random.Random(seed), ranks * size
    order = list(range(len(lengths)))
    dice.shuffle(order)
    del order[len(order) // step * step :]
    steps = []
    for first in range(0, len(order), window * step):
        near = sorted(order[first : first + window * step], key=lambda n: lengths[n])
        own = [near[i : i + step] for i in range(0, len(near), step)]
        dice.shuffle(own)
        steps += [[one[i : i + size] for i in range(0, step, size)] for one in own]
    return steps
