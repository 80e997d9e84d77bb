"""The learner thought: own -= ... saves memory."""

import torch
import torch.distributed as dist

MISCONCEPTION = "changes-arguments"
TELL = "own is the same tensor as w until it becomes a new one: own -= ... changes both, and then w - own is 0."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own -= rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
