"""The learner thought: an all-reduce gives the common model."""

import torch.distributed as dist

MISCONCEPTION = "sum-not-mean"
TELL = "The common model is the sum of all models in your program. It is their mean: divide by the number of ranks."


def local_sgd(gradient, w, steps, rate, period, group=None):

    for step in range(steps):
        w = w - rate * gradient(w, step)
        if (step + 1) % period == 0 or step + 1 == steps:
            dist.all_reduce(w, group=group)
    return w
