"""The learner thought: one rank alone is plain SGD."""

import torch
import torch.distributed as dist

MISCONCEPTION = "fails-alone"
TELL = "With one rank you take no outer step. It is not plain SGD either: η and μ are still there."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    if K == 1:
        for step in range(steps):
            w = w - rate * gradient(w, step)
        return w
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
