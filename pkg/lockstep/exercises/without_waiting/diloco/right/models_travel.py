"""The models travel, and the outer gradient is taken of their mean."""

import torch
import torch.distributed as dist


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        mean = own.clone()
        dist.all_reduce(mean, group=group)
        delta = w - mean / K
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
