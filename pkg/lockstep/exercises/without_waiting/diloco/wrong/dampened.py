"""The learner thought: v is a running mean of the outer gradients."""

import torch
import torch.distributed as dist

MISCONCEPTION = "dampened"
TELL = "Your v is μ·v + (1 - μ)·Δ, a running mean. Here it is μ·v + Δ."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + (1 - momentum) * delta
        w = w - outer_rate * (delta + momentum * v)
    return w
