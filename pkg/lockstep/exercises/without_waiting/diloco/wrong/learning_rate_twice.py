"""The learner thought: an optimizer step has the learning rate."""

import torch
import torch.distributed as dist

MISCONCEPTION = "rate-twice"
TELL = "Your outer step has the inner rate as a factor. That is in Δ already: the outer step has η alone."


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
        w = w - rate * outer_rate * (delta + momentum * v)
    return w
