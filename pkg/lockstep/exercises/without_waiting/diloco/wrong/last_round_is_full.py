"""The learner thought: each round is period steps."""

import torch
import torch.distributed as dist

MISCONCEPTION = "last-round-too-long"
ALSO = ["step-numbers"]
TELL = "Your last round takes steps that nobody asked for: where period does not divide steps, it is shorter."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, begin + period):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
