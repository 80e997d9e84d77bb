"""The learner thought: what counts is a batch, so shuffle batches, and deal them to the ranks."""

import random

MISCONCEPTION = "ranks-wait"
ALSO = ["more-padding"]


def bucket_by_length(lengths, size, ranks, window, seed, epoch):
    dice, step = random.Random(f"{seed} {epoch}"), ranks * size
    order = list(range(len(lengths)))
    dice.shuffle(order)
    del order[len(order) // step * step :]
    steps = []
    for first in range(0, len(order), window * step):
        near = sorted(order[first : first + window * step], key=lambda n: lengths[n])
        own = [near[i : i + size] for i in range(0, len(near), size)]
        dice.shuffle(own)
        steps += [own[i : i + ranks] for i in range(0, len(own), ranks)]
    return steps
