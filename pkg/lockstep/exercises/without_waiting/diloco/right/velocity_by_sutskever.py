"""The other way to write Nesterov momentum: v is a step, with the rate in it."""

import torch
import torch.distributed as dist


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v - outer_rate * delta
        w = w + momentum * v - outer_rate * delta
    return w
