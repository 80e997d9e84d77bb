"""The learner thought: each round is an optimizer step of its own."""

import torch
import torch.distributed as dist

MISCONCEPTION = "momentum-begins-anew"
TELL = "Your v is zero at the beginning of each round. It is kept from round to round."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K = dist.get_world_size(group)
    for begin in range(0, steps, period):
        own, v = w, torch.zeros_like(w)
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
