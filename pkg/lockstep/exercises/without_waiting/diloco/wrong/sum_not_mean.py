"""The learner thought: an all-reduce gives the outer gradient."""

import torch
import torch.distributed as dist

MISCONCEPTION = "sum-not-mean"
TELL = "Your outer gradient is the sum over the ranks. It is their mean: divide by the number of ranks."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    v = torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
