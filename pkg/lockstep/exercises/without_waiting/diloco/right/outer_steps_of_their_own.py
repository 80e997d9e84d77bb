"""Each rank takes its own outer step, with a v of its own, and the results are averaged: a step is linear in Δ."""

import torch
import torch.distributed as dist


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        v = momentum * v + (w - own)
        w = w - outer_rate * (w - own + momentum * v)
        dist.all_reduce(w, group=group)
        w = w / K
    return w
