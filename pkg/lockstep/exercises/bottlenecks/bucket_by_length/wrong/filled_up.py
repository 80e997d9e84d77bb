"""The learner thought: as DistributedSampler does, fill the last step with samples from the beginning."""

import random

MISCONCEPTION = "seen-twice"


def bucket_by_length(lengths, size, ranks, window, seed, epoch):
    dice, step = random.Random(f"{seed} {epoch}"), ranks * size
    order = list(range(len(lengths)))
    dice.shuffle(order)
    order += order[: -len(order) % step]
    steps = []
    for first in range(0, len(order), window * step):
        near = sorted(order[first : first + window * step], key=lambda n: lengths[n])
        own = [near[i : i + step] for i in range(0, len(near), step)]
        dice.shuffle(own)
        steps += [[one[i : i + size] for i in range(0, step, size)] for one in own]
    return steps
