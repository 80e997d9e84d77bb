"""The learner thought: a gradient is a mean, over the steps too."""

import torch
import torch.distributed as dist

MISCONCEPTION = "mean-over-the-steps"
TELL = "You divide by the number of steps in a round. The outer gradient is the whole way: w - own, averaged over the ranks alone."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = (w - own) / (min(begin + period, steps) - begin)
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
