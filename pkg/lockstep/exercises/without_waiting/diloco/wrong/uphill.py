"""The learner thought: the outer gradient is how far we have come."""

import torch
import torch.distributed as dist

MISCONCEPTION = "uphill"
TELL = "Your outer gradient is own - w, the way that the ranks have gone. SGD subtracts a gradient: it is w - own."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = own - w
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
