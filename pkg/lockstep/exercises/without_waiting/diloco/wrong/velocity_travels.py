"""The learner thought: all ranks need the same v."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-collectives"
TELL = "You all-reduce v as well. All ranks make it of the same Δ, so it is the same already."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        dist.all_reduce(v, group=group)
        v = v / K
        w = w - outer_rate * (delta + momentum * v)
    return w
