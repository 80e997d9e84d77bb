"""The learner thought: no sample should be lost."""

import random

MISCONCEPTION = "wrong-size"


def bucket_by_length(lengths, size, ranks, window, seed, epoch):
    dice, step = random.Random(f"{seed} {epoch}"), ranks * size
    order = list(range(len(lengths)))
    dice.shuffle(order)
    steps = []
    for first in range(0, len(order), window * step):
        near = sorted(order[first : first + window * step], key=lambda n: lengths[n])
        own = [near[i : i + step] for i in range(0, len(near), step)]
        dice.shuffle(own)
        steps += [[one[i : i + size] for i in range(0, step, size)] for one in own]
    return steps
