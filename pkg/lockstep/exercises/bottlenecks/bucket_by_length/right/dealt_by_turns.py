"""The samples of a step are dealt to the ranks by turns, and sorted by tuples."""

import numpy as np


def bucket_by_length(lengths, size, ranks, window, seed, epoch):
    dice, step = np.random.default_rng([seed, epoch]), size * ranks
    order = dice.permutation(len(lengths))
    steps = []
    for window_number in range(-(-(len(order) // step) // window)):
        first = window_number * window * step
        last = min(first + window * step, len(order) // step * step)
        near = [n for _, n in sorted((lengths[n], n) for n in order[first:last])]
        for k in dice.permutation(len(near) // step):
            own = near[k * step : (k + 1) * step]
            steps.append([own[rank::ranks] for rank in range(ranks)])
    return steps
