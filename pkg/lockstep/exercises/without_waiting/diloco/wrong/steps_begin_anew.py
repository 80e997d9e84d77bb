"""The learner thought: a round's steps are 0 to period - 1."""

import torch
import torch.distributed as dist

MISCONCEPTION = "step-numbers"


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(min(period, steps - begin)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
